//! The sending side of a live stream.

mod advice;
mod block;
mod blocks;
mod brake;
mod budget;
#[cfg(feature = "secure")]
mod carriable;
mod config;
mod control;
mod coupling;
mod credit;
mod description;
mod flow;
mod guard;
mod history;
mod immediate;
mod keepalive;
mod listening;
mod path_latency;
mod peer;
mod phase;
mod planning;
mod post_repair;
mod protection;
mod rate_limit;
mod rate_requests;
mod recording;
mod reports;
mod sliding;
mod stats;
mod streams;
mod transmit;

use core::net::SocketAddr;
use std::collections::VecDeque;

pub use self::budget::MediaBudget;
pub use self::config::{Breaker, Config, Event, SourceId, redundancy};
pub use self::coupling::GcaState;
pub use self::recording::{Outcome, Passage, Recording, Return};
use super::interval_stats::IntervalStats;
use super::{Ending, max_payload};
use crate::law::redundancy::Redundancy;
use crate::law::schedule::in_order::InOrder;
use crate::metric::Metric;
use crate::rng::Rng;
use crate::session::{Session, Transmit};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};
use crate::wire::hello::Delivery;
use crate::wire::{self, rtp};
use advice::Advice;
use blocks::Blocks;
use budget::MediaShare;
use credit::Credit;
use flow::Flow;
use guard::Guard;
use history::History;
use listening::Callers;
use path_latency::PathLatency;
use peer::Peer;
use phase::Phase;
use post_repair::PostRepair;
use protection::Protection;
use rate_limit::RateLimit;
use rate_requests::RateRequests;
use reports::Reports;
use sliding::Sliding;
use stats::Counts;
use streams::Streams;

/// The sender of a live stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Sender {
    config: Config,
    peer: Peer,
    path_latency: PathLatency,
    /// Replies to receivers that call.
    callers: Callers,
    streams: Streams,
    blocks: Blocks,
    /// The media of a stream without blocks, and the repair that it may send.
    sliding: Option<Sliding>,
    credit: Credit,
    /// Bytes of control sent since the last block closed.
    control_bytes: u64,
    /// The answer to "how much do I protect?": the law of redundancy, fitted to the source's blocks.
    protection: Protection,
    advice: Advice,
    /// The answer to "what goes into the next packet?".
    schedule: InOrder,
    /// The part of the bytes sent that is media.
    media_share: MediaShare,
    /// True if the source leaves the rate that repair needs.
    follows_budget: bool,
    guard: Guard,
    history: History,
    reports: Reports,
    post_repair: PostRepair,
    /// The latency of the media that the receiver has delivered, as it reports it.
    delivery: Option<Delivery>,
    flow: Flow,
    /// The answer to "how fast may I send?": the running rate law; none without `Config::rate`, and before the first
    /// block. Without a rate law, `Sender::plan` (`planning.rs`) gives that answer when it plans a block: with
    /// `Config::max_rate`, or, if there is none, the rate of the source and its repair.
    rate_limit: Option<RateLimit>,
    rate_requests: RateRequests,
    counts: Counts,
    interval: IntervalStats<Counts>,
    phase: Phase,
    events: VecDeque<Event>,
}

impl Sender {
    /// Every metric that [`crate::probe::Probe::probe`] shows.
    pub const METRICS: &[Metric] = &stats::METRICS;

    /// A sender whose first hello is due at once.
    pub fn new(config: Config, now: Time, rng: &Rng) -> Sender {
        let mut sender = Sender {
            peer: Peer::new(config.to, config.listens, now, rng),
            path_latency: PathLatency::new(config.latency),
            callers: Callers::default(),
            streams: Streams::new(config.media, &mut rng.fork("streams")),
            blocks: Blocks::new(now),
            sliding: config.repair.deadline().map(Sliding::new),
            credit: Credit::new(),
            control_bytes: 0,
            protection: Protection::new(&config.repair, config.block),
            advice: Advice::default(),
            schedule: InOrder,
            media_share: MediaShare::default(),
            follows_budget: false,
            guard: Guard::new(config.breaker, config.repair.p_max()),
            history: History::default(),
            reports: Reports::default(),
            post_repair: PostRepair::default(),
            delivery: None,
            flow: Flow::default(),
            rate_limit: None,
            rate_requests: RateRequests::default(),
            counts: Counts::default(),
            interval: IntervalStats::new(now),
            phase: Phase::Open,
            events: VecDeque::new(),
            config,
        };
        sender.fit_latency();
        sender
    }

