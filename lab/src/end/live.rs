//! The live profile: a source of media above a sender, and a receiver whose media is discarded.
//!
//! A source has a constant rate, or follows the rate that the session leaves to media, as an encoder does.
//!
//! Their counters are those of the simulated pair as far as the sessions have them. A sender determines losses from RFC
//! 8888 feedback, so losses and bursts are counted there. Blocks need no number here: the window is sampled once per
//! SYN.

use core::net::SocketAddr;
use core::ops::Range;

use thalweg_core::law::redundancy::Redundancy;
use thalweg_core::probe::Probe;
use thalweg_core::rng::Rng;
use thalweg_core::session::Session;
use thalweg_core::session::live::{MAX_PAYLOAD, receiver, sender};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::session::{Application, End};
use crate::stream::counters::{Received, Sent};
use crate::stream::media::MediaClock;

/// The sampling interval of the window: a SYN of the paper.
const SAMPLE: Span = Span::from_millis(10);

/// The interval at which a source that follows takes a new rate: that of `exec:` inputs of `send`.
const FOLLOW: Span = Span::from_millis(100);
/// The least rate of a source that follows, and that at which it begins, as parts of its rate. Ours: with the 1.5 Mb/s of RFC
/// 8867 they are 150 and 300 kb/s.
const LEAST: u64 = 10;
const FIRST: u64 = 5;

/// The parameters of the sending endpoint.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The flow that its datagrams belong to.
    pub flow: u32,
    /// The session; `to` is the address of its receiver.
    pub session: sender::Config,
    /// The time of the source's first datagram; datagrams before the receiver's first answer are not sent.
    pub start: Time,
    /// The time at which the source ends and the session says goodbye.
    pub stop: Option<Time>,
    /// Rate of the media, without headers; the highest of a source that follows. Above zero.
    pub rate: Rate,
    /// True for a source that follows the rate which the session leaves to media.
    pub follows: bool,
    /// A time without media.
    pub pause: Option<Range<Time>>,
    /// Size of a media datagram, without headers. 1 byte to [`MAX_PAYLOAD`].
    pub payload: Bytes,
}

/// A live sender and its source.
pub type Sender = End<sender::Sender, Source>;

/// A live receiver, whose media is discarded.
pub type Receiver = End<receiver::Receiver, Discard>;

/// A source of media.
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    config: Config,
    /// The clock since the last change of the rate, or the pause.
    media: MediaClock,
    /// Media datagrams produced, and those before the clock began.
    produced: u64,
    before: u64,
    /// The time at which it takes the next rate, if it follows.
    follow_at: Time,
    finished: bool,
    sampled: Sent,
    sample_at: Time,
}

/// A receiver of media, which discards it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Discard;

impl Sender {
    /// A sender whose handshake starts at time zero.
    ///
    /// # Panics
    /// The rate is zero, or the payload empty or too long.
    pub fn of(config: Config, rng: &Rng) -> Sender {
        let payload = config.payload;
        assert!(config.rate.as_bps() > 0 && (1..=MAX_PAYLOAD as u64).contains(&payload.0), "impossible: {config:?}");
        let mut session = sender::Sender::new(config.session.clone(), Time::ZERO, rng);
        session.set_follows_budget(config.follows);
        End::new(config.flow, config.session.to, session, Source::new(config)).starting(Time::ZERO)
    }

    /// The counters of [`crate::stream::sender::Sender::sent`]; a block is a sample of the window here.
    pub fn sent(&self) -> Sent {
        let count = |name| shown(self.session(), name) as u64;
        let sampled = self.application().sampled;
        Sent { source: count("source_packets_total"), repair: count("repair_packets_total"), ..sampled }
    }
}

impl Receiver {
    /// A receiver that waits for a stream from `sender`.
    pub fn of(flow: u32, session: receiver::Config, sender: SocketAddr, rng: &Rng) -> Receiver {
        End::new(flow, sender, receiver::Receiver::new(session, rng), Discard)
    }
}

impl Source {
    fn new(config: Config) -> Source {
        let rate = if config.follows { part(config.rate, FIRST) } else { config.rate };
        Source {
            media: MediaClock { start: config.start, rate, packet: config.payload },
            produced: 0,
            before: 0,
            follow_at: config.start + FOLLOW,
            finished: false,
            sampled: Sent::default(),
            sample_at: config.start,
            config,
        }
    }

