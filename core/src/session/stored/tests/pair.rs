//! A sender and a receiver with a path between them.

use core::net::SocketAddr;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::path::Path;
use crate::law::predict;
use crate::law::rate::r3cp::Parameters;
use crate::rng::Rng;
use crate::session::stored::control::Control;
use crate::session::stored::receiver::{self, Receiver};
use crate::session::stored::sender::{self, Sender};
use crate::session::stored::{First, Frame, Media, Payload, Track, Unit, WINDOW};
use crate::session::{MAX_DATAGRAM, Session};
use crate::time::{Span, Time};
use crate::video::{Class, Kind};
use crate::wire::rtcp::{Compound, Packet};
use crate::wire::rtp::{self, is_rtcp};
use crate::wire::stored::{Message, PLACE, Place};

const KEY: u64 = 77;
const TRACK: Track = Track { payload_type: 96, rtx_payload_type: 97, clock_rate: 90_000 };
const SOUND: Track = Track { payload_type: 98, rtx_payload_type: 99, clock_rate: 48_000 };
/// The payload of a packet of pictures, and of sound: 47 frames per second are 113 kb/s without headers.
const PAYLOADS: [usize; 2] = [900, 300];

/// A video of 24 frames per second, I PBB PBB PBB and so on, of 6, 2 and 1 packets.
#[derive(Clone, Debug)]
pub(super) struct Video(Arc<[Frame]>);

impl Video {
    pub(super) fn of_seconds(seconds: u32) -> Video {
        const GOP: [Kind; 12] = {
            use Kind::{B, I, P};
            [I, B, B, P, B, B, P, B, B, P, B, B]
        };
        // Without the two B before the second reference, which an encoder would not make.
        let kinds: Vec<Kind> = GOP.into_iter().cycle().take(24 * seconds as usize + 2).collect();
        let kinds: Vec<Kind> =
            kinds.iter().enumerate().filter(|(at, _)| !(1..3).contains(at)).map(|(_, kind)| *kind).collect();
        let time = |slot: usize| Span::from_secs_f64(slot as f64 / 24.0);
        let frame = |(at, kind): (usize, &Kind)| {
            let later = (at + 1..kinds.len()).find(|&later| kinds[later] != Kind::B).unwrap_or(kinds.len());
            let display = if *kind == Kind::B { at } else { later };
            let packets = match kind {
                Kind::I => 6,
                Kind::P => 2,
                Kind::B => 1,
            };
            let (class, bytes) = (Class::Picture(*kind), u32::from(packets) * PAYLOADS[0] as u32);
            Frame { class, track: 0, packets, bytes, decode: time(at), display: time(display) }
        };
        Video(kinds.iter().enumerate().map(frame).collect())
    }

    /// The same with four times the packets, and sound of 48 kHz in frames of 1024 samples.
    pub(super) fn with_sound(seconds: u32) -> Video {
        let sound = (0..).map(|nth| {
            let time = Span::from_nanos(nth * 1024 * 1_000_000_000 / 48_000);
            let bytes = PAYLOADS[1] as u32;
            Frame { class: Class::Audio, track: 1, packets: 1, bytes, decode: time, display: time }
        });
        let larger = |frame: &Frame| Frame { packets: 4 * frame.packets, bytes: 4 * frame.bytes, ..*frame };
        let mut frames: Vec<Frame> = Video::of_seconds(seconds).0.iter().map(larger).collect();
        frames.extend(sound.take_while(|frame| frame.decode < Span::from_secs(seconds.into())));
        frames.sort_by_key(|frame| frame.decode);
        Video(frames.into())
    }

    pub(super) fn payload_of(frame: u32, packet: u16, len: usize) -> Vec<u8> {
        let mut payload = vec![packet as u8; len];
        payload[..4].copy_from_slice(&frame.to_be_bytes());
        payload
    }
}

impl Media for Video {
    fn frame(&self, index: u32) -> Option<Frame> {
        self.0.get(index as usize).copied()
    }

    fn payload(&mut self, frame: u32, packet: u16, buf: &mut [u8]) -> Option<Payload> {
        let payload = Video::payload_of(frame, packet, PAYLOADS[usize::from(self.0[frame as usize].track)]);
        buf[..payload.len()].copy_from_slice(&payload);
        Some(Payload { len: payload.len(), marker: packet + 1 == self.0[frame as usize].packets })
    }
}

fn tracks_of(frames: &[Frame]) -> Vec<Track> {
    let has_sound = frames.iter().any(|frame| frame.track == 1);
    [TRACK, SOUND].into_iter().take(1 + usize::from(has_sound)).collect()
}

/// The mean payload of a packet.
fn size_of(frames: &[Frame]) -> u32 {
    let packets: u32 = frames.iter().map(|frame| u32::from(frame.packets)).sum();
    frames.iter().map(|frame| frame.bytes).sum::<u32>() / packets
}

