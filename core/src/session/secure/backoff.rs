//! Times at which a message that may have been lost is retransmitted.

use crate::time::{Span, Time};

/// The first wait, doubled each time. Ours: longer than the round trip of most paths, where a needless repetition costs
/// one datagram. RFC 9002 §6.2.2 waits 1 s.
const FIRST: Span = Span::from_millis(250);

/// The longest wait. Ours: twelve transmissions within the ten seconds of a handshake.
const LONGEST: Span = Span::from_secs(1);

/// Waits that double up to a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Backoff {
    next: Time,
    wait: Span,
}

impl Backoff {
    /// Begins with a first transmission at `now`.
    pub(super) fn new(now: Time) -> Backoff {
        Backoff { next: now, wait: FIRST }
    }

    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// True if a transmission is due, in which case the next wait begins.
    pub(super) fn fire(&mut self, now: Time) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.next = now + self.wait;
            self.wait = (self.wait * 2).min(LONGEST);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_second() {
        let mut backoff = Backoff::new(Time::ZERO);
        let mut sent = Vec::new();
        for milli in 0..5_000 {
            if backoff.fire(Time::ZERO + Span::from_millis(milli)) {
                sent.push(milli);
            }
        }
        assert_eq!(sent, [0, 250, 750, 1750, 2750, 3750, 4750]);
    }
}
