//! Any law, with a rate that is never exceeded.

use super::{Allowance, Pacer, Report};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// The divisor of a second's bytes: up to a tenth of these, undelayed bytes are deducted from later packets.
const REMEMBERED: u64 = 10;

/// A law that gives the time of the next packet, and a rate that may postpone it.
#[derive(Clone, PartialEq, Debug)]
pub struct Capped<A> {
    law: A,
    most: Option<(Rate, Pacer)>,
    /// Undelayed bytes that are still to be deducted from packets.
    unpaced: u64,
}

impl<A> Capped<A> {
    /// The law `law`, bounded by the rate `most`, headers included; a late caller catches up on at most `slack`.
    pub fn new(law: A, most: Option<Rate>, slack: Span) -> Capped<A> {
        Capped { law, most: most.map(|rate| (rate, Pacer::new(slack))), unpaced: 0 }
    }

    /// The law.
    pub fn law(&self) -> &A {
        &self.law
    }

    /// The law, for a change of its parameters.
    pub fn law_mut(&mut self) -> &mut A {
        &mut self.law
    }
}

impl<A: Allowance> Allowance for Capped<A> {
    fn next_send(&self, in_flight: u32) -> Option<Time> {
        let next = self.law.next_send(in_flight)?;
        Some(self.most.as_ref().map_or(next, |(_, pacer)| next.max(pacer.release())))
    }

    fn rate(&self, packet: Bytes, srtt: Span) -> Rate {
        let rate = self.law.rate(packet, srtt);
        self.most.as_ref().map_or(rate, |(most, _)| rate.min(*most))
    }

    fn on_sent(&mut self, now: Time, size: Bytes) {
        self.law.on_sent(now, size);
        if let Some((rate, pacer)) = &mut self.most {
            // Packets keep at least half of the rate.
            let unpaced = self.unpaced.min(size.0);
            self.unpaced -= unpaced;
            pacer.sent(now, rate.time_for(Bytes(size.0 + unpaced)));
        }
    }

    fn on_unpaced(&mut self, size: Bytes) {
        self.law.on_unpaced(size);
        if let Some((rate, _)) = &self.most {
            self.unpaced = (self.unpaced + size.0).min(rate.as_bps() / 8 / REMEMBERED);
        }
    }

    fn on_delivered(&mut self, now: Time, number: u64, sent: Time, size: Bytes) {
        self.law.on_delivered(now, number, sent, size);
    }

    fn on_report(&mut self, report: &Report) {
        self.law.on_report(report);
    }

    fn on_silence(&mut self, now: Time, in_flight: u32) {
        self.law.on_silence(now, in_flight);
    }
}

impl<A: Probe> Probe for Capped<A> {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.law.probe(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::rate::fixed::Fixed;

    /// The number of packets of 1250 bytes sent in a second.
    fn left(own: u64, most: Option<u64>) -> u64 {
        let law = Fixed::new(Rate::from_mbps(own), Span::ZERO);
        let mut law = Capped::new(law, most.map(Rate::from_mbps), Span::ZERO);
        let (mut now, mut left) = (Time::ZERO, 0);
        while now < Time::ZERO + Span::from_secs(1) {
            law.on_sent(now, Bytes(1_250));
            left += 1;
            now = law.next_send(0).expect("always");
        }
        left
    }

    #[test]
    fn capped_rate_is_the_lower_of_the_two() {
        assert_eq!([left(10, None), left(10, Some(4)), left(4, Some(10))], [1000, 400, 400]);
    }

    /// 4 Mb/s are 400 packets per second.
    #[test]
    fn traffic_outside_the_law_reduces_the_rate_to_half_at_most() {
        let left = |unpaced| {
            let fixed = Fixed::new(Rate::from_mbps(10), Span::ZERO);
            let mut law = Capped::new(fixed, Some(Rate::from_mbps(4)), Span::ZERO);
            let (mut now, mut left) = (Time::ZERO, 0);
            while now < Time::ZERO + Span::from_secs(1) {
                law.on_unpaced(Bytes(unpaced));
                law.on_sent(now, Bytes(1_250));
                left += 1;
                now = law.next_send(0).expect("always");
            }
            left
        };
        assert_eq!([left(0), left(750), left(1_250), left(12_500)], [400, 250, 200, 200]);
    }
}
