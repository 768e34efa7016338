//! What a sender shows.

use super::{Allowance, Schedule, Sender};
use crate::probe::{Probe, Visitor};
use crate::time::Span;

impl<S: Schedule, A: Allowance> Probe for Sender<S, A> {
    /// Shows, times in seconds:
    ///
    /// | name | what |
    /// |---|---|
    /// | `srtt`, `patience` | smoothed round trip; after which time a packet that others have overtaken is lost |
    /// | `eps` | loss rate that decisions are made with |
    /// | `eps_ge`, `burst` | the same by Gilbert's and Elliott's model, and its mean burst in packets |
    /// | `slot` | from one packet to the next, T |
    /// | `n`, `m`, `under_way` | originals in doubt, originals that wait, packets under way |
    /// | `u` | Eq. (9): useless packets for each one that was needed |
    /// | `new`, `repair`, `resent`, `idle` | how often each was chosen |
    /// | `lost`, `late`, `silences` | packets taken for lost, those of them that came after all, silences |
    /// | `delay_p50`, `delay_p95`, `delay_p99` | in-order delivery ([`super::Delays`]); NaN before there was any |
    ///
    /// and behind these what the schedule and the rate law show.
    fn probe(&self, visit: &mut Visitor<'_>) {
        let (path, counts, bursts) = (self.path(), self.counts, self.losses.bursts());
        let delay = |quantile| self.delays.quantile(quantile).map_or(f64::NAN, Span::as_secs_f64);
        let values = [
            ("srtt", self.rtt.smoothed().map_or(f64::NAN, Span::as_secs_f64)),
            ("patience", self.rtt.overdue().as_secs_f64()),
            ("eps", path.eps),
            ("eps_ge", bursts.eps()),
            ("burst", bursts.burst()),
            ("slot", path.slot.as_secs_f64()),
            ("n", self.queue.n() as f64),
            ("m", self.queue.m() as f64),
            ("under_way", f64::from(self.flight.under_way())),
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
