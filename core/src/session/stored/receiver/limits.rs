//! Bounds on the requested rate: one that a user gives, the share of a TCP, and that of a trial.

use super::trial::{Gate, Measured, Trial};
use crate::law::rate::r3cp::Parameters;
use crate::law::rate::tfrc::{self, Data, Equation, TcpThroughput};
use crate::time::{Span, Time};
use crate::units::{Bytes, Seconds};

/// The size of packets with which the equation computes. Its rate in packets does not depend on it.
const SEGMENT: Bytes = Bytes(1_000);

/// Bounds on the requested rate.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Bounds {
    /// The greatest rate in packets per second. Above 0.
    pub max_rate: Option<f64>,
    /// True if the rate stays below the throughput of a TCP with the same loss events and round trip (RFC 5348 §3.1).
    pub fair: bool,
}

/// The bounds in force.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Limits {
    max_rate: Option<f64>,
    fair: Option<Fair>,
    pub(super) trial: Trial,
    /// The rate that a trial has reduced.
    reduced: Option<f64>,
}

/// The throughput of a TCP that loses as this receiver does.
#[derive(Clone, PartialEq, Debug)]
struct Fair {
    losses: tfrc::Receiver,
    /// The number of the first packet.
    base: Option<u64>,
    p: f64,
}

impl Limits {
    pub(super) fn new(bounds: Bounds) -> Limits {
        let losses = tfrc::Receiver::new(tfrc::receiver::Config::new(SEGMENT));
        let fair = bounds.fair.then_some(Fair { losses, base: None, p: 0.0 });
        Limits { max_rate: bounds.max_rate, fair, trial: Trial::default(), reduced: None }
    }

    /// Takes note of a packet that was not retransmitted.
    // Reading(RFC 5348 §5): loss events are those of the first track, the pictures. Sequence numbers of different tracks
    // have no common order.
    pub(super) fn on_packet(&mut self, now: Time, track: usize, number: u64, rtt: Span) {
        let Some(fair) = self.fair.as_mut().filter(|_| track == 0) else { return };
        let sequence = number.saturating_sub(*fair.base.get_or_insert(number));
        fair.losses.handle_data(now, &Data { sequence, sent: now, rtt: Some(rtt) }, SEGMENT);
        if let Some(feedback) = fair.losses.poll_feedback(now) {
            fair.p = feedback.p;
        }
    }

    /// Takes the measurements of a period, for the trial of a loss without delay.
    pub(super) fn measure(&mut self, now: Time, measured: Option<Measured>, parameters: &Parameters) {
        let delay = Span::from_secs_f64(parameters.gate.0);
        if let Some(measured) = measured.filter(|_| delay > Span::ZERO) {
            self.trial.measure(now, &measured, Gate { delay, p_high: parameters.p_high });
        }
    }

    /// The requested rate within the bounds, on a path with the round trip `rtt`.
    pub(super) fn apply(&mut self, rho: f64, rtt: Span, parameters: &Parameters) -> f64 {
        let fair = self.fair.as_ref().filter(|fair| fair.p > 0.0).map(|fair| {
            let rtt = Seconds(rtt.as_secs_f64().max(1e-6));
            TcpThroughput::default().rate(SEGMENT, rtt, fair.p) / SEGMENT.0 as f64
        });
        self.reduced = self.trial.is_reduced().then(|| self.reduced.unwrap_or(rho * parameters.dec_small));
        [self.max_rate, fair, self.reduced].into_iter().flatten().fold(rho, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_stays_below_the_given_one() {
        let mut limits = Limits::new(Bounds { max_rate: Some(100.0), fair: false });
        let parameters = Parameters::of_video(80.0);
        let bounded = [90.0, 130.0].map(|rho| limits.apply(rho, Span::from_millis(60), &parameters));
        assert_eq!(bounded, [90.0, 100.0]);
    }

    /// RFC 5348 §3.1 with p = 1/100 and R = 60 ms: f(p) = 0.089021 by the table of Linux, so X = 1 / (R f) packets per second.
    #[test]
    fn fair_rate_is_that_of_the_equation() {
        let rtt = Span::from_millis(60);
        let mut limits = Limits::new(Bounds { max_rate: None, fair: true });
        let parameters = Parameters::of_video(500.0);
        assert_eq!(limits.apply(500.0, rtt, &parameters), 500.0, "before the first loss");
        // Each hundredth packet is lost, one per 10 ms.
        for number in (0..5_000).filter(|number| number % 100 != 99) {
            limits.on_packet(Time::ZERO + Span::from_millis(10) * number, 0, 70_000 + number, rtt);
        }
        let expected = 1.0 / (0.06 * 0.089_021);
        let rate = limits.apply(500.0, rtt, &parameters);
        assert!((rate / expected - 1.0).abs() < 0.05, "{rate} {expected}");
    }
}
