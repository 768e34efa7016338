"""Expected answers of `thalweg replay`, computed here a second time from the equations of the paper.

Run in this directory: it writes log.jsonl (the input) and one file an experiment. Nothing of Thalweg is used.
"""

import itertools
import json
import math
import random


def geneva(log, state="integer", k=25.0, syn=0.01, a=2.0, b=0.04, p_max=0.03, alpha=0.9, low=8.0, high=60.0, i_low=10.0):
    f, ertt = low, None
    w0 = math.ceil(a / (p_max - 1.5 * b * b))
    for line in log:
        if line["srtt"] is not None:
            ertt = line["srtt"] if ertt is None else alpha * ertt + (1 - alpha) * line["srtt"]
        before = None
        if ertt is not None:
            g = syn / (ertt + syn)
            before = (f + k) / g                                                  # Eq. 1
            if line["lost"] + line["delivered"] > 0:
                w = before
                for _ in range(line["lost"]):                                     # Eqs. 4 and 8
                    w += i_low if w < w0 else b * w / (p_max * w - a)
                for _ in range(line["delivered"]):                                # Eq. 5
                    w -= b
                x = w * g - k                                                     # Eq. 3
                f = min(max(math.floor(x + 1e-9) if state == "integer" else x, low), high)
        repair = math.floor(f + 1e-9)
        after = None if ertt is None else (f + k) / (syn / (ertt + syn))
        yield dict(ertt=ertt, w_before=before, w=after, f=f, repair=repair, ipg=syn / (repair + k))


def dp_fec(log):
    f, ertt, start, last, ref, impact = 1.0, None, None, [], None, None
    for n, line in enumerate(log, 1):
        if line["srtt"] is not None:
            ertt = line["srtt"] if ertt is None else 0.9 * ertt + 0.1 * line["srtt"]
        if n % 10 == 0:
            f = min(f + 1, 60.0)
        if line["lost"] and (start is None or line["t"] - start >= (ertt or 0)):
            if start is not None:
                interval = line["t"] - start
                last = (last + [interval])[-4:]
                if ref is None:
                    ref = interval
                if len(last) == 4:
                    impact = 1 - sum(last) / 4 / ref
                    if impact > 0.5:
                        f, last = max(1.0, f / 2), []
                ref += (interval - ref) / 16
            start = line["t"]
        yield dict(f=f, repair=math.floor(f + 1e-9), impact=impact)


def the_log():
    """Two lines before the first sample, calm, a storm, calm again, then losses that come ever closer."""
    rng, loss = random.Random(8), 0.0
    for n in range(300):
        if n in (60, 80, 150):
            loss = {60: 0.08, 80: 0.0, 150: 0.004}[n]
        if n > 220:
            loss = 0.0005 * 1.04 ** (n - 220)
        packets = 0 if n % 97 == 50 else rng.randint(30, 40)
        lost = sum(rng.random() < loss for _ in range(packets))
        srtt = None if n < 2 or packets == 0 else round(0.02 + 0.03 * rng.random() ** 3, 6)
        yield dict(lost=lost, delivered=packets - lost, srtt=srtt, t=round(n * 0.01, 2))


def write(name, lines):
    with open(name, "w") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


log = list(the_log())
write("log.jsonl", log)
write("geneva.jsonl", geneva(log))
write("geneva-real-20.8.jsonl", geneva(log, state="real", k=20.833333333333332, alpha=0.5))
write("geneva-wide.jsonl", geneva(log, b=0.06, p_max=0.04, low=2.0, high=200.0))
write("dp-fec.jsonl", dp_fec(log))


def newreno(log, iw=2.0, ssthresh=math.inf):
    cwnd, recovering = iw, False
    for line in log:
        event, flight = line["event"], line.get("flight", cwnd)
        if event == "ack" and not recovering:
            cwnd += 1 if cwnd < ssthresh else 1 / cwnd                            # RFC 5681, Eqs. 2 and 3
        elif event == "dup3" and not recovering:
            ssthresh = max(flight / 2, 2)                                         # Eq. 4
            cwnd, recovering = ssthresh, True
        elif event == "recovered":
            recovering = False
        elif event == "timeout":
            if not line.get("again"):
                ssthresh = max(flight / 2, 2)
            cwnd, recovering = 1.0, False
        yield dict(cwnd=cwnd, ssthresh="inf" if math.isinf(ssthresh) else ssthresh)


