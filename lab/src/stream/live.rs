//! The live profile as end nodes: the very sessions that run on sockets, with real datagrams, fed by a media clock.
//!
//! Their counters are those of the pure pair as far as the sessions know them. A sender settles what is lost out of
//! RFC 8888 feedback, so that losses and bursts are counted there, and blocks need no number here: the window is
//! looked at once a SYN.

use core::net::SocketAddr;

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::Repair;
use thalweg_core::session::live::{MAX_PAYLOAD, receiver as hearing, sender as saying};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::counters::{Received, Sent};
use super::media::MediaClock;
use crate::node::{Node, Tallied, Tally};
use crate::packet::{Body, Packet};

/// How often the window is looked at: a SYN of the paper.
const SAMPLE: Span = Span::from_millis(10);

/// What the sending end is told at its start.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The flow that its datagrams belong to.
    pub flow: u32,
    /// The session; its receiver stands at `to`.
    pub session: saying::Config,
    /// When the source produces its first datagram; what comes before the receiver has answered is not sent.
    pub start: Time,
    /// When the source ends, and the session says goodbye.
    pub stop: Option<Time>,
    /// Rate of the media, without headers. Above zero.
    pub rate: Rate,
    /// Size of a media datagram, without headers. 1 byte to [`MAX_PAYLOAD`].
    pub payload: Bytes,
}

/// A live sender and its source.
#[derive(Clone, PartialEq, Debug)]
pub struct Sender {
    config: Config,
    session: saying::Sender,
    media: MediaClock,
    /// Media datagrams that were produced.
    produced: u64,
    finished: bool,
    sampled: Sent,
    sample_at: Time,
    line: Line,
}

/// A live receiver, whose media nobody watches.
#[derive(Clone, PartialEq, Debug)]
pub struct Receiver {
    session: hearing::Receiver,
    sender: SocketAddr,
    line: Line,
}

/// What a node needs beside its session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Line {
    flow: u32,
    /// Since when the session has had something to say, perhaps.
    stirred: Option<Time>,
    sent: u64,
    taken: u64,
}

impl Line {
    fn new(flow: u32) -> Line {
        Line { flow, stirred: None, sent: 0, taken: 0 }
    }

    /// Hands a packet that came to the session.
    fn hear(&mut self, session: &mut impl Session, now: Time, from: SocketAddr, packet: &Packet) {
        self.taken += 1;
        self.stirred = Some(now);
        if let Body::Datagram(bytes) = &packet.body {
            // The session counts what it refuses.
            let _ = session.handle_datagram(now, from, bytes);
        }
    }

    /// The next datagram of the session; when there is none, it rests until something happens.
    fn say(&mut self, session: &mut impl Session, now: Time) -> Option<Packet> {
        let mut buf = [0; MAX_DATAGRAM];
        // Once more, since what is said last may make room for what is due: goodbyes come behind all media.
        for _ in 0..2 {
            if session.poll_timeout().is_some_and(|due| due <= now) {
                session.handle_timeout(now);
            }
            if let Some(transmit) = session.poll_transmit(now, &mut buf) {
                self.stirred = Some(now);
                self.sent += 1;
                return Some(Packet::datagram(self.flow, buf[..transmit.len].to_vec()));
            }
        }
        while session.poll_event().is_some() {}
        self.stirred = None;
        None
    }

    fn tally(&self) -> Tally {
        Tally { added: self.sent, consumed: self.taken, ..Tally::default() }
    }
}

impl Sender {
    /// A sender that says hello at time zero.
    ///
    /// # Panics
    /// The rate is zero, or the payload empty or too long.
    pub fn new(config: Config, rng: &Rng) -> Sender {
        let payload = config.payload;
        assert!(config.rate.as_bps() > 0 && (1..=MAX_PAYLOAD as u64).contains(&payload.0), "impossible: {config:?}");
        Sender {
            session: saying::Sender::new(config.session.clone(), Time::ZERO, rng),
            media: MediaClock { start: config.start, rate: config.rate, packet: payload },
            produced: 0,
            finished: false,
            sampled: Sent::default(),
            sample_at: config.start,
            line: Line { stirred: Some(Time::ZERO), ..Line::new(config.flow) },
            config,
        }
    }

