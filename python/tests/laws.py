"""Laws of one's own: two of the lab's, written again from their papers, and some with faults."""

from math import ceil, floor, inf, nan


class NewReno:
    """RFC 5681, in segments."""

    def __init__(self):
        self.cwnd = float(self.context["iw"])
        self.ssthresh = self.context["ssthresh"]

    def on_ack(self, ack):
        if ack.window_limited:
            if self.cwnd < self.ssthresh:
                self.cwnd += min(ack.newly, 1)
            else:
                self.cwnd += min(ack.newly / self.cwnd, 1.0)

    def on_loss(self, now, flight):
        self.cwnd = self.ssthresh = max(flight / 2, 2.0)

    def on_recovered(self, now):
        pass

    def on_timeout(self, now, flight, again):
        if not again:
            self.ssthresh = max(flight / 2, 2.0)
        self.cwnd = 1.0


class CountingAcks(NewReno):
    """NewReno as in ns-3.37: a share of a segment for each acknowledgement, however many segments it covers."""

    def on_ack(self, ack):
        if ack.window_limited:
            newly = min(ack.newly, 1)
            self.cwnd += newly if self.cwnd < self.ssthresh else min(newly / self.cwnd, 1.0)


A, B, P_MAX, ALPHA, I_LOW = 2.0, 0.04, 0.03, 0.9, 10.0
FWND = 8.0, 60.0


class Geneva:
    """GENEVA's window of repair packets, with a whole number of packets from one report to the next (§3.2)."""

    def __init__(self):
        self.k, self.syn = self.context["k"], self.context["syn"]
        self.w0 = ceil(A / (P_MAX - 1.5 * B * B))
        self.repair = FWND[0]
        self.ertt = None

    def w_tot(self):
        return None if self.ertt is None else (self.repair + self.k) * (self.ertt + self.syn) / self.syn

    def on_report(self, report):
        if report.srtt is not None:
            self.ertt = report.srtt if self.ertt is None else ALPHA * self.ertt + (1 - ALPHA) * report.srtt
        if self.ertt is None or report.lost == report.delivered == 0:
            return
        g = self.syn / (self.ertt + self.syn)
        w = (self.repair + self.k) / g
        for _ in range(report.lost):
            w += I_LOW if w < self.w0 else B * w / (P_MAX * w - A)
        w -= B * report.delivered
        self.repair = min(max(floor(w * g - self.k + 1e-9), FWND[0]), FWND[1])


class Bad(NewReno):
    """A window that `spoil` spoils after two seconds."""

    def on_ack(self, ack):
        super().on_ack(ack)
        if ack.now > 2.0:
            self.spoil()


class Raises(Bad):
    def spoil(self):
        raise ZeroDivisionError("on purpose")


class NotANumber(Bad):
    def spoil(self):
        self.cwnd = nan


class Infinite(Bad):
    def spoil(self):
        self.cwnd = inf


class Half(Bad):
    def spoil(self):
        self.cwnd = 0.5


class Words(Bad):
    def spoil(self):
        self.cwnd = "ten"


class Lucky(NewReno):
    """A window that fails with some seeds, and shows a number of its own."""

    def __init__(self):
        super().__init__()
        self.probes["draw"] = self.rng.random()
        if self.probes["draw"] < 0.1:
            raise RuntimeError("no luck")


class Paced(NewReno):
    """A window with a constant gap."""

    gap = 0.004

    def cwnd(self):
        return self.window

    def __init__(self):
        self.window, self.ssthresh = 1000.0, inf

    def on_ack(self, ack):
        pass

    def on_loss(self, now, flight):
        pass