def the_events():
    """Slow start, a loss, avoidance, a timeout twice, losses in recovery, and what a sender tells of its flight."""
    rng = random.Random(9)
    ack = lambda: dict(event="ack", rtt=rng.choice([None, 0.1]), round_end=rng.random() < 0.1)
    for n in range(400):
        yield ack()
        if n in (40, 120, 200, 260, 270, 340):
            yield dict(event="dup3")
            for _ in range(5):
                yield ack()
            if n == 120:
                yield dict(event="dup3")
            yield dict(event="timeout") if n == 260 else dict(event="recovered")
        if n == 170:
            yield dict(event="timeout")
            yield dict(event="timeout", again=True)
        if n == 300:
            yield dict(event="dup3", flight=3)
            yield dict(event="recovered")
        if n == 380:
            yield dict(event="timeout", flight=20, again=False)


events = list(the_events())
write("events.jsonl", events)
write("newreno.jsonl", newreno(events))
write("newreno-iw10-ssthresh16.5.jsonl", newreno(events, iw=10.0, ssthresh=16.5))



def tcp_stream(log, rate=3.6e6, mss=1500, iw=2.0, ssthresh=math.inf, vegas=False, halve=False):
    cap = lambda rtt: max(1, math.ceil(rate * rtt / (8 * mss) - 1e-9))
    lwnd, dwnd, delay_on, recovering, diff, tau, rtt, samples = iw, 0.0, False, False, None, None, None, []
    for line in log:
        event = line["event"]
        if event == "ack":
            if line["rtt"] is not None:
                rtt = line["rtt"]
                tau = rtt if tau is None else min(tau, rtt)
                samples.append(rtt)
            if not recovering:
                lwnd += 1 if lwnd < ssthresh else 1 / lwnd
                if rtt is not None:
                    lwnd = min(lwnd, cap(rtt))                                    # Eq. 1
                    delay_on = delay_on or lwnd >= cap(rtt)
                if line["round_end"]:
                    if delay_on and samples:
                        mean = sum(samples) / len(samples)
                        diff = (lwnd + dwnd) * (1 - tau / mean)                   # Eq. 2
                        base = 0 if vegas else cap(mean)                          # Eq. 4
                        dwnd = dwnd + 1 if diff < 2 + base else max(0, dwnd - 1) if diff > 4 + base else dwnd  # Eq. 3
                    samples = []
        elif event == "dup3" and not recovering:
            ssthresh = lwnd = max(2, lwnd / 2)
            dwnd, delay_on, recovering = dwnd / 2 if halve else 0.0, False, True
        elif event == "recovered":
            recovering = False
        elif event == "timeout":
            ssthresh = max(2, lwnd / 2)
            lwnd, dwnd, delay_on, recovering = 1.0, 0.0, False, False
        yield dict(lwnd=lwnd, dwnd=dwnd, swnd=lwnd + dwnd, ssthresh="inf" if math.isinf(ssthresh) else ssthresh,
                   delay_on=delay_on, diff=diff, cap=None if rtt is None else cap(rtt), tau=tau)


def the_video():
    """No round trip yet, slow start to the ceiling, a path that fills, losses, a timeout, round trips without a queue."""
    rng, queue = random.Random(10), 0.0
    for n in range(1500):
        queue = min(0.08, queue + 0.0002) if n < 600 else 0.1 * rng.random() ** 2 if n < 1000 else 0.0
        rtt = None if n < 2 or rng.random() < 0.05 else 0.1 + queue + 0.001 * rng.random()
        yield dict(event="ack", rtt=rtt, round_end=rng.random() < 0.1)
        if n in (300, 640, 660, 900):
            yield dict(event="dup3")
            for _ in range(4):
                yield dict(event="ack", rtt=0.12, round_end=rng.random() < 0.5)
            if n == 640:
                yield dict(event="dup3")
            yield dict(event="timeout") if n == 660 else dict(event="recovered")


