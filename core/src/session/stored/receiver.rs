//! The receiver of a stored video.

mod arrivals;
mod bank;
mod clock;
mod control;
mod end;
mod groups;
mod limits;
mod pause;
mod period;
mod probes;
mod reception;
mod shown;
mod slot;
mod totals;
mod trial;

use core::net::SocketAddr;
use std::collections::VecDeque;

pub use self::limits::Bounds;
pub use self::slot::Frame;
pub use self::totals::Totals;

use self::arrivals::Arrivals;
use self::bank::Bank;
use self::clock::Clock;
use self::groups::Groups;
use self::limits::Limits;
use self::period::{Period, State};
use self::probes::Probes;
use self::reception::Reception;
use super::control::{Control, Law};
use super::{First, Track};
use crate::law::playback::Tally;
use crate::law::rate::r3cp::{Decision, Parameters};
use crate::law::{ParameterError, predict};
use crate::metric::Metric;
use crate::rng::Rng;
use crate::session::{Session, Transmit};
use crate::time::{Span, Time};
use crate::units::Seconds;
use crate::wire::rtp::{self, is_rtcp};
use crate::wire::stored::{GROUP, PLACE, Place};
use crate::wire::{self, sequence};

/// The probes to a path of which nothing is known. Ours: the paper's probe has no numbers.
pub const PROBES: u32 = 10;

/// The configuration of a receiver. Most of it is what the sender's session description says.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The key of the session, which its setup gives to both ends.
    pub key: u64,
    /// The sender's address.
    pub sender: SocketAddr,
    /// The streams, in the order of the sender's.
    pub tracks: Vec<Track>,
    /// The first frame that is sent.
    pub first: First,
    /// mu: the mean rate of the video in packets per second. Above 0.
    pub mu: f64,
    /// The control.
    pub control: Control,
    /// The constants of R3CP+; the other controls use those that they have in common.
    pub parameters: Parameters,
    /// The predictors of loss and round trip.
    pub predictor: predict::Choice,
    /// Bounds on the requested rate.
    pub bounds: Bounds,
    /// The probes before the first message, one per 20 ms, at least 1. Each delays the start. Of [`PROBES`] a loss of a tenth
    /// is seen; where the path is known, a few are enough, of which one must be answered.
    pub probes: u32,
    /// The rate requested before playout, as a multiple of mu. At least 1; the paper's is 1.
    pub start: f64,
}

/// An event of a receiver.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Event {
    /// The path was probed: its mean round trip, and the share of probes that were lost.
    Probed {
        /// The mean round trip.
        rtt: Span,
        /// The share of probes without an echo.
        loss: f64,
    },
    /// Playout has begun.
    Started,
    /// The sender answers no probes.
    NoAnswer,
    /// Every frame has been played.
    Ended,
    /// The sender has said goodbye before the end of the video, and what had arrived until then has been played.
    CutOff,
}

/// The receiving side.
#[derive(Clone, PartialEq, Debug)]
pub struct Receiver {
    config: Config,
    ssrc: u32,
    token: u64,
    reception: Reception,
    probes: Probes,
    law: Law,
    period: Option<Period>,
    state: State,
    groups: Groups,
    arrivals: Vec<Arrivals>,
    bank: Bank,
    clock: Option<Clock>,
    /// The time of a pause that lasts.
    paused: Option<Time>,
    limits: Limits,
    /// The first index that no frame has, once it is known.
    end: Option<u32>,
    /// True once the sender has said goodbye, unless the end was known before.
    is_cut_off: bool,
    goodbyes: Option<u8>,
    totals: Totals,
    events: VecDeque<Event>,
}

impl Receiver {
    /// Every metric that [`crate::probe::Probe::probe`] shows.
    pub const METRICS: &[Metric] = &shown::METRICS;

    /// A receiver that probes the path from `start` on.
    ///
    /// # Errors
    /// A parameter of the law or of the predictor is out of its range.
    pub fn new(config: Config, start: Time, rng: &Rng) -> Result<Receiver, ParameterError> {
        let law = Law::new(config.control, config.parameters, &config.predictor)?;
        let tracks = config.tracks.len();
        Ok(Receiver {
            ssrc: rng.fork("ssrc").u32(),
            token: 0,
            reception: Reception::new(tracks, start, rng.fork("reports")),
            probes: Probes::new(start, config.probes),
            law,
            period: None,
            state: State::default(),
            groups: Groups::default(),
            arrivals: vec![Arrivals::default(); tracks],
            bank: Bank::new(config.first),
            clock: None,
            paused: None,
            limits: Limits::new(config.bounds),
            end: None,
            is_cut_off: false,
            goodbyes: None,
            totals: Totals::default(),
            events: VecDeque::new(),
            config,
        })
    }

