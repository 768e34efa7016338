//! The sender of a stored video.

mod control;
mod due;
mod groups;
mod resends;
mod stream;
mod transmit;

use core::net::SocketAddr;
use std::collections::VecDeque;

use self::due::Due;
use self::groups::Groups;
use self::resends::Resends;
use self::stream::Stream;
use crate::law::breaker::Cause;
use crate::rng::Rng;
use crate::session::path::tokens::Tokens;
use crate::session::stored::{First, Media, Track, Unit};
use crate::session::{MAX_DATAGRAM, Session, Transmit};
use crate::time::{Span, Time};
use crate::wire;
use crate::wire::rtp::is_rtcp;
use crate::wire::stored::{FlowControl, MAX_TRACKS};

/// The periods without a message after which the sender pauses, as RFC 8083 §4.1 has it for reports.
const SILENT_PERIODS: u64 = 5;
/// The time without a message after which the sender pauses, at the least: a lost message is repeated within two periods.
const SILENCE: Span = Span::from_secs(1);
/// The time by which packets may be late and still leave at their rate, one right after the other: an event loop wakes up
/// that late.
const LATENESS: Span = Span::from_millis(4);

/// The configuration of a sender.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The key of the session, which its setup gives to both ends.
    pub key: u64,
    /// The streams, at most [`MAX_TRACKS`].
    pub tracks: Vec<Track>,
    /// The first frame to send.
    pub first: First,
    /// The media time after each period from which frames to skip are chosen, too. 0 for the paper's choice.
    pub horizon: Span,
    /// The unit of the rates that the receiver requests.
    pub unit: Unit,
}

/// An event of a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// A receiver has proved its address, and asked for the video.
    Started {
        /// The receiver's address.
        to: SocketAddr,
    },
    /// The receiver has been silent, and nothing is sent until it asks again.
    Paused,
    /// The receiver has said goodbye.
    Ended,
    /// The path does not carry the video (RFC 8083). Goodbyes are sent, and nothing else.
    Broken(Cause),
}

/// The message in force.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Request {
    message: FlowControl,
    received: Time,
    /// The end of the time whose share of frames was taken on.
    covered: Time,
    /// The time at which nominal pace began, and the decode time that belongs to it.
    origin: (Time, Span),
}

/// The sending side.
#[derive(Clone, PartialEq, Debug)]
pub struct Sender<M> {
    media: M,
    config: Config,
    tokens: Tokens,
    ssrc: u32,
    peer: Option<SocketAddr>,
    streams: Vec<Stream>,
    reports: Rng,
    due: Due,
    groups: Groups,
    request: Option<Request>,
    resends: Resends,
    echoes: VecDeque<(SocketAddr, u32)>,
    is_report_due: bool,
    /// The time of the next packet.
    next: Time,
    /// True while the media has no bytes for the next packet.
    is_starved: bool,
    goodbyes: Option<u8>,
    events: VecDeque<Event>,
    sent: u64,
    resent: u64,
}

impl Request {
    /// The time from which on nothing may be sent unless a message arrives.
    fn expires(&self) -> Time {
        self.received + SILENCE.max(self.message.period * SILENT_PERIODS)
    }
}

impl<M: Media> Sender<M> {
    /// A sender of `media` that waits for its receiver.
    pub fn new(media: M, config: Config, rng: &Rng) -> Sender<M> {
        let stream = |(nth, track): (usize, &Track)| Stream::new(*track, rng.fork(&format!("track {nth}")));
        let streams = config.tracks.iter().take(MAX_TRACKS).enumerate().map(stream).collect();
        let due = Due::new(&media, &config, rng.fork("selection"));
        Sender {
            media,
            tokens: Tokens::new(rng.key("tokens")),
            ssrc: rng.fork("ssrc").u32(),
            peer: None,
            streams,
            reports: rng.fork("reports"),
            due,
            groups: Groups::default(),
            request: None,
            resends: Resends::default(),
            echoes: VecDeque::new(),
            is_report_due: false,
            next: Time::ZERO,
            is_starved: false,
            goodbyes: None,
            events: VecDeque::new(),
            sent: 0,
            resent: 0,
            config,
        }
    }

    /// The video.
    pub fn media(&self) -> &M {
        &self.media
    }

    /// The video, to be given bytes; [`Sender::handle_media`] follows.
    pub fn media_mut(&mut self) -> &mut M {
        &mut self.media
    }

    /// Notifies the sender that the media has bytes again.
    pub fn handle_media(&mut self) {
        self.is_starved = false;
    }

    /// Sends goodbyes to the receiver, and nothing else from then on.
    pub fn finish(&mut self) {
        // Several, because any of them may be lost.
        self.goodbyes = Some(3);
    }

    /// Packets sent, retransmissions excluded, and retransmissions.
    pub fn sent(&self) -> (u64, u64) {
        (self.sent, self.resent)
    }
}

impl<M: Media> Session for Sender<M> {
    type Event = Event;

    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        if !is_rtcp(bytes) {
            return Err(wire::Error::Unknown);
        }
        self.on_control(now, from, bytes)
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.request.is_some_and(|request| now >= request.expires()) {
            self.request = None;
            self.streams.iter_mut().for_each(|stream| stream.outbound.cease());
            self.events.push_back(Event::Paused);
        }
        if let Some(cause) = self.streams.iter().find_map(|stream| stream.outbound.verdict(now))
            && self.goodbyes.is_none()
        {
            self.events.push_back(Event::Broken(cause));
            self.finish();
        }
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if let Some(control) = self.transmit_control(now, buf) {
            return Some(control);
        }
        if self.goodbyes.is_some() {
            return None;
        }
        let len = self.transmit_media(now, &mut buf[..MAX_DATAGRAM])?;
        Some(Transmit { to: self.peer?, len })
    }

    fn poll_timeout(&self) -> Option<Time> {
        let request = self.request.as_ref().filter(|_| self.goodbyes.is_none())?;
        let report = self.streams.iter().map(|stream| stream.outbound.next_report()).min();
        [Some(request.expires()), report, self.next_media()].into_iter().flatten().min()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
