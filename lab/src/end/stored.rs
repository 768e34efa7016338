//! Stored video: the sender and the receiver of the session that skips frames, around a video of which only the sizes
//! of frames count.

use core::net::SocketAddr;
use std::sync::Arc;

use thalweg_core::law::ParameterError;
use thalweg_core::law::playback::{Outcome, Tally};
use thalweg_core::law::predict;
use thalweg_core::law::rate::r3cp;
use thalweg_core::law::registry::Parameters as _;
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::rng::Rng;
use thalweg_core::session::stored::control::Control;
use thalweg_core::session::stored::receiver::{self, Totals};
use thalweg_core::session::stored::{First, Frame, Media, Payload, Track, Unit, sender};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_core::video::{Class, Kind};

use super::session::{Application, End};

/// The sending endpoint.
pub type Sender = End<sender::Sender<Pictures>, Server>;

/// The receiving endpoint.
pub type Receiver = End<receiver::Receiver, Player>;

/// The RTP stream of the pictures: dynamic payload types (RFC 3551 §6), and the clock of video.
const TRACK: Track = Track { payload_type: 96, rtx_payload_type: 97, clock_rate: 90_000 };

/// A frame of pictures with its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Picture {
    frame: Frame,
    size: Bytes,
}

/// A video of pictures, whose payloads are zeros.
#[derive(Clone, PartialEq, Debug)]
pub struct Pictures {
    pictures: Arc<[Picture]>,
    payload: Bytes,
}

impl Pictures {
    /// The video with these frames in decoding order, one each `frame_time`, in packets of `payload` at most.
    ///
    /// A B is displayed when it is decoded, an I or P when the next one is: the order of display of I P B B P B B is
    /// I B B P B B P.
    // Reading(R3CP+ §4): before the second I or P a B lacks a reference. An encoder has no such frames.
    pub fn new(frames: impl IntoIterator<Item = (Kind, Bytes)>, frame_time: Span, payload: Bytes) -> Pictures {
        let mut references = 0;
        let decodable = |(kind, _): &(Kind, Bytes)| {
            references += u32::from(*kind != Kind::B);
            *kind != Kind::B || references > 1
        };
        let frames: Vec<(Kind, Bytes)> = frames.into_iter().filter(decodable).collect();
        let display = |at: usize| match frames[at].0 {
            Kind::B => at,
            _ => (at + 1..frames.len()).find(|&later| frames[later].0 != Kind::B).unwrap_or(frames.len()),
        };
        let picture = |(at, &(kind, size)): (usize, &(Kind, Bytes))| {
            let packets = size.0.max(1).div_ceil(payload.0.max(1)).min(u16::MAX.into()) as u16;
            let (decode, display) = (frame_time * at as u64, frame_time * display(at) as u64);
            let bytes = u32::try_from(size.0).unwrap_or(u32::MAX);
            Picture { frame: Frame { class: Class::Picture(kind), track: 0, packets, bytes, decode, display }, size }
        };
        Pictures { pictures: frames.iter().enumerate().map(picture).collect(), payload }
    }

    /// The playing time.
    fn duration(&self) -> Span {
        self.pictures.last().map_or(Span::ZERO, |last| last.frame.decode)
    }

    /// mu: the mean packets per second.
    pub fn mu(&self) -> f64 {
        let packets: u64 = self.pictures.iter().map(|picture| u64::from(picture.frame.packets)).sum();
        packets as f64 / self.duration().as_secs_f64().max(1e-9)
    }

    /// The mean rate of the pictures, without headers.
    pub fn rate(&self) -> Rate {
        Rate::of(self.pictures.iter().map(|picture| picture.size).sum(), self.duration())
    }
}

impl Media for Pictures {
    fn frame(&self, index: u32) -> Option<Frame> {
        self.pictures.get(index as usize).map(|picture| picture.frame)
    }

    fn payload(&mut self, frame: u32, packet: u16, buf: &mut [u8]) -> Option<Payload> {
        let picture = self.pictures.get(frame as usize)?;
        let before = self.payload.0 * u64::from(packet);
        let len = picture.size.0.max(1).saturating_sub(before).min(self.payload.0) as usize;
        buf[..len].fill(0);
        Some(Payload { len, marker: packet + 1 == picture.frame.packets })
    }
}

