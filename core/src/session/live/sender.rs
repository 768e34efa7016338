//! The sending side of a live stream.

mod block;
mod brake;
mod config;
mod control;
mod description;
mod flow;
mod guard;
mod history;
mod leave;
mod peer;
mod protection;
mod pulse;
mod reports;
mod stats;
mod wishes;

use core::net::SocketAddr;
use std::collections::VecDeque;

pub use self::config::{Breaker, Config, Event, Repair, SourceId};
use super::second::Second;
use super::{Ending, MAX_PAYLOAD, Media, Metric};
use crate::law::breaker;
use crate::rng::Rng;
use crate::session::{Session, Transmit};
use crate::time::{Span, Time};
use crate::units::Bytes;
use crate::wire::{self, rtp};
use block::{Block, Encoders};
use brake::Brake;
use flow::Flow;
use history::History;
use peer::Peer;
use protection::Protection;
use reports::Reports;
use stats::Counts;
use wishes::Wishes;

/// One RTP stream that leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stream {
    ssrc: u32,
    payload_type: u8,
    /// Sequence number of the next packet.
    next: u64,
}

impl Stream {
    fn new(payload_type: u8, rng: &mut Rng) -> Stream {
        // Numbers begin within the lower half, so that the first packets do not wrap (RFC 3711 asks for the same).
        Stream { ssrc: rng.u32(), payload_type, next: (1 << 16) + rng.below(1 << 15) }
    }
}

/// The end of a session, in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Farewell {
    at: Time,
    left: u8,
    ending: Ending,
}

/// The sending side.
#[derive(Clone, PartialEq, Debug)]
pub struct Sender {
    config: Config,
    peer: Peer,
    source: Stream,
    repair: Stream,
    timestamp_base: u32,
    sbn: u32,
    /// The block that takes media, and when it closes.
    open: Option<(Block, Time)>,
    /// When the last block closed.
    closed: Option<Time>,
    leaving: VecDeque<Block>,
    spare: Vec<Block>,
    encoders: Encoders,
    /// Bytes of control that left since the last block closed.
    control_bytes: u64,
    /// When everything that waits will have left.
    free_at: Time,
    protection: Protection,
    /// True while it is said that repair comes too late.
    is_late_said: bool,
    /// True once it was said that blocks have few packets.
    is_few_said: bool,
    brake: Brake,
    breaker: breaker::Breaker,
    verdict: Option<breaker::Cause>,
    history: History,
    reports: Reports,
    flow: Flow,
    wishes: Wishes,
    counts: Counts,
    second: Second<Counts>,
    farewell: Option<Farewell>,
    ended: bool,
    events: VecDeque<Event>,
}

impl Sender {
    /// Every metric that [`crate::probe::Probe::probe`] shows.
    pub const METRICS: &[Metric] = &stats::METRICS;

    /// A sender that says hello at once.
    pub fn new(config: Config, now: Time, rng: &Rng) -> Sender {
        let mut draw = rng.fork("streams");
        let media_type = match config.media {
            Media::Mp2t => rtp::MP2T,
            Media::Opaque => super::OPAQUE,
        };
        let mut sender = Sender {
            peer: Peer::new(config.to, now, rng),
            source: Stream::new(media_type, &mut draw),
            repair: Stream::new(super::REPAIR, &mut draw),
            timestamp_base: draw.u32(),
            sbn: 0,
            open: None,
            closed: None,
            leaving: VecDeque::new(),
            spare: Vec::new(),
            encoders: Encoders::default(),
            control_bytes: 0,
            free_at: now,
            protection: Protection::new(&config.repair, config.block),
            is_late_said: false,
            is_few_said: false,
            brake: Brake::new(guard::p_max(&config.repair)),
            breaker: breaker::Breaker::new(guard::BREAKER),
            verdict: None,
            history: History::default(),
            reports: Reports::default(),
            flow: Flow::default(),
            wishes: Wishes::default(),
            counts: Counts::default(),
            second: Second::new(now),
            farewell: None,
            ended: false,
            events: VecDeque::new(),
            config,
        };
        sender.fit_latency();
        sender
    }

    /// Takes a media datagram that the source has produced now. It is dropped, and counted, while nobody has answered,
    /// or reports and none goes with the last hello, and if it is longer than [`MAX_PAYLOAD`].
    pub fn handle_media(&mut self, now: Time, payload: &[u8]) {
        self.counts.media_packets += 1;
        self.counts.media_bytes += payload.len() as u64;
        self.close_due(now);
        let interval = self.protection.interval();
        if payload.len() > MAX_PAYLOAD || !self.wants_media() || !self.peer.takes_media(now, interval) {
            self.counts.unsent += 1;
            return;
        }
        self.flow.push(now, payload.len());
        let header = rtp::Header {
            marker: false,
            payload_type: self.source.payload_type,
            sequence: self.source.next as u16,
            timestamp: self.timestamp(now),
            ssrc: self.source.ssrc,
        };
        let (mut block, closes) = self.open.take().unwrap_or_else(|| self.open_block(now));
        block.push(now, header, payload);
        self.source.next += 1;
        if block.is_full() || self.protection.is_none() {
            self.close(block, now);
        } else {
            self.open = Some((block, closes));
        }
    }

