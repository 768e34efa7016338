//! The time after which an acknowledgement is overdue: longer than any has taken lately. A packet that was overtaken
//! by a later one is declared lost then, as by the time threshold of RFC 9002 §6.1.2.
//!
//! Without jitter the threshold is the round trip itself; with reordered packets, or queues that build and drain, it is
//! longer by the measured amount. The idea is that of RACK (J. Cheng, N. Cardwell, N. Dukkipati, P. Jha, RFC 8985),
//! whose reordering window adapts to the reordering that it observes.

use crate::probe::{Probe, Visitor};
use crate::rtt::Smoothed;
use crate::time::Span;

/// The threshold for the time that an acknowledgement takes.
#[derive(Clone, PartialEq, Debug)]
pub struct LossTimer {
    smoothed: Smoothed,
    /// The assumed round trip before the first sample.
    guess: Span,
    /// The recent maximum of the round trip, ns, which decays towards the smoothed one.
    largest: f64,
}

/// The threshold's bound in smoothed round trips: a reordering window is no more than a round trip (RFC 8985 §6.2).
/// Without it one packet that a queue delays for seconds would delay the detection of losses behind it for as long.
const MOST: u64 = 2;
/// The decay of the distance to the maximum with each sample: half of it within 88 packets.
const FADING: f64 = 1.0 / 128.0;

impl LossTimer {
    /// A path whose round trip is known, and may change.
    pub fn new(first: Span) -> LossTimer {
        LossTimer { smoothed: Smoothed::believing(first), guess: first, largest: first.as_nanos() as f64 }
    }

    /// An unknown path: `guess` is forgotten with the first round trip.
    pub fn guessing(guess: Span) -> LossTimer {
        LossTimer { smoothed: Smoothed::default(), guess, largest: 0.0 }
    }

    /// Takes the time `rtt` of an acknowledgement, even of a packet that was declared lost.
    pub fn acknowledged(&mut self, rtt: Span) {
        self.smoothed.sample(rtt);
        let srtt = self.srtt().as_nanos() as f64;
        let faded = self.largest - FADING * (self.largest - srtt);
        self.largest = faded.max(rtt.as_nanos() as f64);
    }

    /// Takes the time until the acknowledgement of a packet that later ones had overtaken. It is no round-trip sample,
    /// as the acknowledgement's own delay is unknown, and counts as two round trips at most (RFC 8985 §6.2).
    pub fn overtaken(&mut self, took: Span) {
        let believed = took.min(self.srtt() * MOST);
        self.largest = self.largest.max(believed.as_nanos() as f64);
    }

    /// The reordering threshold: the time from a packet's departure until it is declared lost.
    pub fn threshold(&self) -> Span {
        let largest = Span::from_nanos((self.largest + 0.5) as u64);
        self.smoothed.srtt().map_or_else(|| largest.max(self.guess), |srtt| largest.min(srtt * MOST))
    }

    /// The smoothed round trip, or the guess.
    pub fn srtt(&self) -> Span {
        self.smoothed.srtt().unwrap_or(self.guess)
    }

    /// The estimator of RFC 6298.
    pub fn smoothed(&self) -> &Smoothed {
        &self.smoothed
    }
}

impl Probe for LossTimer {
    /// Shows `srtt` and `threshold`, in seconds.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("srtt", self.srtt().as_secs_f64());
        visit("patience", self.threshold().as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threshold_without_jitter_is_one_round_trip() {
        let mut timer = LossTimer::new(Span::from_millis(150));
        (0..1000).for_each(|_| timer.acknowledged(Span::from_millis(150)));
        assert_eq!(timer.threshold(), Span::from_millis(150));
    }

    #[test]
    fn threshold_grows_with_jitter_and_shrinks_again() {
        let mut timer = LossTimer::new(Span::from_millis(100));
        for nth in 0..200 {
            timer.acknowledged(Span::from_millis(100 + 40 * u64::from(nth % 10 == 0)));
        }
        let threshold = timer.threshold();
        assert!(threshold > Span::from_millis(135) && threshold <= Span::from_millis(140), "{threshold:?}");
        (0..2000).for_each(|_| timer.acknowledged(Span::from_millis(100)));
        assert!(timer.threshold() < Span::from_millis(101));
    }

    #[test]
    fn first_sample_replaces_the_guess_and_reordering_adds_at_most_an_rtt() {
        let mut timer = LossTimer::guessing(Span::from_millis(333));
        assert_eq!((timer.srtt(), timer.threshold()), (Span::from_millis(333), Span::from_millis(333)));
        timer.acknowledged(Span::from_millis(20));
        assert_eq!((timer.srtt(), timer.threshold()), (Span::from_millis(20), Span::from_millis(20)));
        timer.overtaken(Span::from_millis(33));
        assert_eq!((timer.srtt(), timer.threshold()), (Span::from_millis(20), Span::from_millis(33)));
        timer.overtaken(Span::from_secs(9));
        assert_eq!(timer.threshold(), Span::from_millis(40));
    }

    /// A packet that was delayed for three seconds: RFC 6298 forgets an eighth of it with each round trip, and 20 of
    /// them leave (7/8)^20 of 2.95 s / 8; the threshold is at most twice the smoothed round trip.
    #[test]
    fn one_long_delay_is_soon_forgotten() {
        let mut timer = LossTimer::new(Span::from_millis(50));
        (0..100).for_each(|_| timer.acknowledged(Span::from_millis(50)));
        timer.acknowledged(Span::from_secs(3));
        assert!(timer.threshold() <= timer.srtt() * 2);
        (0..20).for_each(|_| timer.acknowledged(Span::from_millis(50)));
        assert!(timer.threshold() < Span::from_millis(152), "{:?}", timer.threshold());
    }
}
