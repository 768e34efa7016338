//! The media that waits to leave, and its limits.

use thalweg_core::session::live::sender::MediaBudget;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use crate::PACKET;

/// The queue of a sender while a datagram is judged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Queue {
    rate: Rate,
    bytes: u64,
    /// Bytes beyond which datagrams leave too late; none if every datagram leaves in time.
    limit: Option<u64>,
}

impl Queue {
    pub(super) fn new(budget: Option<&MediaBudget>) -> Queue {
        let (rate, bytes) = budget.map_or((Rate::from_bps(0), 0), |budget| (budget.rate, budget.queued.0));
        Queue { rate, bytes, limit: budget.map(|budget| budget.capacity().0) }
    }

    /// Adds a packet.
    pub(super) fn push(&mut self) {
        self.bytes += PACKET as u64;
    }

    /// Bytes that leave within `span`.
    pub(super) fn leaving(&self, span: Span) -> Bytes {
        self.rate.bytes_in(span)
    }

    /// The bytes that plans use. Ours: a tenth is left for pictures that are larger than expected.
    fn planned(&self) -> u64 {
        self.limit.map_or(u64::MAX, |limit| limit / 10 * 9)
    }

    /// Three quarters of the plan, which are kept for pictures that others refer to. Ours: with half, 29 % of the pictures
    /// that ffmpeg decodes of groups of 25 are lost in place of 27 % (`tests/ffmpeg.rs`), and of groups of 250 half.
    pub(super) fn reserve(&self) -> Bytes {
        Bytes(self.planned() / 4 * 3)
    }

    /// True if so many bytes more are within the plan.
    pub(super) fn fits(&self, bytes: Bytes) -> bool {
        self.bytes.saturating_add(bytes.0) <= self.planned()
    }

    /// True if so many bytes more leave the reserve free.
    pub(super) fn leaves_reserve(&self, bytes: Bytes) -> bool {
        self.fits(bytes + self.reserve())
    }

    /// True if so many bytes more leave in time.
    pub(super) fn can_carry(&self, bytes: Bytes) -> bool {
        self.limit.is_none_or(|limit| self.bytes.saturating_add(bytes.0) <= limit)
    }

    /// True if a null packet is within half of what the reserve leaves: those must not displace pictures.
    pub(super) fn fits_null(&self) -> bool {
        self.fits(Bytes(self.planned() / 8 * 7 + PACKET as u64))
    }

    /// True if the reserve is free.
    pub(super) fn is_short(&self) -> bool {
        self.leaves_reserve(Bytes(0))
    }
}
