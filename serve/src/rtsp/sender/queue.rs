//! The frames of one track that were read, and the packets of the first of them.

use std::collections::VecDeque;

use thalweg_core::time::Span;
use thalweg_core::wire::payload::Payload;

use super::cursor::Due;

/// Limit on the time over which the packets of a frame are spread.
const SPREAD: Span = Span::from_millis(40);
/// Packets of a frame that leave together, fewer than the ten that RFC 9002 §7.7 allows. Bursts of four take half of the CPU time
/// of single packets.
pub(super) const BURST: usize = 4;

/// The frames of one track that were read, in the order in which they are due.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) track: usize,
    frames: VecDeque<(Due, Vec<u8>)>,
    /// The packets of the first frame; none before the first of them is due.
    payloads: Vec<Payload>,
    sent: usize,
}

impl Queue {
    pub(super) fn new(track: usize) -> Queue {
        Queue { track, frames: VecDeque::new(), payloads: Vec::new(), sent: 0 }
    }

    pub(super) fn push(&mut self, due: Due, bytes: Vec<u8>) {
        self.frames.push_back((due, bytes));
    }

    /// Bytes of the frames of which nothing was sent. A frame that is being sent does not count: frames of another track
    /// that are due meanwhile must be read.
    pub(super) fn waiting(&self) -> usize {
        let begun = usize::from(self.has_begun());
        self.frames.iter().skip(begun).map(|(_, bytes)| bytes.len()).sum()
    }

    /// The time from the start of the play at which the next packet is due; none without a frame.
    pub(super) fn next_packet(&self) -> Option<Span> {
        let (due, _) = self.frames.front()?;
        let packets = self.payloads.len().max(1) as u64;
        let begun = (self.sent / BURST * BURST) as u64;
        Some(due.after + due.length.min(SPREAD) * begun / packets)
    }

    /// The first frame.
    pub(super) fn front(&self) -> Option<&(Due, Vec<u8>)> {
        self.frames.front()
    }

    /// True if the first frame has packets.
    pub(super) fn has_begun(&self) -> bool {
        !self.payloads.is_empty()
    }

    /// Begins the first frame, with these packets.
    pub(super) fn begin(&mut self, payloads: Vec<Payload>) {
        (self.payloads, self.sent) = (payloads, 0);
    }

    /// The next packet of the first frame.
    pub(super) fn payload(&self) -> Option<&Payload> {
        self.payloads.get(self.sent)
    }

    /// Records that a packet was sent. The frame leaves the queue with its last packet, or if it has none.
    pub(super) fn advance(&mut self) -> Option<Due> {
        self.sent += 1;
        if self.sent < self.payloads.len() {
            return None;
        }
        self.payloads.clear();
        self.sent = 0;
        self.frames.pop_front().map(|(due, _)| due)
    }
}