    /// The time of the source's next datagram.
    fn produces(&self) -> Option<Time> {
        let next = self.unpaused();
        let pause = self.config.pause.as_ref().filter(|pause| pause.contains(&next));
        let next = pause.map_or(next, |pause| pause.end);
        self.config.stop.is_none_or(|stop| next < stop).then_some(next)
    }

    /// The time of the next datagram, if there were no pause.
    fn unpaused(&self) -> Time {
        self.media.at(self.produced - self.before)
    }

    /// Begins the clock anew at `start`, with `rate`.
    fn restart(&mut self, start: Time, rate: Rate) {
        self.media = MediaClock { start, rate, ..self.media };
        self.before = self.produced;
    }

    /// The time at which it takes a new rate, if it follows.
    fn follows(&self) -> Option<Time> {
        (self.config.follows && self.config.stop.is_none_or(|stop| self.follow_at < stop)).then_some(self.follow_at)
    }

    /// Takes the rate that the session leaves to media.
    fn follow(&mut self, session: &sender::Sender) {
        let now = self.follow_at;
        self.follow_at += FOLLOW;
        if let Some(wanted) = session.wanted_rate() {
            let rate = wanted.clamp(part(self.config.rate, LEAST), self.config.rate);
            self.restart(self.unpaused().min(now + rate.time_for(self.config.payload)), rate);
        }
    }

    /// The time at which the source ends, unless it has ended.
    fn finishes(&self) -> Option<Time> {
        self.config.stop.filter(|_| !self.finished)
    }

    /// Passes the media that the source has produced by now to the session.
    fn produce(&mut self, now: Time, session: &mut sender::Sender) {
        while let Some(due) = self.produces().filter(|due| *due <= now) {
            if due > self.unpaused() {
                self.restart(due, self.media.rate);
            }
            let mut payload = [0; MAX_PAYLOAD];
            payload[..8].copy_from_slice(&self.produced.to_be_bytes());
            session.handle_media(now, &payload[..self.config.payload.0 as usize]);
            self.produced += 1;
        }
        if self.finishes().is_some_and(|stop| stop <= now) {
            session.finish(now);
            self.finished = true;
        }
    }

    /// The time of the next sample of the window, while there is media.
    fn samples(&self) -> Option<Time> {
        self.config.stop.is_none_or(|stop| self.sample_at < stop).then_some(self.sample_at)
    }

    fn sample(&mut self, session: &sender::Sender) {
        self.sample_at += SAMPLE;
        let window = shown(session, "repair_window_packets");
        let w = shown(session, "w_packets");
        let (least, most) = self.config.session.repair.bounds();
        let widest = if least < most { most } else { f64::INFINITY };
        self.sampled.blocks += 1;
        self.sampled.windows += window;
        self.sampled.widest += u64::from(window >= widest);
        if !w.is_nan() {
            self.sampled.w_blocks += 1;
            self.sampled.w += w;
        }
    }
}

impl Application<sender::Sender> for Source {
    fn next(&self) -> Option<Time> {
        [self.produces(), self.finishes(), self.samples(), self.follows()].into_iter().flatten().min()
    }

    fn feed(&mut self, now: Time, session: &mut sender::Sender) {
        while self.follows().is_some_and(|due| due <= now) {
            self.follow(session);
        }
        self.produce(now, session);
        while self.samples().is_some_and(|due| due <= now) {
            self.sample(session);
        }
    }

    fn drain(&mut self, _now: Time, session: &mut sender::Sender) -> bool {
        while session.poll_event().is_some() {}
        false
    }
}

impl Application<receiver::Receiver> for Discard {
    fn drain(&mut self, now: Time, session: &mut receiver::Receiver) -> bool {
        while session.poll_event().is_some() {}
        while session.poll_media(now).is_some() {}
        false
    }
}

/// The counters of [`crate::stream::receiver::Receiver::received`]: losses as the sender has determined them, media as
/// the receiver has delivered it.
pub fn received(sender: &Sender, receiver: &Receiver) -> Received {
    let settled = |name| shown(sender.session(), name) as u64;
    let ended = |name| shown(receiver.session(), name) as u64;
    let (lost, recovered) = (settled("lost_packets_total"), ended("media_packets_total"));
    Received {
        packets: settled("delivered_packets_total") + lost,
        lost,
        bursts: settled("bursty_events_total"),
        source: recovered + ended("residual_lost_packets_total"),
        recovered,
    }
}

/// One of `parts` equal parts of a rate, above zero.
fn part(rate: Rate, parts: u64) -> Rate {
    Rate::from_bps((rate.as_bps() / parts).max(1))
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
