//! The end of a session: goodbyes, and then nothing.

use crate::session::live::Ending;
use crate::time::{Span, Time};

/// The number of goodbyes: with nothing else in flight, one burst of losses takes several of them. Measured: a burst
/// took three, and the receiver reported a failure.
const GOODBYES: u8 = 10;
/// The interval between goodbyes. Ours: ten take 0.2 s; a longer interval outlasts longer bursts and delays the end of
/// the program.
const GOODBYE: Span = Span::from_millis(20);

/// The phase of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// Media is taken.
    Open,
    /// Queued media leaves, then `left` goodbyes, the next at `at`.
    Ending { at: Time, left: u8, ending: Ending },
    /// The session is over.
    Ended,
}

/// The next step of an end that is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// A goodbye leaves.
    Goodbye,
    /// The session is over.
    End(Ending),
}

impl Phase {
    pub(super) fn is_open(self) -> bool {
        self == Phase::Open
    }

    pub(super) fn is_over(self) -> bool {
        self == Phase::Ended
    }

    /// Begins to end an open session. A receiver that is not `reachable` gets no goodbyes.
    pub(super) fn end(&mut self, now: Time, reachable: bool, ending: Ending) {
        if self.is_open() {
            *self = Phase::Ending { at: now, left: if reachable { GOODBYES } else { 0 }, ending };
        }
    }

    /// The time of the next step, once all media has left.
    pub(super) fn next(self) -> Option<Time> {
        if let Phase::Ending { at, .. } = self { Some(at) } else { None }
    }

    /// Takes the step that is due at `now`.
    pub(super) fn step(&mut self, now: Time) -> Option<Step> {
        let Phase::Ending { at, left, ending } = *self else { return None };
        if at > now {
            return None;
        }
        if left == 0 {
            *self = Phase::Ended;
            return Some(Step::End(ending));
        }
        *self = Phase::Ending { at: now + GOODBYE, left: left - 1, ending };
        Some(Step::Goodbye)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reachable_receiver_gets_goodbyes_before_the_end() {
        for (reachable, goodbyes) in [(true, u32::from(GOODBYES)), (false, 0)] {
            let mut phase = Phase::Open;
            assert_eq!((phase.step(Time::ZERO), phase.next()), (None, None));
            phase.end(Time::ZERO, reachable, Ending::Bye);
            let mut seen = 0;
            while phase.step(phase.next().expect("it ends")) == Some(Step::Goodbye) {
                seen += 1;
            }
            assert_eq!((seen, phase.is_over()), (goodbyes, true));
        }
    }
}
