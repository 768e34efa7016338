//! Probe of a sender.

use super::{Allowance, Schedule, Sender};
use crate::probe::{Probe, Visitor};
use crate::time::Span;

impl<S: Schedule, A: Allowance> Probe for Sender<S, A> {
    /// Shows these values, times in seconds:
    ///
    /// | name | what |
    /// |---|---|
    /// | `srtt`, `patience` | smoothed round trip; time after which an overtaken packet is declared lost |
    /// | `eps` | loss rate that decisions use |
    /// | `eps_ge`, `burst` | loss rate by Gilbert's and Elliott's model, and its mean burst in packets |
    /// | `slot` | interval from one packet to the next, T |
    /// | `n`, `m`, `in_flight` | originals in doubt, originals that wait, packets in flight |
    /// | `u` | Eq. (9): useless packets for each one that was needed |
    /// | `new`, `repair`, `resent`, `idle` | number of times that each was chosen |
    /// | `lost`, `late`, `silences` | packets declared lost, those of them acknowledged later, silences |
    /// | `delay_p50`, `delay_p95`, `delay_p99` | in-order delivery ([`super::Delays`]); NaN before the first delay |
    ///
    /// The values of the schedule and of the rate law follow.
    fn probe(&self, visit: &mut Visitor<'_>) {
        let (path, counts, bursts) = (self.path(), self.counts(), self.recovery.losses.bursts());
        let delay = |quantile| self.delays.quantile(quantile).map_or(f64::NAN, Span::as_secs_f64);
        let values = [
            ("srtt", self.recovery.rtt.smoothed().map_or(f64::NAN, Span::as_secs_f64)),
            ("patience", self.recovery.rtt.overdue().as_secs_f64()),
            ("eps", path.eps),
            ("eps_ge", bursts.eps()),
            ("burst", bursts.burst()),
            ("slot", path.slot.as_secs_f64()),
            ("n", self.queue.n() as f64),
            ("m", self.queue.m() as f64),
            ("under_way", f64::from(self.recovery.sent().in_flight())),
            ("u", self.queue.overhead().u()),
            ("new", counts.new as f64),
            ("repair", counts.repair as f64),
            ("resent", counts.resent as f64),
            ("idle", counts.idle as f64),
            ("lost", counts.lost as f64),
            ("late", counts.late as f64),
            ("silences", counts.silences as f64),
            ("delay_p50", delay(0.5)),
            ("delay_p95", delay(0.95)),
            ("delay_p99", delay(0.99)),
        ];
        for (name, value) in values {
            visit(name, value);
        }
        self.schedule.probe(visit);
        self.allowance.probe(visit);
    }
}
