//! The time of the next acknowledgement (RFC 9000 §13.2.1).

use crate::time::{Span, Time};

/// The number of packets awaiting acknowledgement at which one is due at once. RFC 5681 §4.2, RFC 9000 §13.2.2. With
/// every fourth, Copa's small windows waited: 163 instead of 534 Mb/s over loopback.
const EVERY: u32 = 2;
/// The time after which an acknowledgement is repeated if nothing has arrived since. Together with the default
/// [`super::Config::ack_delay`] it stays within what the peer's timer allows for.
const AGAIN: Span = Span::from_millis(3);
/// Packets that await acknowledgement, and until when.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct AckTimer {
    /// Packets received since the last acknowledgement, and the time at which the next one is due.
    waiting: u32,
    due: Option<Time>,
    /// The time at which the last acknowledgement is repeated.
    again: Option<Time>,
}

impl AckTimer {
    /// Takes a packet whose acknowledgement may wait for `delay`.
    pub(super) fn on_packet(&mut self, now: Time, delay: Span) {
        (self.waiting, self.again) = (self.waiting + 1, None);
        let due = if self.waiting >= EVERY { now } else { now + delay };
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
    }

    /// Makes an acknowledgement due at once.
    pub(super) fn expire(&mut self, now: Time) {
        self.due = Some(now);
    }

    /// Takes note that an acknowledgement leaves. It is repeated if it acknowledges packets and no packet follows.
    pub(super) fn on_acknowledged(&mut self, now: Time) {
        let again = (self.waiting > 0).then(|| now + AGAIN);
        *self = AckTimer { waiting: 0, due: None, again };
    }

    /// The time of the next acknowledgement, first or repeated.
    pub(super) fn next(&self) -> Option<Time> {
        [self.due, self.again].into_iter().flatten().min()
    }

    /// True if an acknowledgement is pending, due or not.
    pub(super) fn is_pending(&self) -> bool {
        self.due.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9000 §13.2.2: an acknowledgement after at least two packets; §13.2.1: else within the maximum delay.
    #[test]
    fn every_second_packet_is_acknowledged_at_once_and_a_single_one_in_time() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let (mut timer, delay) = (AckTimer::default(), Span::from_millis(3));
        timer.on_packet(at(0), delay);
        assert_eq!(timer.next(), Some(at(3)));
        timer.on_packet(at(1), delay);
        assert_eq!(timer.next(), Some(at(1)));
        timer.on_acknowledged(at(1));
        assert!(!timer.is_pending());
        assert_eq!(timer.next(), Some(at(4)), "repeated once");
        timer.on_acknowledged(at(4));
        assert_eq!(timer.next(), None);
    }
}
