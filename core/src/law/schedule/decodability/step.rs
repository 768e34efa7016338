//! The steps of the chain: the knowledge of each original and of the packets that end with it.

use super::super::channel::{Channel, Link};
use super::super::{Place, Queue};
use super::Delivery;

/// The change of the deficiency from l - 1 to l.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Step {
    pub(super) original: Original,
    /// Combinations that arrived and end here.
    pub(super) arrived: u32,
    /// Combinations in flight that end here.
    pub(super) coded: u32,
    /// The links to the first of them, and from each to the next.
    links: [Link; 2],
    /// True if they left later than packets behind the original, and do not change the state.
    pub(super) aside: bool,
    /// The link to a packet sent now.
    pub(super) next: Link,
    /// The largest relevant deficiency after this step, for one more combination than there are.
    pub(super) top: usize,
}

/// The knowledge of the copies of l.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Original {
    /// One arrived.
    Arrived,
    /// None is in flight.
    Lost,
    /// Some are in flight: the probabilities that all are lost, and that the newest is.
    InFlight { all: Link, newest: Link },
}

/// Makes the steps of a queue, in the order of its originals.
struct Walk<'a> {
    delivery: Delivery,
    channel: &'a Channel,
    /// The part of the knowledge of a packet that is left at each distance in packets.
    fading: &'a [f64],
    /// The packet whose state the chain has, and the one that would be sent now.
    at: u32,
    next: u32,
}

/// Computes the steps of `queue`; returns the link from the last of them to a packet sent now.
pub(super) fn steps(
    delivery: Delivery,
    queue: &Queue,
    channel: &Channel,
    fading: &[f64],
    steps: &mut Vec<Step>,
) -> Link {
    let at = queue.left().wrapping_sub(channel.since());
    let mut walk = Walk { delivery, channel, fading, at, next: queue.left().wrapping_add(1) };
    steps.clear();
    let mut in_flight = queue.in_doubt().enumerate().filter(|(_, place)| place.copies > 0 && !place.arrived).peekable();
    steps.extend(queue.in_doubt().enumerate().map(|(l, place)| {
        while in_flight.next_if(|(other, _)| *other <= l).is_some() {}
        walk.step(place, in_flight.peek().map(|(_, place)| place.copied))
    }));
    walk.link(walk.next)
}

impl Walk<'_> {
    /// The link from the present packet to another, which may have left before it: in the long run a channel is the
    /// same backward.
    fn link(&self, to: u32) -> Link {
        let distance = (to.wrapping_sub(self.at) as i32).unsigned_abs().max(1);
        self.channel.link(self.fading.get(distance as usize).copied().unwrap_or(0.0))
    }

    /// Moves to packets that end with the same original, which are assumed to be consecutive.
    fn go(&mut self, newest: u32, count: u32) -> [Link; 2] {
        let first = self.link(newest.wrapping_sub(count - 1));
        let last = self.link(newest);
        self.at = newest;
        [first, last]
    }

    /// The step of `place`; `behind` is the newest copy of the next original in flight.
    fn step(&mut self, place: &Place, behind: Option<u32>) -> Step {
        let neighbour = self.channel.link(self.fading.get(1).copied().unwrap_or(0.0));
        let original = match (place.arrived, place.copies) {
            (true, _) => Original::Arrived,
            (false, 0) => Original::Lost,
            (false, copies) => {
                let [first, newest] = self.go(place.copied, copies);
                let others = if copies > 1 { libm::pow(neighbour[1], f64::from(copies - 1)) } else { 1.0 };
                Original::InFlight { all: first.map(|lost| lost * others), newest }
            }
        };
        // Lossless streams keep the chain with which their delays were measured.
        let is_later = |behind: u32| place.combined.wrapping_sub(behind) as i32 > 0;
        let aside = self.delivery == Delivery::Any && behind.is_some_and(is_later);
        let links = match place.coded {
            0 => [neighbour; 2],
            _ if aside => [self.link(place.combined); 2],
            coded => [self.go(place.combined, coded)[0], neighbour],
        };
        Step {
            original,
            arrived: place.coded_arrived,
            coded: place.coded,
            links,
            aside,
            next: self.link(self.next),
            top: 0,
        }
    }
}

impl Step {
    /// The link to the `nth` combination in flight, from 0.
    pub(super) fn link(&self, nth: u32) -> Link {
        self.links[usize::from(nth > 0)]
    }
}