video = list(the_video())
write("video.jsonl", video)
write("tcp-stream.jsonl", tcp_stream(video))
write("tcp-stream-vegas.jsonl", tcp_stream(video, rate=2.5e6, mss=1460, iw=10.0, ssthresh=16.5, vegas=True, halve=True))


def tfrc_equation(s, rtt, p, b=1.0):
    t_rto = 4 * rtt
    return s / (rtt * math.sqrt(2 * b * p / 3) + t_rto * (3 * math.sqrt(3 * b * p / 8) * p * (1 + 32 * p ** 2)))  # RFC 5348, 3.1


points = [dict(s=s, rtt=rtt, p=p) for s in (1, 1024, 1460) for rtt in (0.0005, 0.05, 2.5)
          for p in (1e-9, 1e-4, 0.01, 1 / 3, 1.0)]
write("points.jsonl", points)
write("tfrc-equation.jsonl", [dict(x=tfrc_equation(**point)) for point in points])


def gca_equation(s, rtt, p, alpha, beta):
    delta = 1 / beta
    return s / (rtt * (math.sqrt(2 * p * (delta - 1) / (alpha * (delta + 1)))
                       + 12 * p * math.sqrt(p * (delta - 1) * (delta + 1) / (2 * alpha * delta**2)) * (1 + 32 * p**2)))


def root(function, low, high):
    """Where a falling function is 0 between exp(low) and exp(high), by the Illinois method on the logarithm."""
    f_low, f_high = function(math.exp(low)), function(math.exp(high))
    for _ in range(300):
        middle = (low * f_high - high * f_low) / (f_high - f_low)
        f_middle = function(math.exp(middle))
        if f_middle == 0 or abs(high - low) < 1e-15:
            break
        if f_middle * f_high < 0:
            low, f_low = high, f_high
        else:
            f_low /= 2
        high, f_high = middle, f_middle
    return math.exp(middle)


greedy = [dict(s=1024, rtt=0.02, p=p, alpha=alpha, beta=beta) for p in (1e-8, 0.001, 0.02, 0.3, 1.0)
          for alpha, beta in ((1.0, 0.5), (0.5, 0.25), (1.5, 0.75), (0.01, 0.95), (16.0, 0.05), (2.25, 0.5))]
write("gca-points.jsonl", greedy)
write("gca-equation.jsonl", [dict(x=gca_equation(**point)) for point in greedy])
rates = [dict(x=x, s=1024, rtt=0.02, alpha=alpha, beta=beta) for x in (1000.0, 5e4, 2e6)
         for alpha, beta in ((1.0, 0.5), (0.5, 0.25), (1.5, 0.75))]
write("gca-rates.jsonl", rates)
write("gca-inverse.jsonl", [dict(p=root(
    lambda p: math.log(gca_equation(line["s"], line["rtt"], p, line["alpha"], line["beta"]) / line["x"]), -36, 0))
    for line in rates])


def gca_share(demand, norm="sum", rtt=None, p=None):
    m = [d / tfrc_equation(1, r, p_i) for d, r, p_i in zip(demand, rtt or [1.0] * len(demand), p or [1.0] * len(demand))]
    one = dict(sum=sum(m) / len(m), max=max(m), min=min(m))[norm]
    return dict(m=[m_i / one for m_i in m], alpha=[(m_i / one)**2 for m_i in m])


needs = [dict(demand=[9e6, 6e6, 3e6]), dict(demand=[5e5])]
needs += [dict(demand=[9e6, 6e6, 3e6], rtt=[0.025, 0.024, 0.03], p=[0.0065, 0.0086, 0.0121], norm=norm)
          for norm in ("sum", "max", "min")]
write("gca-needs.jsonl", needs)
write("gca-share.jsonl", [gca_share(**line) for line in needs])


def gca_link(capacity, flows):
    def x(p):
        return [min(gca_equation(flow["s"], flow["rtt"], p, flow["alpha"], flow["beta"]), flow["cap"] or math.inf)
                for flow in flows]
    if all(flow["cap"] for flow in flows) and sum(flow["cap"] for flow in flows) <= capacity:
        return dict(p=0.0, x=[flow["cap"] for flow in flows])
    p = root(lambda p: math.log(sum(x(p)) / capacity), -36, 0)
    return dict(p=p, x=x(p))