    /// Takes a media datagram that the source has produced now.
    ///
    /// The datagram is dropped, and counted, in three cases: it is longer than [`max_payload`]; no receiver has
    /// answered yet, and the stream is not plain RTP; or the receiver sends no reports, and a datagram has been sent
    /// since the last hello.
    pub fn handle_media(&mut self, now: Time, payload: &[u8]) {
        self.counts.media_packets += 1;
        self.counts.media_bytes += payload.len() as u64;
        self.close_due(now);
        self.close_interval_due(now);
        let interval = self.protection.interval();
        if payload.len() > max_payload(self.config.to) || !self.wants_media() || !self.peer.takes_media(now, interval) {
            self.counts.unsent += 1;
            return;
        }
        self.flow.push(now, payload.len());
        if let Some(sliding) = &mut self.sliding {
            sliding.push(now, self.streams.header(self.streams.source, now), payload);
            let packet = (rtp::HEADER_LEN + payload.len()) as u64 + self.headers();
            return self.start_rate_law(now, Bytes(packet));
        }
        let (source, length) = (self.streams.source, self.protection.block());
        let (mut block, closes_at) = self.blocks.take_open_or_new(now, length, source.next);
        block.push(now, self.streams.header(source, now), payload);
        self.streams.source.next += 1;
        if block.is_full() || self.protection.is_none() {
            self.close(block, now);
        } else {
            self.blocks.keep_open(block, closes_at);
        }
    }

    /// Says goodbye as soon as all queued media has left; [`Event::Ended`] follows.
    pub fn finish(&mut self, now: Time) {
        if let Some((block, closes_at)) = self.blocks.take_open() {
            // The block closes when it would have closed anyway: cut short, it would get the repair of a short block.
            self.close(block, closes_at.max(now));
        }
        self.part(now, Ending::Bye);
    }

    /// Takes note that the network (ICMP) declares the destination of this stream unreachable. Media stops unless a
    /// report of the receiver arrives soon, since ICMP messages can be wrong or forged.
    pub fn handle_unreachable(&mut self, now: Time) {
        self.peer.on_unreachable(now);
    }

    /// True if the stream takes media: a source such as a file need not be read before.
    pub fn is_connected(&self) -> bool {
        self.wants_media()
    }

    /// True if the sender paces packets, and does not send them as soon as the source produces them.
    pub fn is_paced(&self) -> bool {
        !self.protection.is_none() && self.sliding.is_none()
    }

    /// The media rate that the source should not exceed: what the rate law leaves, or a lower one that the brake requests.
    /// None without a rate law while the source need not reduce its rate, and before the first block.
    pub fn wanted_rate(&self) -> Option<Rate> {
        let left = self.rate_limit.as_ref().and_then(|limit| self.media_share.of(limit.rate()));
        self.rate_requests.wanted(left)
    }

    /// The latency that both ends keep.
    pub fn latency(&self) -> Span {
        self.path_latency.wanted(self.peer.round_trip()).agreed(self.peer.latency())
    }

    /// Records the passage of each packet and of each report from now on. Without [`Sender::take_recording`] the record grows
    /// as long as the session lasts.
    pub fn record(&mut self) {
        self.history.record();
    }

    /// The record since [`Sender::record`], which then ends; none without one.
    pub fn take_recording(&mut self) -> Option<Recording> {
        self.history.take_recording()
    }

    fn is_plain(&self) -> bool {
        self.config.source_id == SourceId::Plain
    }

    /// True if media leaves before a receiver has answered.
    fn sends_unasked(&self) -> bool {
        self.is_plain() && !self.config.listens
    }

    fn has_payload_ids(&self) -> bool {
        !self.is_plain() && !self.protection.is_none()
    }

