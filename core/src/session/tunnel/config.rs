//! Configuration of a tunnel.

use core::ops::RangeInclusive;

use super::agreement;
use crate::law::rate::capped::Capped;
use crate::law::{ParameterError, rate, schedule};
use crate::session::stream::End;
use crate::session::{secure, stream};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// The highest rate: no network is faster, and no law asks for more. Ours: it keeps the arithmetic of pacing in its
/// range.
const FASTEST: Rate = Rate::from_mbps(1_000_000);

/// The configuration of an end.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Configuration of the associations. Their longest datagram bounds the frames of the stream.
    pub secure: secure::Config,
    /// Configuration of the streams. Both ends use the smaller frame and the smaller window, which takes memory only as
    /// it is used.
    pub stream: stream::Config,
    /// The rate law of this end; a fixed rate is one of [`Config::rates`].
    pub rate: rate::Choice,
    /// The schedule of what this end sends.
    pub schedule: schedule::Choice,
    /// A rate that is never exceeded, headers included; one of [`Config::rates`].
    pub max_rate: Option<Rate>,
    /// U_MAX: packets that are not innovative for each one that is, at least 0. For schedules that estimate it.
    pub max_overhead: f64,
    /// The time for which a link without an association is kept.
    pub resume: Span,
    /// Connections of one link at a time, as a client counts them. A server accepts twice as many: at the server each
    /// lasts until its program has read all of it.
    pub connections: usize,
    /// Links at a time, including those that wait for their client.
    pub links: usize,
    /// The limit of bytes that all links together keep unread, unsent or in flight, at least [`Config::LEAST_MEMORY`].
    /// A peer, which is a key or, if all share one, a link, has at most as much of it as is free: half of it if it is
    /// alone. At half of this share its credit is small and its new connections are refused; at all of it the
    /// connection with the most unread data is reset.
    pub memory: Bytes,
}

impl Default for Config {
    /// The defaults of `thalweg tunnel`. A peer counts as silent after 15 s.
    fn default() -> Config {
        let secure = secure::Config { keepalive: Span::from_secs(5), idle: Span::from_secs(15), ..Default::default() };
        Config {
            secure,
            stream: stream::Config { window: stream::MAX_WINDOW, ..Default::default() },
            rate: rate::Choice::default(),
            schedule: schedule::Choice::default(),
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
    /// The smallest memory: with less, a single connection could not hold what the peer may send before it receives
    /// more credit. Ours: a link alone may have half of it, twice the first credit.
    pub const LEAST_MEMORY: Bytes = Bytes(1 << 20);

    /// A stream as both ends of a link make it, but without an association.
    ///
    /// # Errors
    /// A value is out of its range; the error names it.
    pub fn stream(&self, now: Time) -> Result<End<schedule::Law, Capped<rate::Law>>, ParameterError> {
        agreement::stream(self, agreement::shape(self), now)
    }

    /// The valid rates: from one packet a second, headers included, since a slower stream seems to stand still, to 1
    /// Tb/s.
    pub fn rates(&self) -> RangeInclusive<Rate> {
        let packet = Bytes(self.stream.frame.saturating_add(self.stream.overhead) as u64);
        Rate::of(packet, Span::from_secs(1))..=FASTEST
    }
}
