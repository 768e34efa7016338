//! Continuation of a stream over another association.
//!
//! Packets in flight when the old one ended may have arrived, and their acknowledgement is lost with it. So nothing is
//! sent again before the other end has told what it has: it does so at once, and is asked until an acknowledgement
//! arrives. Since nothing comes through the old association any more, what is not acknowledged then is lost.

use super::{Allowance, Fate, RoundTrip, Schedule, Sender, Time};

impl<S: Schedule, A: Allowance> Sender<S, A> {
    pub(in super::super) fn resume(&mut self, now: Time, allowance: A) {
        (self.allowance, self.rtt) = (allowance, RoundTrip::default());
        (self.found, self.found_sent) = (0, None);
        self.resumed = self.flight.next();
        (self.quiet, self.rest) = (now, Time::ZERO);
        (self.ask, self.asked) = (self.is_resuming().then_some(now), 0);
    }

    /// Returns whether packets of an earlier association are in flight, as far as is known.
    pub(super) fn is_resuming(&self) -> bool {
        self.flight.oldest().is_some_and(|(sequence, _)| sequence < self.resumed)
    }

    /// Gives up what an earlier association left under way, once the other end has told what has come.
    pub(super) fn end_resumption(&mut self) {
        while let Some((sequence, record)) = self.flight.oldest().filter(|(sequence, _)| *sequence < self.resumed) {
            let coded = record.coded;
            if record.fate == Fate::UnderWay {
                self.flight.decide(sequence, Fate::Silenced);
                self.queue.lost(&coded);
                self.counts.lost += 1;
            }
            self.flight.tell(&mut self.losses);
        }
    }
}