    /// True if a receiver can use repair. Plain RTP receivers, which do not know repair packets, take them for gaps in
    /// the media.
    fn can_use_repair(&self) -> bool {
        self.config.fec_to.is_some() || self.peer.is_connected()
    }

    fn wants_media(&self) -> bool {
        let has_receiver = self.peer.is_connected() || (self.sends_unasked() && self.peer.calling_since().is_some());
        has_receiver && self.phase.is_open()
    }

    fn fit_latency(&mut self) {
        let round_trip = self.peer.round_trip().unwrap_or(Span::ZERO);
        self.protection.set_budget(self.latency(), round_trip);
        // The receiver may want a longer latency, which is known once it has answered.
        let is_final = self.is_plain() || self.peer.is_connected();
        if is_final {
            self.events.extend(self.advice.lateness(&self.protection, round_trip));
        }
    }

    /// Begins to end the session; queued media still leaves.
    fn part(&mut self, now: Time, ending: Ending) {
        let reachable = self.peer.is_connected() || self.sends_unasked();
        self.phase.end(now, reachable, ending);
    }

    /// Gives up a silent receiver, and ends a session that gets no answer.
    fn check_peer(&mut self, now: Time) {
        if self.gone_at().is_some_and(|gone| gone <= now) {
            self.fall_silent(Event::Silent);
        }
        if self.answer_due().is_some_and(|due| due <= now) {
            self.part(now, if self.peer.is_busy() { Ending::Busy } else { Ending::NoAnswer });
        }
    }

    /// The time at which a silent receiver is given up.
    fn gone_at(&self) -> Option<Time> {
        self.peer.gone_at(self.protection.interval())
    }

    /// Stops media until a receiver answers again, for the reason that `event` gives.
    fn fall_silent(&mut self, event: Event) {
        self.peer.give_up();
        self.blocks.clear();
        self.sliding.iter_mut().for_each(Sliding::clear);
        self.credit.clear();
        self.guard.on_silence();
        self.post_repair.on_silence();
        self.events.push_back(event);
    }

    /// The time at which silence becomes persistent congestion to the rate law.
    fn silent_at(&self) -> Option<Time> {
        self.rate_limit.as_ref()?.silent_at(&self.history, self.protection.interval())
    }

    /// Reports persistent congestion to the rate law. Packets in flight are then given up.
    fn check_silence(&mut self, now: Time) {
        if self.silent_at().is_some_and(|silent| silent <= now)
            && let Some(limit) = &mut self.rate_limit
        {
            limit.on_silence(now, self.history.in_flight());
            self.history.give_up(Time::NEVER);
        }
    }

    /// Ends the rate law. The next block starts it anew, for another path.
    fn restart_rate_law(&mut self) {
        self.rate_limit = None;
        self.history.give_up(Time::NEVER);
    }

    /// The time by which a receiver must have answered the first hello.
    fn answer_due(&self) -> Option<Time> {
        let since = self.peer.calling_since().filter(|_| !self.sends_unasked())?;
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
        if !self.phase.is_over() {
            self.close_due(now);
            self.close_interval_due(now);
            self.check_peer(now);
            if self.guard.ends(now, self.peer.is_connected()) {
                self.part(now, Ending::Breaker);
            }
            self.check_silence(now);
        }
        self.interval.tick(now, &self.counts);
        self.history.forget(now - history::MEMORY);
        self.sliding.iter_mut().for_each(|sliding| sliding.forget(now));
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let transmit = self.poll_control(now, buf).or_else(|| self.poll_packet(now, buf))?;
        self.counts.wire_bytes += super::wire_size(transmit.len, transmit.to).0;
        Some(transmit)
    }

    fn poll_timeout(&self) -> Option<Time> {
        if self.phase.is_over() {
            return None;
        }
        let waits = [
            self.blocks.closes_at(),
            self.credit.closes_at(self.protection.interval()),
            self.departure_due(),
            self.gone_at(),
            self.answer_due(),
            self.farewell_due(),
            self.hello_due(),
        ];
        waits.into_iter().flatten().chain(self.silent_at()).chain([self.interval.next()]).min()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
