//! When an acknowledgement is overdue: when it takes longer than any has taken lately.
//!
//! Where nothing jitters this is the round trip itself; where packets overtake each other, or queues come and go, it is
//! as much more as was measured. The idea is that of RACK (RFC 8985), whose reordering window follows what it sees.

use crate::probe::{Probe, Visitor};
use crate::time::Span;

/// How long an acknowledgement may take.
#[derive(Clone, PartialEq, Debug)]
pub struct Overdue {
    /// Smoothed round trip, ns.
    srtt: f64,
    /// The largest round trip of late, ns, which fades towards the smoothed one.
    largest: f64,
}

/// Weight of a new sample in the smoothed round trip: RFC 6298.
const GAIN: f64 = 1.0 / 8.0;
/// What the distance to the largest round trip loses with each sample: half of it within 88 packets.
const FADING: f64 = 1.0 / 128.0;

impl Overdue {
    /// A path of which nothing is known but a first guess.
    pub fn new(first: Span) -> Overdue {
        let first = first.as_nanos() as f64;
        Overdue { srtt: first, largest: first }
    }

    /// An acknowledgement took `rtt`, be it of a packet that counted as lost already.
    pub fn acknowledged(&mut self, rtt: Span) {
        let rtt = rtt.as_nanos() as f64;
        self.srtt += GAIN * (rtt - self.srtt);
        let faded = self.largest - FADING * (self.largest - self.srtt);
        self.largest = faded.max(rtt);
    }

    /// From a packet's departure to the moment at which it counts as lost.
    pub fn patience(&self) -> Span {
        Span::from_nanos((self.largest + 0.5) as u64)
    }

    /// The smoothed round trip.
    pub fn srtt(&self) -> Span {
        Span::from_nanos((self.srtt + 0.5) as u64)
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
}