flow = dict(s=1024, rtt=0.04, alpha=1, beta=0.5, cap=None)
links = [dict(capacity=2e6, flows=[flow]), dict(capacity=2e6, flows=[dict(flow, cap=1.9e6)]),
         dict(capacity=2.25e6, flows=[dict(flow, alpha=2.25), flow, dict(flow, alpha=0.25), dict(flow, cap=1e5)]),
         dict(capacity=5e5, flows=[dict(flow, rtt=0.2, alpha=1.5, beta=0.75), dict(flow, s=500), dict(flow, cap=4e5)])]
write("gca-links.jsonl", links)
write("gca-link.jsonl", [gca_link(**line) for line in links])


def decodable(eps, b, d, received, in_flight):
    """p_l and Q by every fate of every packet in flight: hybrid FEC-ARQ, rank deficiency by prefix."""
    p, q = [0.0] * (d - b), 0.0
    flight = [packet for packet in in_flight if b <= packet[1] < d]
    for fate in itertools.product((False, True), repeat=len(flight)):
        share = math.prod(1 - eps if arrives else eps for arrives in fate)
        there = list(received) + [packet for packet, arrives in zip(flight, fate) if arrives]
        deficiency, closed = 0, b
        for l in range(b, d):
            uncoded = any(first == last == l for first, last in there)
            combined = sum(first < last == l for first, last in there)
            deficiency = max(0, deficiency + 1 - uncoded - combined)
            if deficiency == 0:
                closed = l + 1
        for l in range(b, closed):
            p[l - b] += share
        q += share * deficiency
    return p, q


def sender(eps, b, d, e, received, in_flight, overhead, offset=1.0, kappa=1.0, one_term=False):
    m = e - d + 1
    received = [packet for packet in received if packet[1] < d]  # nothing arrives that was never sent
    p, q = decodable(eps, b, d, received, in_flight)
    waiting = (lambda count, needed: count) if one_term else (
        lambda count, needed: kappa * (count + offset) * needed / (1 - eps))
    candidates = []
    options = ([("orig", d, (d, d))] if m else []) + [("fec", l, (b, l)) for l in range(b, d)]
    for kind, last, packet in options:
        end = d + 1 if kind == "orig" else d
        p_new, q_new = decodable(eps, b, end, received, in_flight + [packet])
        cost = sum(1 - x for x in p_new) + (waiting(m - 1, q_new) if kind == "orig" else waiting(m, q_new + 1))  # Eqs. (3), (6)
        useless = 0.0 if kind == "orig" else p[last - b]
        wasted = overhead["useless"] + overhead["sum_p_useless"] + useless
        u = wasted / (overhead["received"] + overhead["in_flight"] + 1 - wasted)  # Eq. (9)
        candidates.append(dict(kind=kind, last=last, p=p_new, q=q_new, cost=cost, p_useless=useless, overhead=u))
    best = None
    for candidate in candidates:
        if best is None or candidate["cost"] < best["cost"] - 1e-12:
            best = candidate
    choice = dict(kind=best["kind"], last=best["last"]) if best else None
    return dict(p=p, q=q, candidates=candidates, choice=choice)


def account(useless=0, received=0, in_flight=0, sum_p_useless=0.0):
    return dict(useless=useless, received=received, in_flight=in_flight, sum_p_useless=sum_p_useless)


