//! The media that a sender can carry: the part of its planned rate that headers, control and repair leave.

use super::Sender;
use super::protection::Load;
use super::sliding::Sliding;
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};

/// Weight of the newest block in the averages of bytes.
const LOAD_GAIN: f64 = 1.0 / 16.0;

/// The media that a sender can carry now, for a source that can leave parts of it out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MediaBudget {
    /// The rate of media datagrams, without headers, control and the repair that the law of redundancy wants.
    pub rate: Rate,
    /// The longest that a datagram may wait before it leaves, beyond the time that each waits for its block. One that would
    /// wait for longer is dropped.
    pub longest_wait: Span,
    /// Bytes of media that wait to leave, beyond those of one block.
    pub queued: Bytes,
}

impl MediaBudget {
    /// The most bytes of media that may wait.
    pub fn capacity(&self) -> Bytes {
        self.rate.bytes_in(self.longest_wait)
    }
}

/// Averages over blocks: bytes of media, and all bytes with the repair that the law of redundancy wants.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct MediaShare {
    media: f64,
    all: f64,
}

impl MediaShare {
    /// Adds the contents of a block, and the repair packets that the law of redundancy wants for it.
    pub(super) fn add(&mut self, load: &Load, wanted: usize) {
        let all = load.wire.0 + load.control.0 + load.repair.0 * wanted as u64;
        self.media += LOAD_GAIN * (load.media.0 as f64 - self.media);
        self.all += LOAD_GAIN * (all as f64 - self.all);
    }

    /// The part of `rate` that is left for media; none before the first block.
    pub(super) fn of(&self, rate: Rate) -> Option<Rate> {
        let share = self.media / self.all;
        (share > 0.0).then(|| Rate::from_bps((rate.as_bps() as f64 * share) as u64))
    }
}

impl Sender {
    /// Sets whether the source leaves out what is beyond [`Sender::media_budget`]. Repair then has its part of the rate even
    /// while media waits; otherwise media that waits goes first. It begins as false.
    pub fn set_follows_budget(&mut self, follows_budget: bool) {
        self.follows_budget = follows_budget;
    }

    /// The media that the maximum rate or the rate law lets leave in time; none without either, before the first block,
    /// and while no media is sent.
    pub fn media_budget(&self, now: Time) -> Option<MediaBudget> {
        if !self.wants_media() {
            return None;
        }
        let rate = self.media_share.of(self.planned_rate()?)?;
        // Of media that fits, one block is queued as well: what has not left of the one before, and what the open one holds.
        let block = self.protection.block();
        let longest_wait = self.planned_wait(now).saturating_sub(block);
        let waiting = self.sliding.as_ref().map_or_else(|| self.blocks.queued(), Sliding::queued);
        let queued = Bytes(waiting.0.saturating_sub(rate.bytes_in(block).0));
        Some(MediaBudget { rate, longest_wait, queued })
    }
}