    /// The next frame that is due by `now`. A picture is returned only if every frame that it refers to was, too. To be
    /// drained like the other `poll_*`.
    pub fn poll_frame(&mut self, now: Time) -> Option<Frame> {
        let playout = self.playout(now)?;
        self.bank.deliver(self.clock?, playout)
    }

    /// The outcomes of the pictures that were to be displayed by `now`, and of audio frames, which count as I.
    pub fn tallies(&self, now: Time) -> (Tally, Tally) {
        match self.clock.zip(self.playout(now)) {
            Some((clock, playout)) => self.bank.tallies(clock, playout),
            None => (Tally::default(), Tally::default()),
        }
    }

    /// Sums over the run.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The last decision; none before the first.
    pub fn decision(&self) -> Option<Decision> {
        self.period.as_ref().map(|period| period.decision)
    }

    /// Loss and round trip as predicted for the present period.
    pub fn forecast(&self) -> (f64, Option<Seconds>) {
        (self.law.forecast.loss(), self.law.forecast.rtt())
    }

    /// The bank as media time, and its target, at the last flow control point.
    pub fn bank(&self) -> (Seconds, Seconds) {
        self.state.bank
    }

    /// The media time between playout at `now` and what was due for arrival; none before playout.
    pub fn banked(&self, now: Time) -> Option<Span> {
        self.playout(now).map(|playout| self.state.due.saturating_sub(playout))
    }

    /// The bytes that wait for playout.
    pub fn bytes(&self) -> usize {
        self.bank.bytes()
    }

    /// Takes an RTP packet: an original, or a retransmission with the original's sequence number before its payload.
    fn on_packet(&mut self, now: Time, bytes: &[u8]) -> Result<(), wire::Error> {
        let packet = rtp::Packet::parse(bytes)?;
        let payload_type = packet.header.payload_type;
        let is_of = |track: &Track| track.payload_type == payload_type || track.rtx_payload_type == payload_type;
        let track = self.config.tracks.iter().position(is_of).ok_or(wire::Error::Unknown)?;
        let is_resent = self.config.tracks[track].rtx_payload_type == payload_type;
        let place = Place::parse(packet.element(PLACE).ok_or(wire::Error::Unknown)?)?;
        let (sequence, payload) = match (is_resent, packet.payload) {
            (true, [s0, s1, payload @ ..]) => (u16::from_be_bytes([*s0, *s1]), payload),
            (true, _) => return Err(wire::Error::Truncated),
            (false, payload) => (packet.header.sequence, payload),
        };
        let at = (place.frame, place.packet, place.packets);
        let number = self.arrivals[track].take(sequence, is_resent, at).ok_or(wire::Error::Repeated)?;
        if is_resent {
            self.totals.resent += 1;
        } else {
            self.totals.received += 1;
            self.reception.on_packet(now, track, self.config.tracks[track], &packet.header, number);
            self.limits.on_packet(now, track, number, self.state.rtt);
            let current = self.period.as_ref().map(|period| u64::from(period.number));
            if let (Some(&[g0, g1]), Some(current)) = (packet.element(GROUP), current) {
                let group = sequence::nearest::<16>(current, u16::from_be_bytes([g0, g1]).into()) as u32;
                if u64::from(group) <= current {
                    self.groups.packet(group, track, number);
                    self.answered(now, group);
                }
            }
        }
        self.bank.insert(now, &place, payload);
        self.start_playout(now);
        Ok(())
    }
}

impl Session for Receiver {
    type Event = Event;

    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        if from != self.config.sender {
            return Err(wire::Error::Unknown);
        }
        self.totals.bytes += bytes.len() as u64;
        if is_rtcp(bytes) { self.on_control(now, bytes) } else { self.on_packet(now, bytes) }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.period.is_none() {
            self.check_probes(now);
        } else {
            self.check_period(now);
        }
        self.start_playout(now);
        self.check_end(now);
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let len = self.write_control(now, buf)?;
        Some(Transmit { to: self.config.sender, len })
    }

    fn poll_timeout(&self) -> Option<Time> {
        if self.goodbyes.is_some() {
            return None;
        }
        let control = match &self.period {
            None => Some(self.probes.next()),
            // A sender that has stopped is asked for nothing.
            Some(period) => Some(period.next()).filter(|_| self.paused.is_none() || !period.is_answered()),
        };
        let delivery = self
            .clock
            .filter(|_| self.paused.is_none())
            .and_then(|clock| self.bank.next_decode(clock).map(|decode| clock.time_of(decode)));
        [control, delivery].into_iter().flatten().min()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
}
