//! What a tunnel is told at its start.

use core::ops::RangeInclusive;

use crate::law::rate;
use crate::session::{secure, stream};
use crate::time::Span;
use crate::units::{Bytes, Rate};

/// No line is faster, and no law asks for more.
const FASTEST: Rate = Rate::from_mbps(1_000_000);

/// What an end is told at its start.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Of the associations. Its longest datagram bounds the stream's frames.
    pub secure: secure::Config,
    /// Of the streams. Both ends go by the smaller frame and the smaller window, which takes memory only as it is used.
    pub stream: stream::Config,
    /// The law that says how fast this end may send; a fixed rate is one of [`Config::rates`].
    pub rate: rate::Choice,
    /// A rate that is never exceeded, headers included; one of [`Config::rates`].
    pub max_rate: Option<Rate>,
    /// U_MAX: packets that tell the other end nothing new for each one that does, at least 0.
    pub max_overhead: f64,
    /// For how long a link without association is kept.
    pub resume: Span,
    /// Connections of one link at a time, as who opens them counts. The other end takes twice as many: there each lasts until
    /// its program has read all of it.
    pub connections: usize,
    /// Links at a time, those included that wait for their client.
    pub links: usize,
    /// Bytes that all links together may keep of what is unread, unsent, or under way, at least
    /// [`Config::LEAST_MEMORY`]. Of that a peer, which is a key or, where all share one, a link, has at most as much as
    /// nobody has: half of it alone. At half of that its credit is small and its new connections are refused; at all of
    /// it the one that has most to be read is broken off.
    pub memory: Bytes,
}

impl Default for Config {
    /// What `thalweg tunnel` has. The other end is missed after 15 s of silence.
    fn default() -> Config {
        let secure = secure::Config { keepalive: Span::from_secs(5), idle: Span::from_secs(15), ..Default::default() };
        Config {
            secure,
            stream: stream::Config { window: stream::MAX_WINDOW, ..Default::default() },
            rate: rate::Choice::default(),
            max_rate: None,
            max_overhead: 0.5,
            resume: Span::from_secs(60),
            connections: 1024,
            links: 256,
            memory: Bytes(256 << 20),
        }
    }
}

impl Config {
    /// With less a single connection could not have what the other end may send before it hears of credit.
    pub const LEAST_MEMORY: Bytes = Bytes(1 << 20);

    /// From one packet a second, headers included, for with less a stream seems to stand still, to 1 Tb/s.
    pub fn rates(&self) -> RangeInclusive<Rate> {
        let packet = Bytes(self.stream.frame.saturating_add(self.stream.overhead) as u64);
        Rate::of(packet, Span::from_secs(1))..=FASTEST
    }
}
