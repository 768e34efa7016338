//! A path through the network: nodes one behind the other, and cross traffic that joins in between.
//!
//! ```
//! use thalweg_core::{rng::Rng, time::{Span, Time}};
//! use thalweg_lab::node::{Node, loss::Loss, wire::Wire};
//! use thalweg_lab::{check, packet::Packet, path::Path};
//!
//! let rng = Rng::new(1).fork("forward");
//! let mut path = Path::default()
//!     .then("loss", Loss::independent(0.0, rng.fork("loss")))
//!     .then("wire", Wire::new(Span::from_millis(20)));
//! path.accept(Time::ZERO, Packet::datagram(0, b"hello".to_vec()));
//! let arrival = path.next().expect("one packet is on its way");
//! assert_eq!(arrival, Time::ZERO + Span::from_millis(20));
//! assert_eq!(path.poll(arrival), Some(Packet::datagram(0, b"hello".to_vec())));
//! check::conservation(&path).expect("in = out + dropped + queued");
//! ```

mod element;
mod pair;

use std::fmt;

use thalweg_core::time::{Span, Time};

pub use self::element::{Element, Traffic};
pub use self::pair::{Pair, Side};
use crate::node::delay_queue::DelayQueue;
use crate::node::{Drops, Node, Tallied, Tally};
use crate::packet::{CROSS, Packet};

/// A chain of named elements, itself a node.
///
/// Between two calls a path processes all events in the order of time, however late the second call comes: its internal
/// events do not depend on how often it is driven.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Path {
    stages: Vec<Stage>,
    crowd: Vec<Cross>,
    out: DelayQueue,
    accepted: u64,
    delivered: u64,
    /// Cross traffic packets that reached the far end.
    discarded: u64,
}

#[derive(Clone, PartialEq, Debug)]
struct Stage {
    name: String,
    element: Element,
    /// The minimum delay between a packet's exit from this element and the far end.
    ahead: Span,
    received: u64,
    sent: u64,
}

#[derive(Clone, PartialEq, Debug)]
struct Cross {
    source: Traffic,
    before: usize,
    injected: u64,
}

/// The account of one element of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Account<'a> {
    /// The element's name.
    pub name: &'a str,
    /// Packets that entered.
    pub received: u64,
    /// Packets that left.
    pub sent: u64,
    /// The element's own account.
    pub tally: Tally,
}

/// There is no element of that name on the path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoSuchElement;

impl fmt::Display for NoSuchElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no element of that name on the path")
    }
}

impl std::error::Error for NoSuchElement {}

/// The next event on a path.
enum Step {
    Stage(usize),
    Cross(usize),
}

impl Path {
    /// The path with one more element at its far end.
    pub fn then(mut self, name: &str, element: impl Into<Element>) -> Path {
        let element = element.into();
        for stage in &mut self.stages {
            stage.ahead += element.node().least_delay();
        }
        self.stages.push(Stage { name: name.to_owned(), element, ahead: Span::ZERO, received: 0, sent: 0 });
        self
    }

    /// The path with cross traffic that joins before the element called `before` and leaves at the far end.
    ///
    /// # Errors
    /// There is no such element.
    pub fn joined(mut self, source: impl Into<Traffic>, before: &str) -> Result<Path, NoSuchElement> {
        let before = self.stages.iter().position(|stage| stage.name == before).ok_or(NoSuchElement)?;
        self.crowd.push(Cross { source: source.into(), before, injected: 0 });
        Ok(self)
    }

    /// The elements, from the near end to the far end; none if there is cross traffic.
    pub(crate) fn into_elements(self) -> Option<Vec<Element>> {
        self.crowd.is_empty().then(|| self.stages.into_iter().map(|stage| stage.element).collect())
    }

    /// The element called `name`.
    pub fn element(&self, name: &str) -> Option<&Element> {
        self.stages.iter().find(|stage| stage.name == name).map(|stage| &stage.element)
    }

    /// The account of every element, from the near end to the far end.
    pub fn accounts(&self) -> impl Iterator<Item = Account<'_>> {
        self.stages.iter().map(|stage| Account {
            name: &stage.name,
            received: stage.received,
            sent: stage.sent,
            tally: stage.element.node().tally(),
        })
    }

    /// Packets accepted, without cross traffic.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Packets that left at the far end, without cross traffic.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Processes all events up to `now`, in the order of time.
    fn run(&mut self, now: Time) {
        while let Some((at, step)) = self.earliest()
            && at <= now
        {
            match step {
                Step::Stage(index) => {
                    if let Some(packet) = self.stages[index].element.node_mut().poll(at) {
                        self.stages[index].sent += 1;
                        self.hand(index + 1, at, packet);
                    }
                }
                Step::Cross(index) => {
                    let cross = &mut self.crowd[index];
                    let packet = Packet::length(CROSS + index as u32, cross.source.node_mut().emit());
                    cross.injected += 1;
                    let before = cross.before;
                    self.hand(before, at, packet);
                }
            }
        }
    }

    /// The next event. At one instant the farthest element comes first: a packet leaving a queue frees space for an
    /// arrival.
    fn earliest(&self) -> Option<(Time, Step)> {
        let stages = self.stages.iter().enumerate().rev();
        let stages = stages.filter_map(|(index, stage)| Some((stage.element.node().next()?, Step::Stage(index))));
        let crowd =
            self.crowd.iter().enumerate().map(|(index, cross)| (cross.source.node().next(), Step::Cross(index)));
        stages.chain(crowd).min_by_key(|(at, _)| *at)
    }

    fn hand(&mut self, index: usize, at: Time, packet: Packet) {
        match self.stages.get_mut(index) {
            Some(stage) => {
                stage.received += 1;
                stage.element.node_mut().accept(at, packet);
            }
            None if packet.is_cross() => self.discarded += 1,
            None => self.out.put(at, packet),
        }
    }
}

impl Node for Path {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.run(now);
        self.accepted += 1;
        self.hand(0, now, packet);
    }

    /// The first instant at which a packet can leave. Internal events before that can wait until then: the result is
    /// the same, and a clock that wakes for every step of every packet wakes three times too often.
    fn next(&self) -> Option<Time> {
        let stages = self.stages.iter().filter_map(|stage| Some(stage.element.node().next()? + stage.ahead));
        let crowd = self.crowd.iter().map(|cross| {
            let joined = &self.stages[cross.before];
            cross.source.node().next() + joined.element.node().least_delay() + joined.ahead
        });
        self.out.next().or_else(|| stages.chain(crowd).min())
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.run(now);
        let packet = self.out.take(now)?;
        self.delivered += 1;
        Some(packet)
    }

    fn least_delay(&self) -> Span {
        self.stages.first().map_or(Span::ZERO, |first| first.element.node().least_delay() + first.ahead)
    }
}

impl Tallied for Path {
    /// Cross traffic counts as added where it joins and as dropped where it leaves.
    fn tally(&self) -> Tally {
        let injected = self.crowd.iter().map(|cross| cross.injected).sum();
        let ends = Tally {
            added: injected,
            dropped: Drops { of_ends: 0, of_cross: self.discarded },
            held: self.out.len(),
            ..Tally::default()
        };
        self.accounts().fold(ends, |sum, account| sum + account.tally)
    }
}
