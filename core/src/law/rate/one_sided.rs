//! TFRC (RFC 5348) for a sender with per-packet acknowledgements: both halves of [`tfrc`](super::tfrc) in one place,
//! and acknowledgements in place of reports.
//!
//! | RFC 5348 | here |
//! |---|---|
//! | the receiver's arrivals (§6.1) | arrivals of acknowledgements: equally far apart, and one way later |
//! | R_sample = t_now - t_recvdata - t_delay (§4.3) | from sending to acknowledgement; t_delay passes here |
//! | a lost report | no effect: the next acknowledgement repeats it |

use super::tfrc::{Data, Equation, Receiver, Sender, TcpThroughput, receiver, sender};
use super::{Allowance, Config, Report};
use crate::law::ParameterError;
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// A TFRC, or a variant with another equation, that needs only acknowledgements from the peer.
#[derive(Clone, PartialEq, Debug)]
pub struct OneSided<E = TcpThroughput> {
    sender: Sender<E>,
    receiver: Receiver<E>,
}

impl OneSided {
    /// A sender that starts at `now`, and a local model of its receiver.
    ///
    /// # Errors
    /// The configuration does not pass [`sender::Config::check`].
    pub fn new(now: Time, config: sender::Config) -> Result<OneSided, ParameterError> {
        OneSided::with_equation(now, config, TcpThroughput::default())
    }
}

impl<E: Equation> OneSided<E> {
    /// The same with another equation.
    ///
    /// # Errors
    /// The configuration does not pass [`sender::Config::check`].
    pub fn with_equation(now: Time, config: sender::Config, equation: E) -> Result<OneSided<E>, ParameterError> {
        let receiver = Receiver::with_equation(receiver::Config::new(config.segment), equation.clone());
        Ok(OneSided { sender: Sender::with_equation(now, config, equation)?, receiver })
    }

    /// The same for a session.
    ///
    /// # Errors
    /// The values of `config` are out of TFRC's ranges.
    pub(super) fn within_session(config: &Config, equation: E) -> Result<OneSided<E>, ParameterError> {
        let tfrc = sender::Config::new(config.packet, config.most);
        OneSided::with_equation(config.now, sender::Config { granularity: config.slack, ..tfrc }, equation)
    }

    /// Changes the equation, in both halves; the next report is the first to use it.
    pub fn set_equation(&mut self, equation: E) {
        self.receiver.set_equation(equation.clone());
        self.sender.set_equation(equation);
    }
}

impl Entry<Config> for OneSided {
    const NAME: &'static str = "tfrc";
    const ABOUT: &'static str = "the throughput of a TCP, more steadily";
    type Parameters = ();

    fn start(_parameters: &(), config: &Config) -> Result<OneSided, ParameterError> {
        OneSided::within_session(config, TcpThroughput::default())
    }
}

impl<E: Equation> Allowance for OneSided<E> {
    fn next_send(&self, _in_flight: u32) -> Option<Time> {
        Some(self.sender.next_send())
    }

    fn rate(&self, _packet: Bytes, _srtt: Span) -> Rate {
        self.sender.rate()
    }

    fn on_sent(&mut self, now: Time, _size: Bytes) {
        self.sender.handle_timeout(now);
        // The session numbers the packets; a packet sent before its time does not change the schedule.
        self.sender.poll_packet(now);
    }

    fn on_delivered(&mut self, now: Time, number: u64, sent: Time, size: Bytes) {
        let data = Data { sequence: number, sent, rtt: self.sender.rtt() };
        self.receiver.handle_data(now, &data, size);
    }

    fn on_report(&mut self, report: &Report) {
        if let Some(feedback) = self.receiver.poll_feedback(report.now) {
            // A report that is refused changes nothing.
            let _ = self.sender.handle_feedback(report.now, &feedback);
        }
    }

    fn on_silence(&mut self, now: Time, _in_flight: u32) {
        self.sender.handle_timeout(now);
    }
}