    /// Says goodbye as soon as everything that waits has left; [`Event::Ended`] follows.
    pub fn finish(&mut self, now: Time) {
        if let Some((block, closes)) = self.open.take() {
            // In its own time: a block cut short would get the repair of a short one.
            self.close(block, closes.max(now));
        }
        self.part(now, Ending::Bye);
    }

    /// Takes note that the network says that nobody is where this stream goes. Media stops unless a report comes soon:
    /// who says so may be wrong.
    pub fn handle_unreachable(&mut self, now: Time) {
        self.peer.on_unreachable(now);
    }

    /// Whether media is wanted: a file need not be read before.
    pub fn is_connected(&self) -> bool {
        self.wants_media()
    }

    /// Whether packets leave at times of their own, rather than as the source produces them.
    pub fn is_paced(&self) -> bool {
        !self.protection.is_none()
    }

    /// The latency that both ends keep.
    pub fn latency(&self) -> Span {
        self.config.latency.max(self.peer.latency())
    }

    fn is_plain(&self) -> bool {
        self.config.source_id == SourceId::Plain
    }

    fn has_payload_ids(&self) -> bool {
        !self.is_plain() && !self.protection.is_none()
    }

    /// Whether anybody could make use of repair: beside the media it harms plain receivers that know nothing of it.
    fn has_listener(&self) -> bool {
        self.config.fec_to.is_some() || self.peer.is_connected()
    }

    fn wants_media(&self) -> bool {
        let has_receiver = self.peer.is_connected() || (self.is_plain() && self.peer.knocking_since().is_some());
        has_receiver && self.farewell.is_none() && !self.ended
    }

    fn fit_latency(&mut self) {
        let round_trip = self.peer.round_trip().unwrap_or(Span::ZERO);
        self.protection.set_budget(self.latency(), round_trip);
        // The receiver may want a longer latency, which is known once it has answered.
        let is_final = self.is_plain() || self.peer.is_connected();
        let is_late = self.protection.is_hopeless();
        if !is_final || core::mem::replace(&mut self.is_late_said, is_late) == is_late {
            return;
        }
        self.events.push_back(match is_late {
            true => Event::TooShort { round_trip, needed: self.protection.needed(round_trip) },
            false => Event::InTime,
        });
    }

    /// Begins to end the session; media that waits still leaves.
    fn part(&mut self, now: Time, ending: Ending) {
        if self.farewell.is_none() && !self.ended {
            let reachable = self.peer.is_connected() || self.is_plain();
            self.farewell = Some(Farewell { at: now, left: if reachable { leave::GOODBYES } else { 0 }, ending });
        }
    }

    /// Ends what has become hopeless.
    fn check_peer(&mut self, now: Time) {
        if self.gone_at().is_some_and(|gone| gone <= now) {
            self.fall_silent(Event::Silent);
        }
        if self.answer_due().is_some_and(|due| due <= now) {
            self.part(now, if self.peer.is_busy() { Ending::Busy } else { Ending::NoAnswer });
        }
    }

    /// When a receiver that stays silent is given up.
    fn gone_at(&self) -> Option<Time> {
        self.peer.gone_at(self.protection.interval())
    }

    /// Sends no more media until a receiver answers again, for the reason that `event` tells.
    fn fall_silent(&mut self, event: Event) {
        self.peer.give_up();
        self.leaving.clear();
        self.open = None;
        if self.config.breaker != Breaker::Rfc8083 {
            // A session that waits for its receiver floods nobody; the letter ends it (§4.1).
            self.breaker.cease();
        }
        self.events.push_back(event);
    }

    /// By when somebody must have answered the first hello.
    fn answer_due(&self) -> Option<Time> {
        let since = self.peer.knocking_since().filter(|_| !self.is_plain())?;
        Some(since + self.config.answer_timeout?)
    }
}

impl Session for Sender {
    type Event = Event;

    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        let outcome = if rtp::is_rtcp(bytes) { self.on_control(now, from, bytes) } else { Err(wire::Error::Unknown) };
        self.counts.rejected += u64::from(outcome.is_err());
        outcome
    }

    fn handle_timeout(&mut self, now: Time) {
        if !self.ended {
            self.close_due(now);
            self.check_peer(now);
            self.check_guard(now);
        }
        self.second.tick(now, &self.counts);
        self.history.forget(now - history::MEMORY);
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let transmit = self.poll_control(now, buf).or_else(|| self.poll_packet(now, buf))?;
        self.counts.wire_bytes += (Bytes(transmit.len as u64) + super::overhead(transmit.to)).0;
        Some(transmit)
    }

    fn poll_timeout(&self) -> Option<Time> {
        if self.ended {
            return None;
        }
        let closes = self.open.as_ref().map(|(_, closes)| *closes);
        let waits =
            [closes, self.departure_due(), self.gone_at(), self.answer_due(), self.farewell_due(), self.hello_due()];
        waits.into_iter().flatten().chain([self.second.next()]).min()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
