//! The receiving side of a live stream.

mod arrivals;
mod control;
mod decoder;
mod greeting;
mod stats;
mod stream;
mod timeline;
mod window;

use core::net::SocketAddr;
use std::collections::VecDeque;

use super::second::Second;
use super::secret::{Halves, Secret};
use super::tokens::Tokens;
use super::{DEFAULT_LATENCY, Ending, Media, Metric, Network, Playout};
use crate::rng::Rng;
use crate::session::{Session, Transmit};
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire::{self, rtp};
use greeting::{Candidate, Reply};
use stats::{Counts, Latencies};
use stream::Stream;

/// What a receiver is told at its start.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Time from input to output; the larger of both ends' wins.
    pub latency: Span,
    /// When packets are handed out.
    pub playout: Playout,
    /// For so long a stream without media keeps the receiver from others.
    pub hold: Span,
    /// Networks whose senders it takes; none stands for all.
    pub allow: Vec<Network>,
}

impl Default for Config {
    fn default() -> Config {
        Config { latency: DEFAULT_LATENCY, playout: Playout::Asap, hold: DEFAULT_HOLD, allow: Vec::new() }
    }
}

/// Default time for which a stream without media keeps the receiver from others.
pub const DEFAULT_HOLD: Span = Span::from_secs(10);

/// What a receiver tells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Event {
    /// A stream has begun; this is the latency that both keep.
    Started {
        /// The sender.
        from: SocketAddr,
        /// What its datagrams are.
        media: Media,
        /// Time from input to output.
        latency: Span,
    },
    /// The sender has proved a new address.
    Moved {
        /// The sender's new address.
        from: SocketAddr,
    },
    /// The latency at this rate takes more memory than a stream may, and media is handed out before its time. Once a stream.
    Early {
        /// Time from input to output that both ends keep.
        latency: Span,
        /// Time from input to output of the first packet that was early.
        after: Span,
        /// What packets may take.
        memory: Bytes,
    },
    /// Somebody speaks another version of the protocol; told once.
    OtherVersion {
        /// Address of the sender.
        from: SocketAddr,
        /// Which.
        version: u8,
    },
    /// Nothing has come for a while.
    Silent,
    /// Over.
    Ended(Ending),
}

/// The receiving side.
#[derive(Clone, PartialEq, Debug)]
pub struct Receiver {
    config: Config,
    tokens: Tokens,
    halves: Halves,
    ssrc: u32,
    stream: Option<Stream>,
    /// Secret of the stream before: of its goodbyes all but the first arrive when it is over.
    departed: Option<Secret>,
    /// In the order of their hellos.
    candidates: Vec<Candidate>,
    /// Replies that wait, one for each datagram with a hello.
    replies: VecDeque<(SocketAddr, Reply)>,
    /// True once a sender of another version was refused.
    told_version: bool,
    /// Goodbyes that are still to be said, once that has begun.
    goodbyes: Option<u8>,
    counts: Counts,
    second: Second<Counts>,
    latencies: Latencies,
    events: VecDeque<Event>,
}

impl Receiver {
    /// Every metric that [`crate::probe::Probe::probe`] shows.
    pub const METRICS: &[Metric] = &stats::METRICS;

    /// A receiver that waits for a stream.
    pub fn new(config: Config, rng: &Rng) -> Receiver {
        Receiver {
            config,
            tokens: Tokens::new(rng),
            halves: Halves::new(rng),
            ssrc: rng.fork("ssrc").u32(),
            stream: None,
            departed: None,
            candidates: Vec::new(),
            replies: VecDeque::new(),
            told_version: false,
            goodbyes: None,
            counts: Counts::default(),
            second: Second::new(Time::ZERO),
            latencies: Latencies::new(),
            events: VecDeque::new(),
        }
    }

    /// The next media datagram whose time has come by `now`, in order. To be drained like the other `poll_*`.
    pub fn poll_media(&mut self, now: Time) -> Option<&[u8]> {
        let latency = self.latency();
        let stream = self.stream.as_mut()?;
        let (missing, is_early) = stream.ripe(now, latency, self.config.playout)?;
        self.counts.residual += missing;
        self.counts.early += u64::from(is_early);
        let tells = is_early && !stream.told_early;
        stream.told_early |= is_early;
        let (payload, produced) = stream.take(missing)?;
        if tells {
            self.events.push_back(Event::Early { latency, after: now.since(produced), memory: window::FULL });
        }
        self.counts.media_packets += 1;
        self.counts.media_bytes += payload.len() as u64;
        self.latencies.record(now.since(produced));
        Some(payload)
    }

    /// Says goodbye to the sender, if there is one, and nothing more: it stops sending media.
    pub fn finish(&mut self) {
        // One may be lost.
        self.goodbyes = Some(3);
    }

    /// The latency that both ends keep.
    fn latency(&self) -> Span {
        self.stream.as_ref().map_or(Span::ZERO, |stream| stream.hello.latency).max(self.config.latency)
    }

    /// Takes an RTP packet.
    fn on_packet(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        let header = rtp::Packet::parse(bytes)?.header;
        let is_ours = |stream: &Stream| stream.carries(header.ssrc) && stream.from() == from;
        if !self.stream.as_ref().is_some_and(is_ours) {
            self.begin(now, from, header.ssrc);
        }
        match self.stream.as_mut().filter(|stream| stream.carries(header.ssrc)) {
            Some(stream) if stream.from() == from => stream.on_packet(now, header, bytes, &mut self.counts),
            Some(stream) => {
                stream.address.consider(now, from, bytes.len(), false);
                self.counts.stray += 1;
                Ok(())
            }
            None => Err(wire::Error::Unknown),
        }
    }

    fn allows(&self, from: SocketAddr) -> bool {
        self.config.allow.is_empty() || self.config.allow.iter().any(|network| network.contains(from.ip()))
    }

    /// Ends a stream whose sender has gone once everything is handed out, and misses one that has gone quiet.
    fn check_stream(&mut self, now: Time) {
        let latency = self.latency();
        let Some(stream) = &mut self.stream else { return };
        if let Some(ending) = stream.ending(now) {
            self.departed = self.stream.take().map(|stream| stream.secret);
            self.events.push_back(Event::Ended(ending));
            return;
        }
        stream.forget(now, latency);
        if stream.falls_silent(now) {
            self.events.push_back(Event::Silent);
        }
    }
}

impl Session for Receiver {
    type Event = Event;

    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        let outcome = match rtp::is_rtcp(bytes) {
            _ if !self.allows(from) => Err(wire::Error::Unknown),
            true => self.on_control(now, from, bytes),
            false => self.on_packet(now, from, bytes),
        };
        match outcome {
            // What strangers send costs the path as well, but is none of the stream's.
            Ok(()) if self.stream.as_ref().is_none_or(|stream| stream.from() != from) => {}
            Ok(()) => self.counts.wire_bytes += (Bytes(bytes.len() as u64) + super::overhead(from)).0,
            Err(_) => self.counts.rejected += 1,
        }
        outcome
    }

    fn handle_timeout(&mut self, now: Time) {
        self.check_stream(now);
        self.second.tick(now, &self.counts);
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        self.poll_control(now, buf)
    }

    fn poll_timeout(&self) -> Option<Time> {
        if self.goodbyes == Some(0) {
            return None;
        }
        let stream = self.stream.as_ref().map(|stream| stream.next(self.latency(), self.config.playout));
        stream.into_iter().chain([self.second.next()]).min()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