/// The parameters of a flow of stored video.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// The frames, in decoding order.
    pub frames: Arc<[(Kind, Bytes)]>,
    /// The time of one frame.
    pub frame_time: Span,
    /// The payload of a packet at most.
    pub payload: Bytes,
    /// The control.
    pub control: Control,
    /// Constants of the control by name, in place of those that follow from the video's rate.
    pub constants: Vec<(String, String)>,
    /// The predictors of loss and round trip.
    pub predictor: predict::Choice,
    /// The media time after each period from which frames to skip are chosen, too; 0 for the paper's choice.
    pub horizon: Span,
}

impl Parameters {
    /// Both ends of a flow that starts at `start`.
    ///
    /// # Errors
    /// A constant is unknown or out of its range.
    pub fn ends(&self, flow: u32, start: Time, rng: &Rng) -> Result<(Sender, Receiver), ParameterError> {
        let [client, server] = [5_000, 7_000].map(|port| SocketAddr::from(([127, 0, 0, 1], port)));
        let pictures = Pictures::new(self.frames.iter().copied(), self.frame_time, self.payload);
        let mu = pictures.mu();
        let mut parameters = r3cp::Parameters::of_video(mu);
        for (name, value) in &self.constants {
            parameters.set(name, value)?;
        }
        let key = rng.fork("key").u64();
        let config = receiver::Config {
            key,
            sender: server,
            tracks: vec![TRACK],
            first: First::default(),
            mu,
            control: self.control,
            parameters,
            predictor: self.predictor.clone(),
            bounds: receiver::Bounds::default(),
            probes: receiver::PROBES,
            start: 1.0,
        };
        let packet_bits = pictures.rate().as_bps() as f64 / mu;
        let receiver = receiver::Receiver::new(config, start, &rng.fork("receiver"))?;
        let (tracks, first, horizon) = (vec![TRACK], First::default(), self.horizon);
        let config = sender::Config { key, tracks, first, horizon, unit: Unit::Packet };
        let sender = sender::Sender::new(pictures, config, &rng.fork("sender"));
        let player = Player { packet_bits, ..Player::default() };
        Ok((End::new(flow, client, sender, Server), End::new(flow, server, receiver, player).starting(start)))
    }
}

/// The application of a sender: the session reads its video itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Server;

impl Application<sender::Sender<Pictures>> for Server {
    fn drain(&mut self, _: Time, session: &mut sender::Sender<Pictures>) -> bool {
        use thalweg_core::session::Session;
        while session.poll_event().is_some() {}
        false
    }
}

/// A player, which takes frames when they are due.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Player {
    /// The mean bits of a packet, by which rates in packets are converted.
    packet_bits: f64,
    /// The time at which playout began.
    started: Option<Time>,
}

/// The playback of a stored video, up to one instant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Playback {
    /// Outcomes of the frames that were to be displayed.
    pub tally: Tally,
    /// Sums over the receiver's periods.
    pub totals: Totals,
    /// The mean bits of a packet.
    pub packet_bits: f64,
    /// The time at which playout began, if it has.
    pub started: Option<Time>,
}

impl Player {
    /// The playback up to `now`.
    pub fn playback(&self, now: Time, session: &receiver::Receiver) -> Playback {
        let (tally, _) = session.tallies(now);
        Playback { tally, totals: *session.totals(), packet_bits: self.packet_bits, started: self.started }
    }
}

impl Application<receiver::Receiver> for Player {
    fn drain(&mut self, now: Time, session: &mut receiver::Receiver) -> bool {
        use thalweg_core::session::Session;
        while let Some(event) = session.poll_event() {
            if event == receiver::Event::Started {
                self.started = Some(now);
            }
        }
        while session.poll_frame(now).is_some() {}
        false
    }
}

impl Playback {
    /// A rate in packets per second as kb/s.
    pub fn kbps(&self, packets: f64) -> f64 {
        packets * self.packet_bits / 1e3
    }
}

impl Probe for Playback {
    fn probe(&self, visit: &mut Visitor<'_>) {
        let Playback { tally, totals, .. } = self;
        for (name, kind) in [("playback_i", Kind::I), ("playback_p", Kind::P), ("playback_b", Kind::B)] {
            visit(name, tally.performance_of(kind).unwrap_or(f64::NAN));
        }
        for outcome in Outcome::ALL {
            visit(outcome.name(), tally.share(outcome).unwrap_or(f64::NAN));
        }
        visit("p_mean", totals.loss_mean().unwrap_or(f64::NAN));
        visit("p_max", totals.loss_max);
        visit("requested_kbps", self.kbps(totals.rho_mean().unwrap_or(f64::NAN)));
        visit("rate_cv", totals.rho_variation().unwrap_or(f64::NAN));
    }
}
