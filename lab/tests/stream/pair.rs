//! Two endpoints and a path in each direction.

use thalweg_core::probe::Probe;
use thalweg_core::time::{Span, Time};
use thalweg_lab::check;
use thalweg_lab::node::Node;
use thalweg_lab::packet::Packet;
use thalweg_lab::path::Path;
use thalweg_lab::stream::receiver::{self, Receiver};
use thalweg_lab::stream::sender::{self, Sender};

pub(crate) fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// A stage between an endpoint and its path, which may change packets.
pub(crate) trait Wrap {
    /// Changes a packet that leaves the sender.
    fn wrap(&mut self, packet: Packet) -> Packet;

    /// Restores the same packet before the receiver.
    fn unwrap(&mut self, packet: Packet) -> Packet;
}

/// Media as a length: packets stay as they are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths;

impl Wrap for Lengths {
    fn wrap(&mut self, packet: Packet) -> Packet {
        packet
    }

    fn unwrap(&mut self, packet: Packet) -> Packet {
        packet
    }
}

/// A running stream.
pub(crate) struct Pair<W> {
    pub(crate) now: Time,
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) forward: Path,
    pub(crate) reverse: Path,
    pub(crate) wrap: W,
    /// Packets dropped before the path, counted from 1.
    pub(crate) taken_off: Vec<u64>,
    /// The period in which reports are dropped before the path.
    pub(crate) deaf: core::ops::Range<Time>,
    left: u64,
}

impl Pair<Lengths> {
    pub(crate) fn new(config: sender::Config, forward: Path, reverse: Path) -> Pair<Lengths> {
        Pair::wrapped(config, forward, reverse, Lengths)
    }
}

impl<W: Wrap> Pair<W> {
    pub(crate) fn wrapped(config: sender::Config, forward: Path, reverse: Path, wrap: W) -> Pair<W> {
        Pair {
            now: Time::ZERO,
            sender: Sender::new(config).expect("a stream"),
            receiver: Receiver::new(receiver::Config::default()),
            forward,
            reverse,
            wrap,
            taken_off: Vec::new(),
            deaf: Time::ZERO..Time::ZERO,
            left: 0,
        }
    }

    /// Runs until `end`.
    pub(crate) fn until(&mut self, end: Time) -> &mut Self {
        loop {
            while self.act() {}
            let waits = [self.sender.next(), self.receiver.next(), self.forward.next(), self.reverse.next()];
            match waits.into_iter().flatten().min().filter(|next| *next <= end) {
                Some(next) => self.now = next,
                None => break,
            }
        }
        self.now = end;
        check::conservation(&self.forward).expect("forward");
        check::conservation(&self.reverse).expect("reverse");
        self
    }

    fn act(&mut self) -> bool {
        let now = self.now;
        if let Some(packet) = self.sender.poll(now) {
            self.left += 1;
            if !self.taken_off.contains(&self.left) {
                let packet = self.wrap.wrap(packet);
                self.forward.accept(now, packet);
            }
        } else if let Some(packet) = self.forward.poll(now) {
            let packet = self.wrap.unwrap(packet);
            self.receiver.accept(now, packet);
        } else if let Some(packet) = self.receiver.poll(now) {
            if !self.deaf.contains(&now) {
                self.reverse.accept(now, packet);
            }
        } else if let Some(packet) = self.reverse.poll(now) {
            self.sender.accept(now, packet);
        } else {
            return false;
        }
        true
    }

    /// The value that the law reports under `name`.
    pub(crate) fn shown(&self, name: &str) -> f64 {
        let mut found = f64::NAN;
        self.sender.probe(&mut |probe, value| {
            if probe == name {
                found = value;
            }
        });
        found
    }
}
