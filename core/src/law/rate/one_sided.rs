//! TFRC (RFC 5348) where the sender hears of each packet: both halves of [`tfrc`](super::tfrc) in one place, and
//! acknowledgements in place of reports.
//!
//! | RFC 5348 | here |
//! |---|---|
//! | the receiver's arrivals (§6.1) | the acknowledgements', which are as far apart, and a way back later |
//! | R_sample = t_now - t_recvdata - t_delay (§4.3) | from sending to acknowledgement: t_delay is what waited here |
//! | a report lost on its way | nothing: the next acknowledgement tells the same |

use super::tfrc::{Data, Receiver, Sender, receiver, sender};
use super::{Allowance, Report};
use crate::law::ParameterError;
use crate::probe::{Probe, Visitor};
use crate::time::{Span, Time};
use crate::units::Bytes;

/// A TFRC that needs no help from the other end but acknowledgements.
#[derive(Clone, PartialEq, Debug)]
pub struct OneSided {
    sender: Sender,
    receiver: Receiver,
}

impl OneSided {
    /// A sender that starts at `now`, and the receiver that it imagines.
    ///
    /// # Errors
    /// The configuration does not pass [`sender::Config::check`].
    pub fn new(now: Time, config: sender::Config) -> Result<OneSided, ParameterError> {
        let receiver = Receiver::new(receiver::Config::new(config.segment));
        Ok(OneSided { sender: Sender::new(now, config)?, receiver })
    }
}

impl Allowance for OneSided {
    fn next_send(&self, _in_flight: u32) -> Option<Time> {
        Some(self.sender.next_send())
    }

    fn on_sent(&mut self, now: Time, _size: Bytes) {
        self.sender.handle_timeout(now);
        // Its number is the session's; what leaves before its time does not move the beat.
        self.sender.poll_packet(now);
    }

    fn on_delivered(&mut self, now: Time, number: u64, sent: Time, size: Bytes) {
        let data = Data { sequence: number, sent, rtt: self.sender.rtt() };
        self.receiver.handle_data(now, &data, size);
    }

    fn on_report(&mut self, report: &Report) {
        if let Some(feedback) = self.receiver.poll_feedback(report.now) {
            // A report that is of no use changes nothing.
            let _ = self.sender.handle_feedback(report.now, &feedback);
        }
    }

    fn on_silence(&mut self, now: Time, _in_flight: u32) {
        self.sender.handle_timeout(now);
    }
}

impl Probe for OneSided {
    /// Shows `x`, what the path would allow, and `rate`, what is paced, in bits a second; `r` in seconds, and `p`.
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

    use super::super::tfrc::{Equation, TcpThroughput};
    use super::*;
    use crate::units::{Rate, Seconds};

    const RTT: Span = Span::from_millis(100);
    const PACKET: Bytes = Bytes(1_200);

    /// Sends whenever it may, over a path of 100 ms that loses every `lossy`-th packet, until `end`; says how many left in
    /// the last ten seconds.
    fn run(law: &mut OneSided, lossy: u64, end: Time) -> u64 {
        let mut under_way: VecDeque<(u64, Time)> = VecDeque::new();
        let (mut number, mut late) = (0, 0);
        loop {
            let leaves = law.next_send(0).expect("always");
            let heard = under_way.front().map(|(_, sent)| *sent + RTT);
            if leaves.min(heard.unwrap_or(leaves)) > end {
                return late;
            }
            if let Some(heard) = heard.filter(|heard| *heard <= leaves) {
                let (number, sent) = under_way.pop_front().expect("it was there");
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
                under_way.push_back((number, leaves));
            }
            number += 1;
        }
    }

    fn law() -> OneSided {
        OneSided::new(Time::ZERO, sender::Config::new(PACKET, Rate::from_mbps(10))).expect("in range")
    }

    #[test]
    fn without_loss_it_gets_to_the_rate_that_it_was_told() {
        let late = run(&mut law(), u64::MAX, Time::ZERO + Span::from_secs(20));
        let whole = 10e6 * 10.0 / 9_600.0;
        assert!((late as f64 / whole - 1.0).abs() < 0.01, "{late} of {whole}");
    }

    #[test]
    fn one_loss_in_a_hundred_leaves_what_the_equation_says() {
        let late = run(&mut law(), 100, Time::ZERO + Span::from_secs(120));
        let says = TcpThroughput::default().rate(PACKET, Seconds(0.1), 0.01) * 10.0 / 1_200.0;
        assert!((late as f64 / says - 1.0).abs() < 0.1, "{late}, not {says}");
    }
}
