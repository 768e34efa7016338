//! Free space for originals: here, and at the peer.

use super::{Queue, Time};
use crate::time::Span;

/// The most doublings of the interval between questions. Ours: an answer that is lost sixteen probe timeouts long leaves
/// a path that is interrupted, and the tunnel above notices that.
const MAX_DOUBLINGS: u32 = 4;

/// The limits of the originals that wait for their arrival.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Credit {
    /// The most originals that may wait here.
    most: usize,
    /// The first original beyond the peer's free space.
    limit: u64,
    /// The time of the next question for free space, and the number of questions without effect.
    ask: Option<Time>,
    asked: u32,
}

impl Credit {
    /// The credit of a stream whose ends have both room for `window` originals.
    pub(super) fn new(window: usize) -> Credit {
        Credit { most: window, limit: window as u64, ask: None, asked: 0 }
    }

    /// Limits the originals that wait here from now on.
    pub(super) fn bound(&mut self, most: usize) {
        self.most = most;
    }

    /// True if one more original may enter `queue`.
    pub(super) fn allows(&self, queue: &Queue) -> bool {
        queue.len() < self.most && queue.e().wrapping_add(1) < self.limit
    }

    /// Takes the first original beyond the free space that the peer reports. Space that was once granted is not taken
    /// back.
    pub(super) fn raise(&mut self, limit: u64) {
        if limit > self.limit {
            *self = Credit { limit, ask: None, asked: 0, ..self.clone() };
        }
    }

    /// Asks the peer `after` from now on, and again until an answer has an effect, while the sender is blocked without
    /// one: the packet that carried the acknowledgement may be lost.
    pub(super) fn watch(&mut self, now: Time, is_blocked: bool, after: Span) {
        self.ask = if is_blocked { self.ask.or(Some(now + after)) } else { None };
    }

    /// Asks at `at`, as of an association that begins.
    pub(super) fn restart(&mut self, at: Option<Time>) {
        (self.ask, self.asked) = (at, 0);
    }

    /// Returns true if it is time to ask the peer for free space, and sets the time of the next question: `interval`
    /// later, doubled with each question.
    pub(super) fn poll_question(&mut self, now: Time, interval: Span) -> bool {
        let asks = self.ask.is_some_and(|at| at <= now);
        if asks {
            self.asked = (self.asked + 1).min(MAX_DOUBLINGS);
            self.ask = Some(now + interval * (1 << self.asked));
        }
        asks
    }

    /// The time of the next question.
    pub(super) fn next(&self) -> Option<Time> {
        self.ask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_double_their_interval_up_to_sixteen_times_until_space_is_granted() {
        let mut credit = Credit::new(8);
        credit.watch(Time::ZERO, true, Span::from_millis(10));
        let interval = Span::from_millis(10);
        let mut gaps = Vec::new();
        for _ in 0..6 {
            let at = credit.next().expect("blocked");
            assert!(!credit.poll_question(at - Span::from_nanos(1), interval));
            assert!(credit.poll_question(at, interval));
            gaps.push(credit.next().expect("still blocked").since(at).as_micros() / 1000);
        }
        assert_eq!(gaps, [20, 40, 80, 160, 160, 160]);
        credit.raise(8);
        assert!(credit.next().is_some(), "the peer has no more space than before");
        credit.raise(9);
        assert_eq!(credit.next(), None);
    }

    #[test]
    fn originals_are_bounded_here_and_by_the_peer() {
        let mut credit = Credit::new(2);
        assert!(credit.allows(&Queue::standing(0, 1, 0)));
        assert!(!credit.allows(&Queue::standing(0, 1, 1)), "two wait here");
        assert!(!credit.allows(&Queue::standing(1, 1, 0)), "the peer has space for 0 and 1");
        credit.raise(3);
        assert!(credit.allows(&Queue::standing(1, 1, 0)));
        credit.bound(1);
        assert!(!credit.allows(&Queue::standing(1, 1, 0)));
    }
}
