//! One contender for the medium: the access point or a station, with its queue and its backoff.

use std::collections::VecDeque;

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};

use super::{Link, PhyRate, RETRY_LIMIT};
use crate::packet::Packet;

/// aCWmin(0), the first contention window of a station without OFDM (18.4.5, Table 18-5).
const CW_MIN_DSSS: u64 = 31;
/// aCWmin(1), that of all others.
const CW_MIN_OFDM: u64 = 15;
/// aCWmax.
const CW_MAX: u64 = 1023;

/// A packet in a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Frame {
    pub(super) link: Link,
    pub(super) arrived: Time,
    pub(super) packet: Packet,
}

/// A queue before the medium, and the backoff of the frame at its head.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Contender {
    frames: VecDeque<Frame>,
    /// Idle slots from the opening of the round to its transmission; none if no backoff is pending, which happens with
    /// an empty queue alone.
    backoff: Option<u64>,
    /// Collisions of the frame at the head.
    failures: u32,
    /// Its first contention window.
    cw_min: u64,
    rng: Rng,
}

impl Contender {
    pub(super) fn new(rate: PhyRate, rng: Rng) -> Contender {
        let cw_min = if rate.is_dsss() { CW_MIN_DSSS } else { CW_MIN_OFDM };
        Contender { frames: VecDeque::new(), backoff: None, failures: 0, cw_min, rng }
    }

    /// Packets in the queue, with the one at its head.
    pub(super) fn waiting(&self) -> u64 {
        self.frames.len() as u64
    }

    pub(super) fn head(&self) -> Option<&Frame> {
        self.frames.front()
    }

    /// The packets behind the one at the head.
    pub(super) fn behind(&self) -> impl Iterator<Item = &Packet> {
        self.frames.iter().skip(1).map(|frame| &frame.packet)
    }

    pub(super) fn put(&mut self, frame: Frame) {
        self.frames.push_back(frame);
    }

    /// Removes the frame at the head, which was delivered.
    pub(super) fn take(&mut self) -> Option<Frame> {
        self.frames.pop_front()
    }

    /// Idle slots until it transmits; none without a frame.
    pub(super) fn contends(&self) -> Option<u64> {
        self.backoff.filter(|_| !self.frames.is_empty())
    }

    /// Enters the contention at `now` with its first frame. The medium is busy until `busy_until`; slots count from
    /// `open` on.
    pub(super) fn join(&mut self, now: Time, busy_until: Time, open: Time, slot: Span) {
        let pending = self.backoff.filter(|slots| open + slot * *slots > now);
        self.backoff = Some(match pending {
            Some(slots) => slots,
            None if now < busy_until => self.draw(),
            // Deviation(802.11 10.3.4.2): a frame that finds the medium idle waits for the next boundary of the slots
            // that the last transmission started, half a slot on average. Sent at once, it would give contenders slots
            // of different phases, which no model of the DCF has.
            None => now.since(open).as_nanos().div_ceil(slot.as_nanos()),
        });
    }

    /// Counts the idle slots of a round that ends now. Without a frame, a backoff that has ended is no longer pending.
    pub(super) fn pass(&mut self, slots: u64) {
        self.backoff = match self.backoff {
            Some(left) if self.frames.is_empty() && left <= slots => None,
            Some(left) => Some(left.saturating_sub(slots)),
            None => None,
        };
    }

    /// Draws the backoff that follows a transmission which was acknowledged.
    pub(super) fn succeed(&mut self) {
        self.failures = 0;
        self.backoff = Some(self.draw());
    }

    /// Draws the backoff that follows a collision; returns the frame if it has reached the retry limit.
    pub(super) fn fail(&mut self) -> Option<Frame> {
        self.failures += 1;
        let dropped = (self.failures == RETRY_LIMIT).then(|| self.frames.pop_front()).flatten();
        if dropped.is_some() {
            self.failures = 0;
        }
        // Reading(802.11 10.3.2.9): the timeout of an acknowledgement ends with EIFS, one slot too late for the first
        // slot behind the collision, which therefore no contender uses (Tinnirello, Bianchi, Xiao 2010). Since 2007 the
        // standard has a shorter timeout, with which colliding stations would contend before all others.
        self.backoff = Some(1 + self.draw());
        dropped
    }

    /// A uniform draw from the contention window of the frame at the head.
    fn draw(&mut self) -> u64 {
        let window = (((self.cw_min + 1) << self.failures) - 1).min(CW_MAX);
        self.rng.below(window + 1)
    }
}
