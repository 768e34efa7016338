//! TFRC (RFC 5348) for a sender with per-packet acknowledgements: both halves of [`tfrc`](super::tfrc) in one place,
//! and acknowledgements in place of reports.
//!
//! | RFC 5348 | here |
//! |---|---|
//! | the receiver's arrivals (§6.1) | the times at which each packet's acknowledgement would have arrived if the receiver had not held it back: equally far apart, and one way later |
//! | the receiver's reports (§6.2) | its own, at the times at which they would have arrived; the sender gets them with the next acknowledgement |
//! | R_sample = t_now - t_recvdata - t_delay (§4.3) | t_delay includes the time for which the acknowledgement was held back |
//! | no-feedback timer (§4.4) | expires later by the time for which acknowledgements are held back |
//! | a lost report | no effect: the next acknowledgement repeats it |

use super::tfrc::{Data, Equation, Feedback, Receiver, Sender, TcpThroughput, receiver, sender};
use super::{Allowance, Config, Report};
use crate::law::ParameterError;
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// The longest time for which an acknowledgement that is held back delays the no-feedback timer. Ours: the longest
/// interval of a live receiver's reports.
const LONGEST_HOLD: Span = Span::from_secs(1);

/// A TFRC, or a variant with another equation, that needs only acknowledgements from the peer.
#[derive(Clone, PartialEq, Debug)]
pub struct OneSided<E = TcpThroughput> {
    sender: Sender<E>,
    receiver: Receiver<E>,
    /// Reports that wait for an acknowledgement, with the times at which they would have arrived. Each packet of one
    /// acknowledgement adds at most two.
    waiting: Vec<(Time, Feedback)>,
    /// The arrival of the first packet since the last acknowledgement.
    oldest: Option<Time>,
    /// The time for which acknowledgements are held back: the longest of late.
    hold: Span,
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
        let sender = Sender::with_equation(now, config, equation)?;
        Ok(OneSided { sender, receiver, waiting: Vec::new(), oldest: None, hold: Span::ZERO })
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

    /// X: the rate that the path allows.
    pub fn allowed_rate(&self) -> Rate {
        Rate::from_bps((8.0 * self.sender.allowed()) as u64)
    }

    /// Replaces X until the next report, for flows whose rates are coupled (RFC 8699 §6.2).
    pub fn set_allowed_rate(&mut self, rate: Rate) {
        self.sender.set_allowed(rate.as_bps() as f64 / 8.0);
    }

    /// R and p: the smoothed round trip and the loss event rate; none before the first report.
    pub fn path(&self) -> Option<(Span, f64)> {
        Some((self.sender.rtt()?, self.sender.loss_event_rate()))
    }

    /// Takes the receiver's report of `at`, if there is one.
    fn poll_receiver(&mut self, at: Time) {
        self.waiting.extend(self.receiver.poll_feedback(at).map(|feedback| (at, feedback)));
    }

    /// Handles the no-feedback timer, which runs later by the time for which reports are held back.
    fn handle_timeout(&mut self, now: Time) {
        self.sender.handle_timeout(now - self.hold);
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
        self.handle_timeout(now);
        // The session numbers the packets; a packet sent before its time does not change the schedule.
        self.sender.poll_packet(now);
    }

    fn on_delivered(&mut self, now: Time, number: u64, sent: Time, size: Bytes) {
        // The timer expires before this arrival.
        if let Some(timer) = self.receiver.poll_timeout().filter(|timer| *timer <= now) {
            self.poll_receiver(timer);
        }
        let data = Data { sequence: number, sent, rtt: self.sender.rtt() };
        self.receiver.handle_data(now, &data, size);
        self.poll_receiver(now);
        self.oldest.get_or_insert(now);
    }

    fn on_report(&mut self, report: &Report) {
        let held = self.oldest.take().map_or(Span::ZERO, |oldest| report.now.since(oldest));
        self.hold = held.max(self.hold * 7 / 8).min(LONGEST_HOLD);
        for (at, feedback) in self.waiting.drain(..) {
            let delay = feedback.delay + report.now.since(at);
            // A report that is refused changes nothing.
            let _ = self.sender.handle_feedback(report.now, &Feedback { delay, ..feedback });
        }
    }

