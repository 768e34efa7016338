//! When an acknowledgement is overdue: when it takes longer than any has taken lately.
//!
//! Where nothing jitters this is the round trip itself; where packets overtake each other, or queues come and go, it is
//! as much more as was measured. The idea is that of RACK (J. Cheng, N. Cardwell, N. Dukkipati, P. Jha, RFC 8985), whose
//! reordering window follows what it sees.

use crate::probe::{Probe, Visitor};
use crate::rtt::Smoothed;
use crate::time::Span;

/// How long an acknowledgement may take.
#[derive(Clone, PartialEq, Debug)]
pub struct Overdue {
    smoothed: Smoothed,
    /// What is believed before the first round trip.
    guess: Span,
    /// The largest round trip of late, ns, which fades towards the smoothed one.
    largest: f64,
}

/// Smoothed round trips above which nothing is waited for: a reordering window is no more than a round trip (RFC 8985 §6.2).
/// Without that bound one packet that a queue kept for seconds holds up what is lost behind it for as long.
const MOST: u64 = 2;
/// What the distance to the largest round trip loses with each sample: half of it within 88 packets.
const FADING: f64 = 1.0 / 128.0;

impl Overdue {
    /// A path whose round trip is known, and may change.
    pub fn new(first: Span) -> Overdue {
        Overdue { smoothed: Smoothed::believing(first), guess: first, largest: first.as_nanos() as f64 }
    }

    /// A path of which nothing is known: `guess` is forgotten with the first round trip.
    pub fn guessing(guess: Span) -> Overdue {
        Overdue { smoothed: Smoothed::default(), guess, largest: 0.0 }
    }

    /// An acknowledgement took `rtt`, be it of a packet that counted as lost already.
    pub fn acknowledged(&mut self, rtt: Span) {
        self.smoothed.sample(rtt);
        let srtt = self.srtt().as_nanos() as f64;
        let faded = self.largest - FADING * (self.largest - srtt);
        self.largest = faded.max(rtt.as_nanos() as f64);
    }

    /// A packet that later ones had overtaken was acknowledged after `took`, which is no sample of the round trip: how long
    /// its acknowledgement waited is not known. No more than two round trips are believed (RFC 8985 §6.2).
    pub fn overtaken(&mut self, took: Span) {
        let believed = took.min(self.srtt() * MOST);
        self.largest = self.largest.max(believed.as_nanos() as f64);
    }

    /// From a packet's departure to the moment at which it counts as lost.
    pub fn patience(&self) -> Span {
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

impl Probe for Overdue {
    /// Shows `srtt` and `patience`, in seconds.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("srtt", self.srtt().as_secs_f64());
        visit("patience", self.patience().as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_jitter_a_round_trip_is_enough() {
        let mut overdue = Overdue::new(Span::from_millis(150));
        (0..1000).for_each(|_| overdue.acknowledged(Span::from_millis(150)));
        assert_eq!(overdue.patience(), Span::from_millis(150));
    }

    #[test]
    fn what_jitters_gets_its_room_and_loses_it_again() {
        let mut overdue = Overdue::new(Span::from_millis(100));
        for nth in 0..200 {
            overdue.acknowledged(Span::from_millis(100 + 40 * u64::from(nth % 10 == 0)));
        }
        let patience = overdue.patience();
        assert!(patience > Span::from_millis(135) && patience <= Span::from_millis(140), "{patience:?}");
        (0..2000).for_each(|_| overdue.acknowledged(Span::from_millis(100)));
        assert!(overdue.patience() < Span::from_millis(101));
    }

    #[test]
    fn a_guess_is_forgotten_and_what_was_overtaken_is_believed_up_to_a_round_trip_more() {
        let mut overdue = Overdue::guessing(Span::from_millis(333));
        assert_eq!((overdue.srtt(), overdue.patience()), (Span::from_millis(333), Span::from_millis(333)));
        overdue.acknowledged(Span::from_millis(20));
        assert_eq!((overdue.srtt(), overdue.patience()), (Span::from_millis(20), Span::from_millis(20)));
        overdue.overtaken(Span::from_millis(33));
        assert_eq!((overdue.srtt(), overdue.patience()), (Span::from_millis(20), Span::from_millis(33)));
        overdue.overtaken(Span::from_secs(9));
        assert_eq!(overdue.patience(), Span::from_millis(40));
    }

    /// A packet that something kept for three seconds: RFC 6298 forgets an eighth of it with each round trip, and 20 of them leave
    /// (7/8)^20 of 2.95 s / 8; twice the smoothed round trip is waited for at most.
    #[test]
    fn one_packet_that_was_kept_for_seconds_is_soon_forgotten() {
        let mut overdue = Overdue::new(Span::from_millis(50));
        (0..100).for_each(|_| overdue.acknowledged(Span::from_millis(50)));
        overdue.acknowledged(Span::from_secs(3));
        assert!(overdue.patience() <= overdue.srtt() * 2);
        (0..20).for_each(|_| overdue.acknowledged(Span::from_millis(50)));
        assert!(overdue.patience() < Span::from_millis(152), "{:?}", overdue.patience());
    }
}