/// A sender, a receiver and a path.
pub(super) struct Pair {
    first: First,
    bounds: receiver::Bounds,
    pub(super) video: Arc<[Frame]>,
    sender: Sender<Video>,
    receiver: Option<Receiver>,
    now: Time,
    /// The interval at which both ends wake up; zero for ends that are never late.
    tick: Span,
    pub(super) path: Path,
    pub(super) played: Vec<(Time, receiver::Frame)>,
    started: Option<Time>,
    /// With the bytes of each, IP and UDP headers included.
    departures: Vec<(Time, usize)>,
    arrivals: BTreeMap<(u32, u16), Time>,
    sent: BTreeSet<u32>,
    skipped: BTreeSet<u32>,
    /// The rates that arrived at the sender.
    rates: Vec<(Time, f64)>,
    token: u64,
    /// The source of the packets that are no retransmissions.
    ssrc: u32,
    events: Vec<sender::Event>,
    /// The event with which the receiver has ended.
    end: Option<receiver::Event>,
}

impl Pair {
    pub(super) fn new(video: Video, delay: Span) -> Pair {
        Pair::beginning(video, delay, First::default())
    }

    /// A pair whose session begins with the frame `first`.
    pub(super) fn beginning(video: Video, delay: Span, first: First) -> Pair {
        let tracks = tracks_of(&video.0);
        let config = sender::Config { key: KEY, tracks, first, horizon: WINDOW, unit: Unit::Mean(size_of(&video.0)) };
        Pair {
            first,
            bounds: receiver::Bounds::default(),
            video: video.0.clone(),
            sender: Sender::new(video, config, &Rng::new(1)),
            receiver: None,
            now: Time::ZERO,
            tick: Span::ZERO,
            path: Path::new(delay),
            played: Vec::new(),
            started: None,
            departures: Vec::new(),
            arrivals: BTreeMap::new(),
            sent: BTreeSet::new(),
            skipped: BTreeSet::new(),
            rates: Vec::new(),
            token: 0,
            ssrc: 0,
            events: Vec::new(),
            end: None,
        }
    }

    pub(super) fn mu(&self) -> f64 {
        let packets: u32 = self.video.iter().map(|frame| u32::from(frame.packets)).sum();
        let pictures = self.video.iter().filter(|frame| frame.track == 0).count();
        f64::from(packets) / (pictures as f64 / 24.0)
    }

