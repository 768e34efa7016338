//! The waits between an encoder's end and its next start.

use thalweg_core::time::Span;

/// The first wait, and the longest.
const FIRST: Span = Span::from_secs(1);
const LONGEST: Span = Span::from_secs(30);
/// The length of a run after which the wait is the first again.
const STABLE: Span = Span::from_secs(60);

/// A wait that doubles from failure to failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Restarts {
    wait: Span,
}

impl Default for Restarts {
    fn default() -> Restarts {
        Restarts { wait: FIRST }
    }
}

impl Restarts {
    /// The wait after a run of `length`.
    pub(super) fn on_ended(&mut self, length: Span) -> Span {
        if length >= STABLE {
            self.wait = FIRST;
        }
        let wait = self.wait;
        self.wait = (wait * 2).min(LONGEST);
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_doubles_to_half_a_minute_and_begins_anew_after_a_minute() {
        let mut restarts = Restarts::default();
        let waits = [0, 1, 59, 5, 5, 5, 5].map(|seconds| restarts.on_ended(Span::from_secs(seconds)));
        assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30].map(Span::from_secs));
        assert_eq!(restarts.on_ended(Span::from_secs(60)), FIRST);
        assert_eq!(restarts.on_ended(Span::from_secs(1)), FIRST * 2);
    }
}
