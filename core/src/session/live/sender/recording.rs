//! A record of what each packet met on its way, and each report on its way back: a measurement of the path.
//!
//! Times of arrival are on the clock of their end. So a delay is known up to the offset of the two clocks, which both
//! directions have with opposite signs.

use crate::time::{Span, Time};
use crate::wire::ntp::{NtpShort, NtpUnwrapper};

/// The outcome of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// No report has named it.
    Unknown,
    /// A report has named it missing, and none has named it delivered.
    Missing,
    /// It arrived at this time of the receiver's clock, to about 1 ms (RFC 8888 §3.1).
    Arrived(Time),
}

/// The passage of a source or a repair packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passage {
    /// The time at which it left, on the sender's clock.
    pub sent: Time,
    /// Its outcome.
    pub outcome: Outcome,
}

/// The passage of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Return {
    /// The time at which it left, on the receiver's clock.
    pub sent: Time,
    /// The time at which it arrived, on the sender's clock.
    pub arrived: Time,
}

/// A record of all packets in sending order, and of the reports that came, each newer than those before it. It takes 24
/// bytes a packet and 16 a report.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Recording {
    /// The source and repair packets.
    pub passages: Vec<Passage>,
    /// The reports.
    pub returns: Vec<Return>,
    /// The smallest round trip, as hellos and answers measure it.
    pub round_trip: Option<Span>,
    /// The number of the first packet.
    first: u64,
    clock: NtpUnwrapper,
}

impl Recording {
    /// Notes that packet `order` leaves, which is the one after the last.
    pub(super) fn sent(&mut self, order: u64, at: Time) {
        if self.passages.is_empty() {
            self.first = order;
        }
        self.passages.push(Passage { sent: at, outcome: Outcome::Unknown });
    }

    /// Takes note of a new report of the receiver's time `stamp`, and of the minimum of the round trip.
    pub(super) fn on_report(&mut self, now: Time, stamp: NtpShort, round_trip: Option<Span>) {
        self.round_trip = self.round_trip.into_iter().chain(round_trip).min();
        self.returns.push(Return { sent: self.clock.unwrap(stamp), arrived: now });
    }

    /// Takes what the last report says of packet `order`: the time for which the receiver had held it, or none if it was
    /// missing.
    pub(super) fn reported(&mut self, order: u64, held: Option<Span>) {
        let at = order.checked_sub(self.first).and_then(|at| usize::try_from(at).ok());
        let passage = at.and_then(|at| self.passages.get_mut(at));
        let (Some(passage), Some(report)) = (passage, self.returns.last()) else { return };
        passage.outcome = match (passage.outcome, held) {
            (Outcome::Arrived(at), _) => Outcome::Arrived(at),
            (_, Some(held)) => Outcome::Arrived(report.sent - held),
            (_, None) => Outcome::Missing,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_packet_keeps_the_first_time_of_arrival_that_a_report_names() {
        let mut recording = Recording::default();
        for nth in 0..4 {
            recording.sent(100 + nth, at(nth));
        }
        let reports = [(5_000, [None, Some(0), None]), (5_250, [Some(3), Some(9), None])];
        for (stamp, arrivals) in reports {
            recording.on_report(at(60), NtpShort::from(at(stamp)), None);
            for (order, held) in (99..).zip(arrivals) {
                recording.reported(order, held.map(Span::from_millis));
            }
        }
        let [first, second] = [0, 1].map(|nth| recording.returns[nth].sent);
        assert_eq!(second.since(first), Span::from_millis(250));
        let outcomes: Vec<Outcome> = recording.passages.iter().map(|passage| passage.outcome).collect();
        assert_eq!(outcomes, [Outcome::Arrived(first), Outcome::Missing, Outcome::Unknown, Outcome::Unknown]);
    }
}
