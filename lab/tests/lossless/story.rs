//! Two ends with a path in each direction, over virtual time.

use thalweg_core::law::rate::Allowance;
use thalweg_core::law::rate::fixed::Fixed;
use thalweg_core::law::schedule::Schedule;
use thalweg_core::law::schedule::cost_based::{CostBased, Parameters};
use thalweg_core::rng::Rng;
use thalweg_core::session::stream::{Config, End, Event};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_lab::node::Node;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::packet::{Body, Packet};
use thalweg_lab::path::Path;

pub(crate) fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

pub(crate) fn at(millis: u64) -> Time {
    Time::ZERO + ms(millis)
}

/// A path with nothing but a delay.
pub(crate) fn wire(delay: Span) -> Path {
    Path::default().then("wire", Wire::new(delay))
}

/// The paper's decision rule, without repair on an idle line once enough combinations are in flight.
pub(crate) fn cost_based() -> CostBased {
    let parameters = Parameters { cap: Some(0.6), ..Parameters::default() };
    CostBased::new(parameters).expect("in range")
}

pub(crate) fn fixed(mbps: u64) -> Fixed {
    Fixed::new(Rate::from_mbps(mbps), Span::ZERO)
}

pub(crate) fn bytes(count: usize, seed: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed).fork("bytes");
    (0..count).map(|_| rng.u32() as u8).collect()
}

/// FNV-1a of 64 bits.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

pub(crate) struct Story<S, A> {
    pub(crate) now: Time,
    pub(crate) near: End<S, A>,
    pub(crate) far: End<S, A>,
    pub(crate) forward: Path,
    pub(crate) reverse: Path,
    /// All bytes to be written at the near end.
    pub(crate) script: Vec<u8>,
    pub(crate) written: usize,
    pub(crate) is_last: bool,
    /// The bytes read at the far end; and the time of each read, with the number of bytes read by then.
    pub(crate) read: Vec<u8>,
    pub(crate) arrivals: Vec<(Time, usize)>,
    pub(crate) reads: bool,
    /// True while no packet gets through.
    pub(crate) dark: bool,
    pub(crate) near_events: Vec<(Time, Event)>,
    pub(crate) far_events: Vec<(Time, Event)>,
    /// The maximum number of originals that the far end kept.
    pub(crate) most_kept: usize,
    /// Frames and bytes that the near end sent.
    pub(crate) sent: u64,
    pub(crate) sent_bytes: u64,
}

impl<S: Schedule, A: Allowance> Story<S, A> {
    pub(crate) fn new(config: Config, mut law: impl FnMut() -> (S, A), forward: Path, reverse: Path) -> Story<S, A> {
        let mut end = || {
            let (schedule, allowance) = law();
            End::new(config, schedule, allowance).expect("in range")
        };
        let (near, far) = (end(), end());
        Story {
            now: Time::ZERO,
            near,
            far,
            forward,
            reverse,
            script: Vec::new(),
            written: 0,
            is_last: false,
            read: Vec::new(),
            arrivals: Vec::new(),
            reads: true,
            dark: false,
            near_events: Vec::new(),
            far_events: Vec::new(),
            most_kept: 0,
            sent: 0,
            sent_bytes: 0,
        }
    }

    /// Adds bytes to be written from now on; the stream ends behind them if they are the last.
    pub(crate) fn say(&mut self, bytes: &[u8], is_last: bool) -> &mut Self {
        self.script.extend_from_slice(bytes);
        self.is_last |= is_last;
        self
    }

    /// Runs until `millis`.
    pub(crate) fn until(&mut self, millis: u64) -> &mut Self {
        let end = at(millis);
        self.turn();
        while let Some(next) = self.next().filter(|next| *next <= end) {
            self.now = self.now.max(next);
            self.turn();
        }
        self.now = end;
        self
    }

    /// Runs until the stream has been delivered and read to its end, at most until `millis`. Returns true if it was.
    pub(crate) fn runs_to_its_end(&mut self, millis: u64) -> bool {
        self.turn();
        while !(self.near.sender().is_delivered() && self.far.receiver().is_finished()) {
            let Some(next) = self.next().filter(|next| *next <= at(millis)) else { return false };
            self.now = self.now.max(next);
            self.turn();
        }
        true
    }

    fn next(&self) -> Option<Time> {
        let ends = [self.near.poll_timeout(), self.far.poll_timeout()];
        ends.into_iter().chain([self.forward.next(), self.reverse.next()]).flatten().min()
    }

    /// Processes everything that happens at this instant.
    fn turn(&mut self) {
        let now = self.now;
        while let Some(packet) = self.forward.poll(now) {
            let Body::Datagram(frame) = packet.body else { unreachable!("only datagrams are sent") };
            self.far.handle_frame(now, &frame).expect("a frame");
        }
        while let Some(packet) = self.reverse.poll(now) {
            let Body::Datagram(frame) = packet.body else { unreachable!("only datagrams are sent") };
            self.near.handle_frame(now, &frame).expect("a frame");
        }
        for end in [&mut self.near, &mut self.far] {
            if end.poll_timeout().is_some_and(|due| due <= now) {
                end.handle_timeout(now);
            }
        }
        self.write_and_read();
        let mut buf = [0; 1500];
        while let Some(len) = self.near.poll_frame(now, &mut buf) {
            self.sent += 1;
            self.sent_bytes += len as u64;
            if !self.dark {
                self.forward.accept(now, Packet::datagram(0, buf[..len].to_vec()));
            }
            self.write_and_read();
        }
        while let Some(len) = self.far.poll_frame(now, &mut buf) {
            if !self.dark {
                self.reverse.accept(now, Packet::datagram(0, buf[..len].to_vec()));
            }
        }
        while let Some(event) = self.near.poll_event() {
            self.near_events.push((now, event));
        }
        while let Some(event) = self.far.poll_event() {
            self.far_events.push((now, event));
        }
        self.most_kept = self.most_kept.max(self.far.receiver().kept());
    }

    fn write_and_read(&mut self) {
        let now = self.now;
        self.written += self.near.write(now, &self.script[self.written..]);
        if self.is_last && self.written == self.script.len() {
            self.near.finish(now);
        }
        let mut buf = [0; 4096];
        while self.reads {
            let count = self.far.read(now, &mut buf);
            if count == 0 {
                break;
            }
            self.read.extend_from_slice(&buf[..count]);
            self.arrivals.push((now, self.read.len()));
        }
    }
}
