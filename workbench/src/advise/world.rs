//! Both sessions of a stream, and the paths between them, on virtual time. The sessions count the bytes of a seal, as with a key;
//! nothing is sealed.

use core::net::SocketAddr;

use thalweg_core::probe::Probe;
use thalweg_core::rng::Rng;
use thalweg_core::session::Session;
use thalweg_core::session::live::{inside, receiver, sender};
use thalweg_core::time::{Span, Time};
use thalweg_lab::end::live;
use thalweg_lab::end::session::{Application, End};
use thalweg_lab::node::Node;
use thalweg_lab::scenario::Scenario;

use super::candidate::{Candidate, Media};
use super::outcome::Part;

/// The time before the media. Ours: several handshakes over a long path, of which some lose packets.
const BEFORE: Span = Span::from_secs(2);

/// The media that the receiver has delivered, by parts of the time of its production.
#[derive(Clone, PartialEq, Debug)]
struct Meter {
    media: Media,
    part: Span,
    parts: Vec<Part>,
}

/// A stream over two paths.
#[derive(Debug)]
pub(super) struct World {
    now: Time,
    sender: live::Sender,
    receiver: End<receiver::Receiver, Meter>,
    paths: Scenario,
    part: Span,
    /// Bytes that had left by the end of each part.
    wire: Vec<u64>,
}

impl Meter {
    /// The time at which datagram `number` is produced, since the first one.
    fn produced(&self, number: u64) -> Span {
        self.media.rate.time_for(self.media.payload * number)
    }
}

impl Application<receiver::Receiver> for Meter {
    fn drain(&mut self, now: Time, session: &mut receiver::Receiver) -> bool {
        while session.poll_event().is_some() {}
        while let Some(datagram) = session.poll_media(now) {
            let number = datagram.first_chunk().map_or(0, |number| u64::from_be_bytes(*number));
            let produced = self.produced(number);
            let nth = (produced.as_nanos() / self.part.as_nanos()) as usize;
            if let Some(part) = self.parts.get_mut(nth) {
                part.latencies.push(now.since(Time::ZERO + BEFORE + produced));
            }
        }
        false
    }
}

impl World {
    /// A stream of `candidate` over `paths`, whose media lasts for `parts` parts of `part`.
    pub(super) fn new(paths: Scenario, media: Media, candidate: &Candidate, (part, parts): (Span, usize)) -> World {
        let [near, far] = [1, 2].map(|host| inside(SocketAddr::from(([10, 0, 0, host], 6000)), host.into()));
        let rng = Rng::new(paths.seed);
        let session = sender::Config {
            latency: candidate.latency.into(),
            block: candidate.block,
            max_rate: Some(media.most),
            ..sender::Config::new(far, candidate.law())
        };
        let start = Time::ZERO + BEFORE;
        let stop = start + part * parts as u64;
        let config = live::Config {
            flow: 0,
            session,
            start,
            stop: Some(stop),
            rate: media.rate,
            follows: false,
            pause: None,
            payload: media.payload,
        };
        let receiver = receiver::Config { latency: candidate.latency.into(), ..receiver::Config::default() };
        let receiver = receiver::Receiver::new(receiver, &rng.fork("receiver"));
        let meter = Meter { media, part, parts: vec![Part::default(); parts] };
        World {
            now: Time::ZERO,
            sender: live::Sender::of(config, &rng.fork("sender")),
            receiver: End::new(0, near, receiver, meter),
            paths,
            part,
            wire: Vec::with_capacity(parts + 1),
        }
    }

    /// Runs to the start of part `nth`, or to the end of the last one, and notes the bytes that have left by then.
    pub(super) fn run_part(&mut self, nth: usize) {
        self.run_until(Time::ZERO + BEFORE + self.part * nth as u64);
        let mut wire = 0.0;
        self.sender.probe(&mut |name, value| {
            if name == "wire_bytes_total" {
                wire = value;
            }
        });
        self.wire.push(wire as u64);
    }

    /// Runs for `span` after the media, and returns its parts.
    pub(super) fn finish(mut self, span: Span) -> Vec<Part> {
        self.run_until(self.now + span);
        let meter = self.receiver.application();
        let mut parts = meter.parts.clone();
        let mut number = 0;
        for (nth, part) in parts.iter_mut().enumerate() {
            let first = number;
            while meter.produced(number) < self.part * (nth as u64 + 1) {
                number += 1;
            }
            part.packets = number - first;
            part.lost = part.packets.saturating_sub(part.latencies.len() as u64);
            part.media = (meter.media.payload * part.packets).0;
            part.wire = self.wire[nth + 1] - self.wire[nth];
        }
        parts
    }

    fn run_until(&mut self, end: Time) {
        while let Some(next) = self.next().filter(|next| *next <= end) {
            self.now = next.max(self.now);
            while self.step() {}
        }
        self.now = end;
    }

    fn next(&self) -> Option<Time> {
        let Scenario { forward, reverse, .. } = &self.paths;
        [self.sender.next(), self.receiver.next(), forward.next(), reverse.next()].into_iter().flatten().min()
    }

    /// Moves the packets that are due from each node to the next one; true if there was one.
    fn step(&mut self) -> bool {
        let World { now, sender, receiver, paths: Scenario { forward, reverse, .. }, .. } = self;
        let forth = pass(*now, sender, forward) | pass(*now, forward, receiver);
        let back = pass(*now, receiver, reverse) | pass(*now, reverse, sender);
        forth | back
    }
}

/// Moves the packets that are due from one node to another; true if there was one.
fn pass(now: Time, from: &mut impl Node, to: &mut impl Node) -> bool {
    let mut any = false;
    while from.next().is_some_and(|next| next <= now) {
        let Some(packet) = from.poll(now) else { break };
        to.accept(now, packet);
        any = true;
    }
    any
}
