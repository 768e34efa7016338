//! The least of what was seen lately.

use crate::time::{Span, Time};

/// How far back "lately" reaches: between one and two of these.
const WINDOW: Span = Span::from_secs(5);

/// A sliding minimum.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Least<T> {
    before: Option<T>,
    now: Option<T>,
    since: Time,
}

impl<T: Copy + Ord> Least<T> {
    pub(super) fn new() -> Least<T> {
        Least { before: None, now: None, since: Time::ZERO }
    }

    pub(super) fn push(&mut self, now: Time, value: T) {
        if now.since(self.since) >= WINDOW {
            self.before = self.now.take();
            self.since = now;
        }
        self.now = Some(self.now.map_or(value, |least| least.min(value)));
    }

    /// None while nothing was pushed.
    pub(super) fn get(&self) -> Option<T> {
        self.before.into_iter().chain(self.now).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_lasts_at_least_five_and_at_most_ten_seconds() {
        let at = |secs| Time::ZERO + Span::from_secs(secs);
        let mut least = Least::new();
        for (secs, value) in [(0, 7), (1, 3), (4, 9), (6, 8)] {
            least.push(at(secs), value);
        }
        assert_eq!(least.get(), Some(3));
        least.push(at(11), 9);
        assert_eq!(least.get(), Some(8));
    }
}
