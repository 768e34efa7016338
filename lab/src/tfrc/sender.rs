//! The sending endpoint.

use thalweg_core::law::ParameterError;
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::tfrc::{Feedback, Sender, sender};
use thalweg_core::session::live::sender::GcaState;
use thalweg_core::time::Time;
use thalweg_core::units::{Bytes, Rate};

use super::Throughput;
use crate::node::{Node, Tallied, Tally};
use crate::packet::{Body, Packet};

/// The parameters of a sending endpoint.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// The flow that its packets belong to.
    pub flow: u32,
    /// The time at which its first packet leaves.
    pub start: Time,
    /// The time at which its media end, if they do.
    pub stop: Option<Time>,
    /// Size of every data packet on the wire.
    pub packet: Bytes,
    /// Rate of the media, headers included: never exceeded.
    pub rate: Rate,
    /// True if the rate follows each round-trip sample (RFC 5348 §4.5).
    pub damping: bool,
    /// The equation of the law.
    pub equation: Throughput,
}

impl Default for Config {
    /// 30 Mb/s in packets of 1500 bytes from time zero on.
    fn default() -> Config {
        Config {
            flow: 0,
            start: Time::ZERO,
            stop: None,
            packet: Bytes(1500),
            rate: Rate::from_mbps(30),
            damping: false,
            equation: Throughput::default(),
        }
    }
}

/// A sender that has something to send whenever its media rate allows.
#[derive(Clone, PartialEq, Debug)]
pub struct TfrcSender {
    config: Config,
    law: Sender<Throughput>,
    /// Packets received: reports, and packets of other kinds.
    taken: u64,
}

impl TfrcSender {
    /// A sender that has received no report yet.
    ///
    /// # Errors
    /// The law refuses the packet size or the rate.
    pub fn new(config: Config) -> Result<TfrcSender, ParameterError> {
        // Deviation(RFC 5348 §3.1): s includes the headers, as does every size on the lab's wires; so does the
        // receiver's s.
        let law = sender::Config { damping: config.damping, ..sender::Config::new(config.packet, config.rate) };
        Ok(TfrcSender { law: Sender::with_equation(config.start, law, config.equation)?, taken: 0, config })
    }

    /// Packets sent.
    pub fn sent(&self) -> u64 {
        self.law.sent()
    }

    /// The law, for its inner values.
    pub fn law(&self) -> &Sender<Throughput> {
        &self.law
    }

    /// The state of the law; none unless that is GCA and has had a report.
    pub fn gca(&self) -> Option<GcaState> {
        let Throughput::Gca(greediness) = self.config.equation else { return None };
        let allowed = Rate::from_bps((8.0 * self.law.allowed()) as u64);
        Some(GcaState { rtt: self.law.rtt()?, p: self.law.loss_event_rate(), allowed, greediness })
    }

    /// Makes the law GCA with these parameters, from the next report on.
    pub fn set_greediness(&mut self, greediness: Greediness) {
        self.config.equation = Throughput::Gca(greediness);
        self.law.set_equation(self.config.equation);
    }

    /// Replaces the allowed rate until the next report.
    pub fn set_allowed_rate(&mut self, rate: Rate) {
        self.law.set_allowed(rate.as_bps() as f64 / 8.0);
    }

    fn next_send(&self) -> Option<Time> {
        let next = self.law.next_send();
        self.config.stop.is_none_or(|stop| next < stop).then_some(next)
    }
}

impl Node for TfrcSender {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.taken += 1;
        if let Body::TfrcReport(report) = packet.body {
            // A report that was overtaken by a newer one is useless, and the law rejects it; nothing else can be wrong
            // with one.
            let _ = self.law.handle_feedback(now, &Feedback::from(report));
        }
    }

    fn next(&self) -> Option<Time> {
        let next = self.next_send()?;
        Some(self.law.poll_timeout().map_or(next, |timeout| next.min(timeout)))
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.law.handle_timeout(now);
        if self.next_send().is_none_or(|next| next > now) {
            return None;
        }
        let data = self.law.poll_packet(now)?;
        let body = Body::Tfrc(data);
        Some(Packet { flow: self.config.flow, size: self.config.packet, body })
    }
}

impl Tallied for TfrcSender {
    fn tally(&self) -> Tally {
        Tally { added: self.sent(), consumed: self.taken, ..Tally::default() }
    }
}