impl<E: Equation> Probe for OneSided<E> {
    /// Shows `x`, the rate the path allows, and `rate`, the paced rate, in bits per second; `r` in seconds, and `p`.
    fn probe(&self, visit: &mut Visitor<'_>) {
        visit("x", 8.0 * self.sender.allowed());
        visit("rate", self.sender.rate().as_bps() as f64);
        visit("r", self.sender.rtt().map_or(f64::NAN, Span::as_secs_f64));
        visit("p", self.sender.loss_event_rate());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::units::Seconds;

    const RTT: Span = Span::from_millis(100);
    const PACKET: Bytes = Bytes(1_200);

    /// Sends whenever allowed, over a path of 100 ms that loses every `lossy`-th packet, until `end`; returns the
    /// number of packets sent in the last ten seconds.
    fn run(law: &mut OneSided<impl Equation>, lossy: u64, end: Time) -> u64 {
        let mut in_flight: VecDeque<(u64, Time)> = VecDeque::new();
        let (mut number, mut late) = (0, 0);
        loop {
            let leaves = law.next_send(0).expect("always");
            let heard = in_flight.front().map(|(_, sent)| *sent + RTT);
            if leaves.min(heard.unwrap_or(leaves)) > end {
                return late;
            }
            if let Some(heard) = heard.filter(|heard| *heard <= leaves) {
                let (number, sent) = in_flight.pop_front().expect("it was there");
                law.on_delivered(heard, number, sent, PACKET);
                law.on_report(&Report {
                    now: heard,
                    delivered: 1,
                    lost: 0,
                    in_flight: 1,
                    newest: Some(sent),
                    newest_lost: None,
                    rtt: Some(RTT),
                    srtt: Some(RTT),
                    limited: true,
                });
                continue;
            }
            law.on_sent(leaves, PACKET);
            late += u64::from(end.since(leaves) < Span::from_secs(10));
            if number % lossy != lossy - 1 {
                in_flight.push_back((number, leaves));
            }
            number += 1;
        }
    }

    fn law() -> OneSided {
        OneSided::new(Time::ZERO, sender::Config::new(PACKET, Rate::from_mbps(10))).expect("in range")
    }

    #[test]
    fn lossless_rate_converges_to_the_configured_rate() {
        let late = run(&mut law(), u64::MAX, Time::ZERO + Span::from_secs(20));
        let whole = 10e6 * 10.0 / 9_600.0;
        assert!((late as f64 / whole - 1.0).abs() < 0.01, "{late} of {whole}");
    }

    #[test]
    fn one_percent_loss_gives_the_rate_of_the_tcp_equation() {
        let late = run(&mut law(), 100, Time::ZERO + Span::from_secs(120));
        let predicted = TcpThroughput::default().rate(PACKET, Seconds(0.1), 0.01) * 10.0 / 1_200.0;
        assert!((late as f64 / predicted - 1.0).abs() < 0.1, "{late}, not {predicted}");
    }

    /// A third of the rate of a TCP.
    #[derive(Clone, PartialEq, Debug)]
    struct Third;

    impl Equation for Third {
        fn rate(&self, segment: Bytes, rtt: Seconds, p: f64) -> f64 {
            TcpThroughput::default().rate(segment, rtt, p) / 3.0
        }
    }

    #[test]
    fn another_equation_gives_its_own_rate() {
        let config = sender::Config::new(PACKET, Rate::from_mbps(10));
        let mut law = OneSided::with_equation(Time::ZERO, config, Third).expect("in range");
        let late = run(&mut law, 100, Time::ZERO + Span::from_secs(120));
        let predicted = Third.rate(PACKET, Seconds(0.1), 0.01) * 10.0 / 1_200.0;
        assert!((late as f64 / predicted - 1.0).abs() < 0.1, "{late}, not {predicted}");
    }
}
