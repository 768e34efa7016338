//! Any law, and a rate that is never exceeded.

use super::{Allowance, Pacer, Report};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// Packets make room for what left aside in so many parts of a second; what is more is forgone.
const REMEMBERED: u64 = 10;

/// A law that says when, and a rate that says not before.
#[derive(Clone, PartialEq, Debug)]
pub struct Capped<A> {
    law: A,
    most: Option<(Rate, Pacer)>,
    /// Bytes that left aside, and that packets have yet to make room for.
    aside: u64,
}

impl<A> Capped<A> {
    /// What `law` says, at `most` at that rate, headers included; who comes late makes up for at most `slack`.
    pub fn new(law: A, most: Option<Rate>, slack: Span) -> Capped<A> {
        Capped { law, most: most.map(|rate| (rate, Pacer::new(slack))), aside: 0 }
    }

    /// The law.
    pub fn law(&self) -> &A {
        &self.law
    }
}

impl<A: Allowance> Allowance for Capped<A> {
    fn next_send(&self, in_flight: u32) -> Option<Time> {
        let next = self.law.next_send(in_flight)?;
        Some(self.most.as_ref().map_or(next, |(_, pacer)| next.max(pacer.release())))
    }

    fn on_sent(&mut self, now: Time, size: Bytes) {
        self.law.on_sent(now, size);
        if let Some((rate, pacer)) = &mut self.most {
            // At least half of the rate is left to packets.
            let aside = self.aside.min(size.0);
            self.aside -= aside;
            pacer.sent(now, rate.time_for(Bytes(size.0 + aside)));
        }
    }

    fn on_aside(&mut self, size: Bytes) {
        self.law.on_aside(size);
        if let Some((rate, _)) = &self.most {
            self.aside = (self.aside + size.0).min(rate.as_bps() / 8 / REMEMBERED);
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

    /// Packets of 1250 bytes that leave in a second.
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
    fn the_lower_of_two_rates_counts() {
        assert_eq!([left(10, None), left(10, Some(4)), left(4, Some(10))], [1000, 400, 400]);
    }

    /// 4 Mb/s are 400 packets a second.
    #[test]
    fn packets_make_room_for_what_leaves_aside_and_keep_half() {
        let left = |aside| {
            let fixed = Fixed::new(Rate::from_mbps(10), Span::ZERO);
            let mut law = Capped::new(fixed, Some(Rate::from_mbps(4)), Span::ZERO);
            let (mut now, mut left) = (Time::ZERO, 0);
            while now < Time::ZERO + Span::from_secs(1) {
                law.on_aside(Bytes(aside));
                law.on_sent(now, Bytes(1_250));
                left += 1;
                now = law.next_send(0).expect("always");
            }
            left
        };
        assert_eq!([left(0), left(750), left(1_250), left(12_500)], [400, 250, 200, 200]);
    }
}