    /// The counters of [`super::sender::Sender::sent`]. A block is a sample of the window here.
    pub fn sent(&self) -> Sent {
        let count = |name| shown(&self.session, name) as u64;
        Sent { source: count("source_packets_total"), repair: count("repair_packets_total"), ..self.sampled }
    }

    /// When the source produces its next datagram.
    fn produces(&self) -> Option<Time> {
        let next = self.media.at(self.produced);
        self.config.stop.is_none_or(|stop| next < stop).then_some(next)
    }

    /// When the source ends, unless it has.
    fn finishes(&self) -> Option<Time> {
        self.config.stop.filter(|_| !self.finished)
    }

    /// Gives the session what the source has produced by now.
    fn produce(&mut self, now: Time) {
        while self.produces().is_some_and(|due| due <= now) {
            let mut payload = [0; MAX_PAYLOAD];
            payload[..8].copy_from_slice(&self.produced.to_be_bytes());
            self.session.handle_media(now, &payload[..self.config.payload.0 as usize]);
            self.produced += 1;
        }
        if self.finishes().is_some_and(|stop| stop <= now) {
            self.session.finish(now);
            self.finished = true;
        }
    }

    /// When the window is looked at next, while there is media.
    fn samples(&self) -> Option<Time> {
        self.config.stop.is_none_or(|stop| self.sample_at < stop).then_some(self.sample_at)
    }

    fn sample(&mut self) {
        self.sample_at += SAMPLE;
        let window = shown(&self.session, "repair_window_packets");
        let w = shown(&self.session, "w_packets");
        let widest = match &self.config.session.repair {
            Repair::Geneva(law) => law.parameters().fwnd_max,
            Repair::None | Repair::Static(_) => f64::INFINITY,
        };
        self.sampled.blocks += 1;
        self.sampled.windows += window;
        self.sampled.widest += u64::from(window >= widest);
        if !w.is_nan() {
            self.sampled.w_blocks += 1;
            self.sampled.w += w;
        }
    }
}

impl Receiver {
    /// A receiver that waits for a stream from `sender`.
    pub fn new(flow: u32, session: hearing::Config, sender: SocketAddr, rng: &Rng) -> Receiver {
        Receiver { session: hearing::Receiver::new(session, rng), sender, line: Line::new(flow) }
    }
}

/// The counters of [`super::receiver::Receiver::received`]: losses as the sender has settled them, media as the receiver
/// has handed it out.
pub fn received(sender: &Sender, receiver: &Receiver) -> Received {
    let settled = |name| shown(&sender.session, name) as u64;
    let ended = |name| shown(&receiver.session, name) as u64;
    let (lost, recovered) = (settled("lost_packets_total"), ended("media_packets_total"));
    Received {
        packets: settled("delivered_packets_total") + lost,
        lost,
        bursts: settled("bursty_events_total"),
        source: recovered + ended("residual_lost_packets_total"),
        recovered,
    }
}

/// A metric of a session by its name.
fn shown(session: &impl Probe, name: &str) -> f64 {
    let mut found = f64::NAN;
    session.probe(&mut |metric, value| {
        if metric == name {
            found = value;
        }
    });
    found
}

impl Node for Sender {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.line.hear(&mut self.session, now, self.config.session.to, &packet);
    }

    fn next(&self) -> Option<Time> {
        let waits = [self.line.stirred, self.session.poll_timeout(), self.produces(), self.finishes(), self.samples()];
        waits.into_iter().flatten().min()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.produce(now);
        while self.samples().is_some_and(|due| due <= now) {
            self.sample();
        }
        self.line.say(&mut self.session, now)
    }
}

impl Node for Receiver {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.line.hear(&mut self.session, now, self.sender, &packet);
    }

    fn next(&self) -> Option<Time> {
        self.line.stirred.into_iter().chain(self.session.poll_timeout()).min()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        let packet = self.line.say(&mut self.session, now);
        while self.session.poll_media(now).is_some() {}
        packet
    }
}

impl Tallied for Sender {
    fn tally(&self) -> Tally {
        self.line.tally()
    }
}

impl Tallied for Receiver {
    fn tally(&self) -> Tally {
        self.line.tally()
    }
}

impl Probe for Sender {
    /// Shows the metrics of the session.
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.session.probe(visit);
    }
}

impl Probe for Receiver {
    /// Shows the metrics of the session.
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.session.probe(visit);
    }
}
