//! The blocks of a stream: one collects media, others wait for a rate law or leave.

use std::collections::VecDeque;

use super::block::{Block, Encoders};
use crate::time::{Span, Time};
use crate::units::Bytes;

/// A block that collects no more media and has no repair yet.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ClosedBlock {
    pub(super) block: Block,
    pub(super) closes_at: Time,
    /// The time since the block before closed.
    pub(super) since_previous: Span,
}

/// All blocks of a stream, in the order of their media.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Blocks {
    /// The block that collects media, and the time at which it closes.
    open: Option<(Block, Time)>,
    /// The time at which the last block closed.
    closed: Option<Time>,
    /// Blocks that wait, under a rate law, for the blocks before them to leave.
    waiting: VecDeque<ClosedBlock>,
    leaving: VecDeque<Block>,
    /// Blocks whose memory is used again.
    spare: Vec<Block>,
    encoders: Encoders,
    /// The number of the next source block (RFC 6865 §5.1).
    number: u32,
    /// The time at which all queued packets will have left.
    free_at: Time,
}

impl Blocks {
    pub(super) fn new(now: Time) -> Blocks {
        Blocks {
            open: None,
            closed: None,
            waiting: VecDeque::new(),
            leaving: VecDeque::new(),
            spare: Vec::new(),
            encoders: Encoders::default(),
            number: 0,
            free_at: now,
        }
    }

    /// The open block, and the time at which it closes; a new one of `length` whose first packet has the number `first`
    /// if there is none. Blocks follow one another without a gap while media flows.
    pub(super) fn take_open_or_new(&mut self, now: Time, length: Span, first: u64) -> (Block, Time) {
        self.open.take().unwrap_or_else(|| {
            let opened = self.closed.filter(|closed| now.since(*closed) < length).unwrap_or(now);
            let mut block = self.spare.pop().unwrap_or_default();
            block.reopen(opened, first);
            (block, opened + length)
        })
    }

    /// Keeps a block open until `closes_at`.
    pub(super) fn keep_open(&mut self, block: Block, closes_at: Time) {
        self.open = Some((block, closes_at));
    }

    /// The open block, and the time at which it closes.
    pub(super) fn take_open(&mut self) -> Option<(Block, Time)> {
        self.open.take()
    }

    /// The open block if its time has come, and that time.
    pub(super) fn take_due(&mut self, now: Time) -> Option<(Block, Time)> {
        self.open.take_if(|(_, closes_at)| *closes_at <= now)
    }

    /// The time at which the open block closes.
    pub(super) fn closes_at(&self) -> Option<Time> {
        self.open.as_ref().map(|(_, closes_at)| *closes_at)
    }

    /// Closes a block at `closes_at`.
    pub(super) fn close(&mut self, block: Block, closes_at: Time) -> ClosedBlock {
        let since_previous = self.closed.replace(closes_at).map_or(Span::MAX, |closed| closes_at.since(closed));
        ClosedBlock { block, closes_at, since_previous }
    }

    /// Makes up to `repairs` repair packets of a block, and numbers its parts. Returns the number of repair packets made.
    pub(super) fn protect(&mut self, block: &mut Block, repairs: usize) -> usize {
        let repairs = block.close(repairs, self.number, &mut self.encoders);
        self.number = self.number.wrapping_add(block.parts());
        repairs
    }

    /// True if every packet of the blocks that were scheduled has left, and no block waits.
    pub(super) fn have_left(&self) -> bool {
        self.waiting.is_empty() && self.leaving.iter().all(|block| block.next().is_none())
    }

    /// True if no block waits or leaves.
    pub(super) fn is_empty(&self) -> bool {
        self.leaving.is_empty() && self.waiting.is_empty()
    }

    /// Lets a block wait for those before it.
    pub(super) fn wait(&mut self, closed: ClosedBlock) {
        self.waiting.push_back(closed);
    }

    /// The first block that waits, if all of its media was produced before `expired_before`.
    pub(super) fn take_expired(&mut self, expired_before: Time) -> Option<ClosedBlock> {
        let has_expired = self.waiting.front().is_some_and(|closed| closed.block.newest() < expired_before);
        if has_expired { self.waiting.pop_front() } else { None }
    }

    /// The first block that waits, once all before it have left.
    pub(super) fn take_waiting(&mut self) -> Option<ClosedBlock> {
        self.waiting.pop_front()
    }

    /// Schedules a block evenly from `start` on, over the time `over`.
    pub(super) fn schedule(&mut self, mut block: Block, start: Time, over: Span) {
        block.schedule(start, over);
        self.free_at = start + over;
        self.leaving.push_back(block);
    }

    /// The number of blocks that leave.
    pub(super) fn leaving(&self) -> usize {
        self.leaving.len()
    }

    /// Delays the last block to leave from `now` on at the earliest.
    pub(super) fn delay_last(&mut self, now: Time) {
        if let Some(block) = self.leaving.back_mut() {
            self.free_at = block.delay(now);
        }
    }

    /// The time at which all queued packets will have left.
    pub(super) fn free_at(&self) -> Time {
        self.free_at
    }

    /// The first block that leaves, even if all of its packets have left.
    pub(super) fn first(&self) -> Option<&Block> {
        self.leaving.front()
    }

    /// The same, to take packets out.
    pub(super) fn first_mut(&mut self) -> Option<&mut Block> {
        self.leaving.front_mut()
    }

    /// Removes the first block that leaves, and keeps its memory.
    pub(super) fn remove_first(&mut self) {
        self.spare.extend(self.leaving.pop_front());
    }

    /// Keeps the memory of a block that does not leave.
    pub(super) fn recycle(&mut self, block: Block) {
        self.spare.push(block);
    }

    /// Bytes of media that have not left yet.
    pub(super) fn queued(&self) -> Bytes {
        let open = self.open.iter().map(|(block, _)| block);
        let waiting = self.waiting.iter().map(|closed| &closed.block);
        open.chain(waiting).chain(&self.leaving).map(Block::queued).fold(Bytes(0), |all, block| all + block)
    }

    /// Drops all media.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.leaving.clear();
        self.open = None;
    }
}
