//! A rate that was decided by somebody else: the baseline, and what the experiments of papers run at.

use super::{Allowance, Pacer, Report};
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// Always the same rate, whatever becomes of the packets.
#[derive(Clone, PartialEq, Debug)]
pub struct Fixed {
    rate: Rate,
    pacer: Pacer,
}

impl Fixed {
    /// Packets leave at `rate`, headers included; who comes late makes up for at most `slack`.
    pub fn new(rate: Rate, slack: Span) -> Fixed {
        Fixed { rate, pacer: Pacer::new(slack) }
    }
}

impl Allowance for Fixed {
    fn next_send(&self, _in_flight: u32) -> Option<Time> {
        Some(self.pacer.release())
    }

    fn on_sent(&mut self, now: Time, size: Bytes) {
        self.pacer.sent(now, self.rate.time_for(size));
    }

    fn on_report(&mut self, _report: &Report) {}

    fn on_silence(&mut self, _now: Time, _in_flight: u32) {}
}

impl Probe for Fixed {
    /// Shows `rate` in bits a second.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("rate", self.rate.as_bps() as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_packets_of_1200_bytes_take_960_ms_at_10_mbps() {
        let mut law = Fixed::new(Rate::from_mbps(10), Span::ZERO);
        let mut now = Time::ZERO;
        for in_flight in 0..1_000 {
            now = now.max(law.next_send(in_flight).expect("always"));
            law.on_sent(now, Bytes(1_200));
        }
        assert_eq!(law.next_send(1_000), Some(Time::ZERO + Span::from_millis(960)));
    }
}