senders = [
    dict(eps=0.1, b=1, d=5, e=6, received=[], in_flight=[[l, l] for l in range(1, 5)], overhead=account(in_flight=4)),
    dict(eps=0.1, b=1, d=11, e=11, received=[], in_flight=[[l, l] for l in range(1, 11)], overhead=account(in_flight=10)),
    dict(eps=0.1, b=1, d=5, e=6, received=[[5, 5]], in_flight=[[1, 1], [1, 4]], overhead=account(in_flight=4)),
    dict(eps=0.25, b=7, d=12, e=11, received=[[8, 8], [3, 10]], in_flight=[[7, 7], [9, 9], [9, 9], [5, 11], [7, 9], [2, 4]],
         overhead=account(useless=2, received=9, in_flight=6, sum_p_useless=1.25)),
    dict(eps=0.05, b=3, d=3, e=5, received=[], in_flight=[], overhead=account()),
    dict(eps=0.05, b=3, d=6, e=5, received=[[4, 4], [5, 5]], in_flight=[], overhead=account(received=4)),
    dict(eps=0.02, b=4, d=4, e=3, received=[], in_flight=[], overhead=account(received=3)),
]
write("senders.jsonl", senders)
write("decodability.jsonl", [sender(**state) for state in senders])
write("decodability-printed.jsonl", [sender(**state, offset=0.0, kappa=0.2) for state in senders])
write("decodability-one-term.jsonl", [sender(**state, one_term=True) for state in senders])


def rls(log, m=10, theta=0.9, p0=100.0):
    identity = lambda: [[p0 if i == j else 0.0 for j in range(m)] for i in range(m)]
    u, w, p = [0.0] * m, [1.0] + [0.0] * (m - 1), identity()
    for line in log:
        error = line["x"] - math.fsum(a * b for a, b in zip(w, u))                # R3CP+, Eq. (3)
        if math.fsum(a * a for a in u) > 1e-12:
            pu = [math.fsum(a * b for a, b in zip(row, u)) / theta for row in p]
            k = [a / (1 + math.fsum(b * c for b, c in zip(u, pu))) for a in pu]   # Eq. (5), with the u that predicted
            w = [a + b * error for a, b in zip(w, k)]                             # Eq. (4)
            p = [[p[i][j] / theta - k[i] * pu[j] for j in range(m)] for i in range(m)]  # Eq. (6): u P / theta is pu
            p = [[(p[i][j] + p[j][i]) / 2 for j in range(m)] for i in range(m)]
            if sum(p[i][i] for i in range(m)) > 1e6:
                p = identity()
        u = [line["x"]] + u[:-1]
        yield dict(error=error, prediction=math.fsum(a * b for a, b in zip(w, u)))  # Eq. (7)


def the_series():
    """Losses of few packets, a long quiet time, a steady value, a step, an oscillation with noise."""
    rng = random.Random(11)
    yield from (dict(x=rng.choice([0, 0, 0.2, 0.25, 0.5])) for _ in range(60))
    yield from (dict(x=0.0) for _ in range(200))
    yield from (dict(x=0.06) for _ in range(100))
    yield from (dict(x=0.09) for _ in range(40))
    yield from (dict(x=round(0.1 + 0.04 * math.sin(0.4 * n) + 0.002 * rng.random(), 6)) for n in range(100))


series = list(the_series())
write("series.jsonl", series)
write("rls.jsonl", rls(series))
write("rls-m3.jsonl", rls(series, m=3, theta=0.98, p0=10.0))


def r3cp_rate(q, zeta_in_q, zeta_next, rho_prev, p, d, mu, p_l):
    target = mu * d + p_l                                                         # R3CP+, Eq. (9)
    after = q + zeta_in_q - mu * d + rho_prev * (1 - p) * d + zeta_next - mu * d  # Eqs. (11) to (13), without lambda
    return dict(**{"lambda": (target - after) / ((1 - p) * d)})


def the_flow_control_points():
    rng = random.Random(12)
    for _ in range(60):
        yield dict(q=rng.uniform(0, 200), zeta_in_q=rng.choice([0, rng.uniform(0, 9)]), zeta_next=rng.choice([0, 3]),
                   rho_prev=rng.uniform(0, 100), p=rng.choice([0, 0.02, rng.uniform(0, 0.95)]), d=rng.uniform(0.01, 1),
                   mu=rng.choice([28120 / 600, 300]), p_l=rng.choice([0, 23.4, 117.2]))


flow_control_points = list(the_flow_control_points())
write("flow-control.jsonl", flow_control_points)
write("r3cp-rate.jsonl", [r3cp_rate(**point) for point in flow_control_points])