    fn on_silence(&mut self, now: Time, _in_flight: u32) {
        self.handle_timeout(now);
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

    /// A path of 100 ms that loses every `lossy`-th packet, and whose receiver acknowledges once every `interval`; with
    /// an interval of zero, each packet.
    #[derive(Clone, Copy)]
    struct Path {
        lossy: u64,
        interval: Span,
    }

    impl Path {
        /// Acknowledges each packet.
        fn losing(lossy: u64) -> Path {
            Path { lossy, interval: Span::ZERO }
        }

        /// The time at which the sender has the acknowledgement of a packet sent at `sent`.
        fn heard(self, sent: Time) -> Time {
            let (arrives, interval) = ((sent + RTT).as_nanos(), self.interval.as_nanos());
            Time::from_nanos(if interval == 0 { arrives } else { arrives.div_ceil(interval) * interval })
        }
    }

    /// Sends whenever allowed until `end`; returns the number of packets sent in the last ten seconds, and the largest
    /// factor by which the rate has fallen at once in these.
    fn run(law: &mut OneSided<impl Equation>, path: Path, end: Time) -> (u64, f64) {
        let mut in_flight: VecDeque<(u64, Time)> = VecDeque::new();
        let (mut number, mut late, mut fall, mut rate) = (0, 0, 1.0, law.sender.allowed());
        loop {
            let leaves = law.next_send(0).expect("always");
            let heard = in_flight.front().map(|(_, sent)| path.heard(*sent));
            let now = leaves.min(heard.unwrap_or(leaves));
            if now > end {
                return (late, fall);
            }
            if heard == Some(now) {
                let mut newest = Time::ZERO;
                while let Some(&(number, sent)) = in_flight.front().filter(|(_, sent)| path.heard(*sent) == now) {
                    in_flight.pop_front();
                    law.on_delivered(sent + RTT, number, sent, PACKET);
                    newest = sent;
                }
                law.on_report(&Report {
                    now,
                    delivered: 1,
                    lost: 0,
                    in_flight: 1,
                    newest: Some(newest),
                    newest_lost: None,
                    rtt: Some(RTT),
                    srtt: Some(RTT),
                    limited: true,
                });
            } else {
                law.on_sent(leaves, PACKET);
                late += u64::from(end.since(leaves) < Span::from_secs(10));
                if number % path.lossy != path.lossy - 1 {
                    in_flight.push_back((number, leaves));
                }
                number += 1;
            }
            let before = core::mem::replace(&mut rate, law.sender.allowed());
            if end.since(now) < Span::from_secs(10) {
                fall = f64::max(fall, before / rate);
            }
        }
    }

    fn law() -> OneSided {
        OneSided::new(Time::ZERO, sender::Config::new(PACKET, Rate::from_mbps(10))).expect("in range")
    }

    #[test]
    fn lossless_rate_converges_to_the_configured_rate() {
        let (late, _) = run(&mut law(), Path::losing(u64::MAX), Time::ZERO + Span::from_secs(20));
        let whole = 10e6 * 10.0 / 9_600.0;
        assert!((late as f64 / whole - 1.0).abs() < 0.01, "{late} of {whole}");
    }

    #[test]
    fn one_percent_loss_gives_the_rate_of_the_tcp_equation() {
        let (late, _) = run(&mut law(), Path::losing(100), Time::ZERO + Span::from_secs(120));
        let predicted = TcpThroughput::default().rate(PACKET, Seconds(0.1), 0.01) * 10.0 / 1_200.0;
        assert!((late as f64 / predicted - 1.0).abs() < 0.1, "{late}, not {predicted}");
    }

    #[test]
    fn held_reports_change_the_rate_by_less_than_a_twentieth() {
        let end = Time::ZERO + Span::from_secs(120);
        for lossy in [u64::MAX, 1_000, 100, 20] {
            let (each, _) = run(&mut law(), Path::losing(lossy), end);
            // Half a round trip, and one. Five are longer than the no-feedback timer, and than the interval that RFC 5348
            // §8.2.1 expects: some round trips then count as data-limited.
            for (interval, tolerance) in [(50, 0.05), (100, 0.05), (500, 0.1)] {
                let interval = Span::from_millis(interval);
                let (held, fall) = run(&mut law(), Path { lossy, interval }, end);
                let ratio = held as f64 / each as f64;
                assert!((ratio - 1.0).abs() < tolerance, "1 of {lossy} lost, {interval:?}: {held} of {each}");
                assert!(fall < 1.5, "1 of {lossy} lost, {interval:?}: the rate fell by {fall} at once");
            }
        }
    }

    #[test]
    fn silence_still_halves_the_rate_of_a_sender_whose_reports_were_held() {
        let mut law = law();
        run(&mut law, Path { lossy: 100, interval: RTT }, Time::ZERO + Span::from_secs(60));
        let before = law.sender.allowed();
        law.on_silence(Time::ZERO + Span::from_secs(62), 10);
        assert!(law.sender.allowed() < 0.6 * before, "{} of {before}", law.sender.allowed());
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
        let (late, _) = run(&mut law, Path::losing(100), Time::ZERO + Span::from_secs(120));
        let predicted = Third.rate(PACKET, Seconds(0.1), 0.01) * 10.0 / 1_200.0;
        assert!((late as f64 / predicted - 1.0).abs() < 0.1, "{late}, not {predicted}");
    }
}