    pub(super) fn client(&self) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], 5000))
    }

    fn server(&self) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 2], 8554))
    }

    pub(super) fn start(&mut self, control: Control, parameters: Parameters) {
        let config = receiver::Config {
            key: KEY,
            sender: self.server(),
            tracks: tracks_of(&self.video),
            first: self.first,
            mu: self.mu(),
            control,
            parameters,
            predictor: predict::Choice::default(),
            bounds: self.bounds,
            probes: receiver::PROBES,
            start: 1.0,
        };
        self.receiver = Some(Receiver::new(config, self.now, &Rng::new(2)).expect("in range"));
    }

    /// Bounds the requested rate; before [`Pair::start`].
    pub(super) fn bound(&mut self, bounds: receiver::Bounds) {
        self.bounds = bounds;
    }

    pub(super) fn receiver(&self) -> &Receiver {
        self.receiver.as_ref().expect("started")
    }

    pub(super) fn pause(&mut self) {
        let now = self.now;
        self.receiver.as_mut().expect("started").pause(now);
    }

    pub(super) fn resume(&mut self) {
        let now = self.now;
        self.receiver.as_mut().expect("started").resume(now);
    }

    pub(super) fn sender_mut(&mut self) -> &mut Sender<Video> {
        &mut self.sender
    }

    pub(super) fn run_until(&mut self, end: Time) {
        loop {
            self.drain();
            let next = [self.path.next(), self.sender.poll_timeout(), self.receiver().poll_timeout()]
                .into_iter()
                .flatten()
                .min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            self.now = self.now.max(self.wakes(next));
            self.deliver();
            let now = self.now;
            if self.sender.poll_timeout().is_some_and(|due| due <= now) {
                self.sender.handle_timeout(now);
            }
            let receiver = self.receiver.as_mut().expect("started");
            if receiver.poll_timeout().is_some_and(|due| due <= now) {
                receiver.handle_timeout(now);
            }
        }
        self.now = end;
    }

    /// Lets both ends wake up at multiples of `tick` alone.
    pub(super) fn tick(&mut self, tick: Span) {
        self.tick = tick;
    }

    /// The time at which an end wakes up that is to do so at `time`.
    fn wakes(&self, time: Time) -> Time {
        let tick = self.tick.max(Span::from_nanos(1)).as_nanos();
        Time::from_nanos(time.since(Time::ZERO).as_nanos().div_ceil(tick) * tick)
    }

    fn deliver(&mut self) {
        while let Some((is_forward, bytes)) = self.path.arrive(self.now) {
            let (client, server) = (self.client(), self.server());
            if is_forward {
                self.observe_arrival(&bytes);
                let receiver = self.receiver.as_mut().expect("started");
                let _ = receiver.handle_datagram(self.now, server, &bytes);
            } else {
                self.observe_message(&bytes);
                let _ = self.sender.handle_datagram(self.now, client, &bytes);
            }
        }
    }

    fn drain(&mut self) {
        let mut buf = [0; MAX_DATAGRAM];
        while let Some(transmit) = self.sender.poll_transmit(self.now, &mut buf) {
            let bytes = buf[..transmit.len].to_vec();
            self.observe_departure(&bytes);
            self.path.send(self.now, true, bytes);
        }
        while let Some(transmit) = self.receiver.as_mut().and_then(|end| end.poll_transmit(self.now, &mut buf)) {
            self.path.send(self.now, false, buf[..transmit.len].to_vec());
        }
        self.events.extend(core::iter::from_fn(|| self.sender.poll_event()));
        let receiver = self.receiver.as_mut().expect("started");
        while let Some(event) = receiver.poll_event() {
            match event {
                receiver::Event::Started => self.started = Some(self.now),
                receiver::Event::Ended | receiver::Event::CutOff => self.end = Some(event),
                _ => {}
            }
        }
        while let Some(frame) = receiver.poll_frame(self.now) {
            self.played.push((self.now, frame));
        }
    }

    fn place(bytes: &[u8]) -> Option<Place> {
        let packet = rtp::Packet::parse(bytes).ok().filter(|_| !is_rtcp(bytes))?;
        Place::parse(packet.element(PLACE)?).ok()
    }

    fn observe_departure(&mut self, bytes: &[u8]) {
        if let Ok(packet) = rtp::Packet::parse(bytes)
            && packet.header.payload_type == TRACK.payload_type
        {
            self.ssrc = packet.header.ssrc;
        }
        if let Some(place) = Pair::place(bytes) {
            self.departures.push((self.now, bytes.len() + 28));
            self.sent.insert(place.frame);
        }
        for message in messages(bytes) {
            if let Message::Report(report) = message {
                let skipped = report.described().filter(|(.., is_skipped)| *is_skipped);
                self.skipped.extend(skipped.map(|(index, ..)| index));
            }
        }
    }

    fn observe_arrival(&mut self, bytes: &[u8]) {
        if let Some(place) = Pair::place(bytes) {
            self.arrivals.entry((place.frame, place.packet)).or_insert(self.now);
        }
    }

    fn observe_message(&mut self, bytes: &[u8]) {
        for message in messages(bytes) {
            if let Message::FlowControl(message) = message {
                self.rates.push((self.now, message.rho));
                self.token = message.token;
            }
        }
    }

    pub(super) fn arrival(&self, frame: u32, packet: u16) -> Option<Time> {
        self.arrivals.get(&(frame, packet)).copied()
    }

    pub(super) fn is_sent(&self, frame: u32) -> bool {
        self.sent.contains(&frame)
    }

    pub(super) fn sent_frames(&self) -> BTreeSet<u32> {
        self.sent.clone()
    }

    pub(super) fn skipped_frames(&self) -> BTreeSet<u32> {
        self.skipped.clone()
    }

    pub(super) fn departures(&self) -> Vec<Time> {
        self.departures.iter().map(|(time, _)| *time).collect()
    }

    /// The bytes that left from `start` to before `end`.
    pub(super) fn bytes_within(&self, start: Time, end: Time) -> usize {
        let is_within = |(time, _): &&(Time, usize)| (start..end).contains(time);
        self.departures.iter().filter(is_within).map(|(_, bytes)| bytes).sum()
    }

    /// The unit of the sender's rates.
    pub(super) fn unit(&self) -> Unit {
        Unit::Mean(size_of(&self.video))
    }

    pub(super) fn clock_start(&self) -> Time {
        self.started.expect("playout has begun")
    }

    pub(super) fn token(&self) -> u64 {
        self.token
    }

    pub(super) fn ssrc(&self) -> u32 {
        self.ssrc
    }

    pub(super) fn is_ended(&self) -> bool {
        self.end == Some(receiver::Event::Ended) && self.events.contains(&sender::Event::Ended)
    }

    pub(super) fn is_cut_off(&self) -> bool {
        self.end == Some(receiver::Event::CutOff)
    }

    pub(super) fn sender_events(&self) -> &[sender::Event] {
        &self.events
    }

    /// The packets that were requested from `start` to `end`.
    pub(super) fn requested(&self, start: Time, end: Time) -> f64 {
        let ends = self.rates.iter().skip(1).map(|(time, _)| *time).chain([Time::NEVER]);
        let spans = self.rates.iter().zip(ends).map(|((from, rho), to)| {
            let span = to.min(end).since((*from).max(start));
            rho * if to.min(end) > (*from).max(start) { span.as_secs_f64() } else { 0.0 }
        });
        spans.sum()
    }
}

/// The messages of a control datagram.
fn messages(bytes: &[u8]) -> Vec<Message<'_>> {
    let Some(compound) = Compound::parse(bytes).ok().filter(|_| is_rtcp(bytes)) else { return Vec::new() };
    let apps = compound.frames().filter_map(|frame| match Packet::parse(frame) {
        Ok(Packet::App(app)) => Message::parse(&app).ok().flatten(),
        _ => None,
    });
    apps.collect()
}