def r3cp_table(current, forecast, rho_prev, bank_open, throughput=None, inc_big=50 / 378 * 28120 / 600,
               inc_small=12.5 / 378 * 28120 / 600, dec_small=0.875, dec_big=0.5, lambda_max=800 / 378 * 28120 / 600,
               rho_min=28120 / 600 / 4, **rest):
    wanted = rest["lambda"]
    top = lambda_max if bank_open else wanted
    base = rho_prev if throughput is None else throughput
    rho = {("unloaded", "unloaded"): min(top, rho_prev + inc_big),
           ("unloaded", "loaded"): min(top, rho_prev + inc_small),
           ("unloaded", "congested"): min(wanted, rho_prev + inc_small, math.inf if throughput is None else throughput),
           ("congested", "congested"): min(wanted, base * dec_big)}.get((current, forecast))
    if rho is None:
        rho = min(wanted, rho_prev if current == "loaded" else base * dec_small)
    return dict(rho=min(max(rho, rho_min), lambda_max))


states = ["unloaded", "loaded", "congested"]
cells = [{"current": current, "forecast": forecast, "lambda": wanted, "rho_prev": rho, "bank_open": bank_open}
         for current in states for forecast in states for wanted in (-20.0, 30.5, 46.9, 250.0) for rho in (12.0, 46.9, 98.0)
         for bank_open in (True, False)]
write("cells.jsonl", cells)
write("r3cp-table.jsonl", [r3cp_table(**cell) for cell in cells])
write("r3cp-table-other.jsonl", [r3cp_table(**cell, inc_big=6.0, inc_small=1.0, dec_small=0.9, dec_big=0.25, lambda_max=60.0,
                                            rho_min=5.0) for cell in cells])
received = [{**cell, "throughput": 0.8 * cell["rho_prev"]} for cell in cells]
write("cells-received.jsonl", received)
write("r3cp-table-throughput.jsonl", [r3cp_table(**cell) for cell in received])


def playback(types, arrival, deadline, sent):
    """The outcome of each frame by its own chain of references."""
    anchors = [n for n, kind in enumerate(types) if kind != "B"]

    def ready(n):
        own = arrival[n] if sent[n] and arrival[n] is not None else math.inf
        if types[n] == "I":
            return own
        before, after = [a for a in anchors if a < n], [a for a in anchors if a > n]
        needed = [ready(before[-1]) if before else math.inf]
        if types[n] == "B" and after:
            needed.append(ready(after[0]))
        return max(own, *needed)

    labels = ["skipped" if not sent[n] else "broken" if arrival[n] is None else "late" if arrival[n] > deadline[n] else
              "playable" if ready(n) <= deadline[n] else "orphan" for n in range(len(types))]
    return dict(labels=labels, playback=labels.count("playable") / len(labels) if labels else None)


def the_videos():
    """The paper's pattern with every outcome, another pattern, and short ones."""
    rng = random.Random(13)
    for pattern, frames in [("IBBPBBPBBPBB", 240), ("IBBPBBPBBPBB", 100), ("IPPP", 40), ("BBIBP", 20), ("I", 1), ("B", 3), ("", 0)]:
        types = (pattern * 99)[:frames] if pattern else ""
        deadline = [1 + n / 24 for n in range(frames)]
        sent = [0 if kind == "B" and rng.random() < 0.2 or rng.random() < 0.01 else 1 for kind in types]
        arrival = [None if not s or rng.random() < 0.03 else round(due - 0.7 + rng.expovariate(4), 4) for s, due in zip(sent, deadline)]
        yield dict(types=types, arrival=arrival, deadline=deadline, sent=sent)
    # The I of an open group arrives between the deadlines of the B before it and its own; and at a deadline itself.
    yield dict(types="IBBI", arrival=[0.5, 0.5, 0.5, 3.5], deadline=[1, 2, 3, 4], sent=[1, 1, 1, 1])
    yield dict(types="IBP", arrival=[1.5, 1.5, 1.5], deadline=[1, 2, 3], sent=[1, 1, 1])
    yield dict(types="IBP", arrival=[1, 2, 2], deadline=[1, 2, 3], sent=[1, 1, 1])


videos = list(the_videos())
write("videos.jsonl", videos)
write("playback.jsonl", [playback(**video) for video in videos])
