//! The receiving side of a live stream.

mod arrivals;
mod calling;
mod candidates;
#[cfg(feature = "secure")]
mod carriable;
mod control;
mod decoder;
mod gaps;
mod presence;
mod replies;
mod reports;
mod sliding;
mod stats;
mod stream;
mod timeline;
mod window;

use core::net::SocketAddr;
use std::collections::VecDeque;

use super::interval_stats::IntervalStats;
use super::secret::{Halves, Secret};
use super::{DEFAULT_LATENCY, Ending, Latency, Media, Network, Playout};
use crate::metric::Metric;
use crate::rng::Rng;
use crate::session::path::tokens::Tokens;
use crate::session::{Session, Transmit};
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire::hello::Wanted;
use crate::wire::{self, rtp};
use calling::Calling;
use candidates::Candidates;
use replies::Replies;
use stats::{Counts, Latencies};
use stream::Stream;

/// The configuration of a receiver.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Time from input to output: of both ends' numbers the longer applies, and a number before what the path needs.
    pub latency: Latency,
    /// The playout mode.
    pub playout: Playout,
    /// The time for which a stream without media keeps other senders out.
    pub hold: Span,
    /// Networks of the senders that are accepted; empty for all.
    pub allow: Vec<Network>,
    /// The sender that is called, and the only one that is accepted; none if senders call.
    pub call: Option<SocketAddr>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            latency: DEFAULT_LATENCY.into(),
            playout: Playout::Asap,
            hold: DEFAULT_HOLD,
            allow: Vec::new(),
            call: None,
        }
    }
}

/// Default time for which a stream without media keeps other senders out. Ours: as long as a silent sender is waited
/// for; `recv --hold` changes it.
pub const DEFAULT_HOLD: Span = Span::from_secs(10);

/// An event of a receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A stream has begun, with the latency that both ends keep.
    Started {
        /// The sender.
        from: SocketAddr,
        /// The kind of its datagrams.
        media: Media,
        /// Time from input to output.
        latency: Span,
        /// The round trip that the latency follows from, if both ends leave it to the path.
        round_trip: Option<Span>,
    },
    /// The path has become longer, and so has the latency that both ends leave to it: the output stalls once by the
    /// difference, with [`Playout::Asap`] only if it waits for a packet.
    LatencyRaised {
        /// The latency before.
        from: Span,
        /// The latency from now on.
        to: Span,
        /// The round trip that the sender has measured.
        round_trip: Span,
    },
    /// The sender has proved a new address.
    Moved {
        /// The sender's new address.
        from: SocketAddr,
    },
    /// The latency at this rate takes more memory than a stream may use, so media is delivered before its time. At most
    /// once per stream.
    Early {
        /// Time from input to output that both ends keep.
        latency: Span,
        /// Time from input to output of the first packet that was early.
        after: Span,
        /// The memory that packets may take.
        memory: Bytes,
    },
    /// A peer speaks another version of the protocol; reported once.
    OtherVersion {
        /// The peer's address.
        from: SocketAddr,
        /// The peer's version.
        version: u8,
    },
    /// The sender that is called has another receiver, and calls continue; once until it accepts this one.
    Busy,
    /// No media has arrived for two seconds.
    Silent,
    /// The stream is over.
    Ended(Ending),
}

/// The receiving side.
#[derive(Clone, PartialEq, Debug)]
pub struct Receiver {
    config: Config,
    tokens: Tokens,
    halves: Halves,
    ssrc: u32,
    calling: Option<Calling>,
    stream: Option<Stream>,
    /// The secret of the previous stream: all but the first of its goodbyes arrive after its end.
    departed: Option<Secret>,
    candidates: Candidates,
    replies: Replies,
    /// True once another version of the protocol was reported.
    is_version_reported: bool,
    /// Goodbyes still to be sent, once `finish` was called.
    goodbyes: Option<u8>,
    counts: Counts,
    interval: IntervalStats<Counts>,
    latencies: Latencies,
    events: VecDeque<Event>,
}

impl Receiver {
    /// Every metric that [`crate::probe::Probe::probe`] shows.
    pub const METRICS: &[Metric] = &stats::METRICS;

    /// A receiver that waits for a stream.
    pub fn new(config: Config, rng: &Rng) -> Receiver {
        let ssrc = rng.fork("ssrc").u32();
        Receiver {
            calling: config.call.map(Calling::new),
            config,
            tokens: Tokens::new(rng.key("tokens")),
            halves: Halves::new(rng),
            ssrc,
            stream: None,
            departed: None,
            candidates: Candidates::default(),
            replies: Replies::new(ssrc),
            is_version_reported: false,
            goodbyes: None,
            counts: Counts::default(),
            interval: IntervalStats::new(Time::ZERO),
            latencies: Latencies::new(),
            events: VecDeque::new(),
        }
    }

    /// The next media datagram that is due by `now`, in order. To be drained like the other `poll_*`.
    pub fn poll_media(&mut self, now: Time) -> Option<&[u8]> {
        let latency = self.latency();
        let stream = self.stream.as_mut()?;
        let (missing, is_early) = stream.deliverable(now, latency, self.config.playout)?;
        self.counts.residual += missing;
        self.counts.early += u64::from(is_early);
        let reports_early = is_early && !stream.is_early_reported;
        stream.is_early_reported |= is_early;
        let (payload, produced) = stream.take(missing)?;
        if reports_early {
            self.events.push_back(Event::Early { latency, after: now.since(produced), memory: window::FULL });
        }
        self.counts.media_packets += 1;
        self.counts.media_bytes += payload.len() as u64;
        self.latencies.record(now.since(produced));
        Some(payload)
    }

    /// Sends goodbyes to the sender, if there is one, and nothing else from then on; the sender then stops sending
    /// media.
    pub fn finish(&mut self) {
        // Several, because any of them may be lost.
        self.goodbyes = Some(3);
    }

    /// The latency that both ends keep; without a stream that of this end, zero if it is left to the path.
    fn latency(&self) -> Span {
        let wanted = Wanted::from(self.config.latency);
        self.stream.as_ref().map_or(wanted.span, |stream| stream.hello.latency.agreed(wanted))
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

    /// Ends a stream whose sender has said goodbye, once all its media is delivered, or whose sender is gone; reports a
    /// stream that has fallen silent.
    fn check_stream(&mut self, now: Time) {
        let latency = self.latency();
        let Some(stream) = &mut self.stream else { return };
        if let Some(ending) = stream.ending(now) {
            self.departed = self.stream.take().map(|stream| stream.secret);
            self.events.push_back(Event::Ended(ending));
            return;
        }
        stream.forget(now, latency);
        if stream.presence.falls_silent(now) {
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
            // Datagrams of unknown peers use the path as well, but do not belong to the stream.
            Ok(()) if self.stream.as_ref().is_none_or(|stream| stream.from() != from) => {}
            Ok(()) => self.counts.wire_bytes += (Bytes(bytes.len() as u64) + super::overhead(from)).0,
            Err(_) => self.counts.rejected += 1,
        }
        outcome
    }

    fn handle_timeout(&mut self, now: Time) {
        self.check_stream(now);
        self.interval.tick(now, &self.counts);
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        self.poll_control(now, buf)
    }

    fn poll_timeout(&self) -> Option<Time> {
        if self.goodbyes == Some(0) {
            return None;
        }
        let stream = self.stream.as_ref().map(|stream| stream.next(self.latency(), self.config.playout));
        stream.into_iter().chain(self.call_due()).chain([self.interval.next()]).min()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
