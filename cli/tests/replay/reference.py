"""Expected answers of `thalweg replay`, computed here a second time from the equations of the paper.

Run in this directory: it writes log.jsonl (the input) and one file an experiment. Nothing of Thalweg is used.
"""

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


def tfrc_equation(s, rtt, p, b=1.0):
    t_rto = 4 * rtt
    return s / (rtt * math.sqrt(2 * b * p / 3) + t_rto * (3 * math.sqrt(3 * b * p / 8) * p * (1 + 32 * p ** 2)))  # RFC 5348, 3.1


points = [dict(s=s, rtt=rtt, p=p) for s in (1, 1024, 1460) for rtt in (0.0005, 0.05, 2.5)
          for p in (1e-9, 1e-4, 0.01, 1 / 3, 1.0)]
write("points.jsonl", points)
write("tfrc-equation.jsonl", [dict(x=tfrc_equation(**point)) for point in points])
