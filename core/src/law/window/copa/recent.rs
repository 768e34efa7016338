//! The least or the greatest round trip of the recent past.

use std::collections::VecDeque;

use crate::time::{Span, Time};

/// Parts of a window of time within which one sample stands for all: few are kept, however many come.
const GRAIN: u64 = 32;

/// An extreme over a window of time that slides with each sample.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Recent {
    keeps: Keeps,
    /// Each later than the one before, and less extreme: the first is the answer.
    samples: VecDeque<Sample>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keeps {
    Least,
    Greatest,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Sample {
    at: Time,
    rtt: Span,
}

impl Recent {
    /// Keeps the least.
    pub(super) fn least() -> Recent {
        Recent { keeps: Keeps::Least, samples: VecDeque::new() }
    }

    /// Keeps the greatest.
    pub(super) fn greatest() -> Recent {
        Recent { keeps: Keeps::Greatest, samples: VecDeque::new() }
    }

    /// Takes a sample, and gives the extreme of the last `window`. It may have seen a thirty-second of the window less.
    pub(super) fn update(&mut self, at: Time, rtt: Span, window: Span) -> Span {
        while self.samples.front().is_some_and(|first| first.at + window < at) {
            self.samples.pop_front();
        }
        while self.samples.back().is_some_and(|last| self.is_beaten(*last, rtt)) {
            self.samples.pop_back();
        }
        if self.samples.back().is_none_or(|last| at.since(last.at) * GRAIN >= window) {
            self.samples.push_back(Sample { at, rtt });
        }
        self.get().unwrap_or(rtt)
    }

    /// The extreme as of the last sample.
    pub(super) fn get(&self) -> Option<Span> {
        self.samples.front().map(|first| first.rtt)
    }

    fn is_beaten(&self, old: Sample, rtt: Span) -> bool {
        match self.keeps {
            Keeps::Least => rtt <= old.rtt,
            Keeps::Greatest => rtt >= old.rtt,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_lies_between_the_extremes_of_the_window_and_of_a_window_a_grain_shorter(
            samples in prop::collection::vec((0u64..50, 1u64..1_000), 1..300), window in 64u64..2_000,
        ) {
            let (mut least, mut greatest) = (Recent::least(), Recent::greatest());
            let (mut now, mut seen) = (0, Vec::new());
            for (pause, rtt) in samples {
                now += pause;
                seen.push((now, rtt));
                let window = Span::from_nanos(window);
                let low = least.update(Time::from_nanos(now), Span::from_nanos(rtt), window).as_nanos();
                let high = greatest.update(Time::from_nanos(now), Span::from_nanos(rtt), window).as_nanos();
                let within = |span: u64| seen.iter().filter(move |(at, _)| at + span >= now).map(|(_, rtt)| *rtt);
                let (whole, part) = (window.as_nanos(), window.as_nanos() - window.as_nanos() / GRAIN - 1);
                prop_assert!(within(whole).min() <= Some(low) && Some(low) <= within(part).min());
                prop_assert!(within(whole).max() >= Some(high) && Some(high) >= within(part).max());
                prop_assert!(least.samples.len() <= GRAIN as usize + 2);
            }
        }
    }
}
