//! The state of each segment in the window (E. Blanton, M. Allman, L. Wang, I. Jarvinen, M. Kojo, Y. Nishida: *A
//! Conservative Loss Recovery Algorithm Based on Selective Acknowledgment (SACK) for TCP*, RFC 6675 §4).
//!
//! | RFC 6675 | here |
//! |---|---|
//! | HighACK, HighData, HighRxt | `una`, `nxt`, `rxt`: each the first segment behind it |
//! | Update() | `update` |
//! | IsLost(S) | S is not SACKed, and below `lost`: three whole segments (DupThresh) behind S are SACKed |
//! | SetPipe(), pipe | `pipe` |
//!
//! Below the third-highest SACKed segment all segments that are not SACKed are lost, and below HighRxt all of these
//! have been retransmitted. Between timeouts both edges only rise, so counts are updated as they pass, and pipe is a
//! sum of four numbers.

use thalweg_core::time::Time;

use super::ack::{Ack, BLOCKS, Run};

/// The number of segments SACKed behind one that makes it lost, and of duplicate acknowledgements that begin recovery.
pub(crate) const DUP_THRESH: u32 = 3;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Scoreboard {
    /// A ring indexed by segment number; its length is a power of two.
    slots: Vec<Slot>,
    una: u64,
    nxt: u64,
    lost: Edge,
    rxt: Edge,
    sacked: u32,
    /// The numbers that follow the three highest SACKed segments, highest first; 0 for none.
    highest: [u64; DUP_THRESH as usize],
    /// The runs of the last acknowledgement: all of them are SACKed already.
    known: [Run; BLOCKS],
}

/// An edge in the window, and the number of segments between HighACK and the edge that are not SACKed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Edge {
    at: u64,
    unsacked: u32,
}

/// The time of a segment's first transmission, shifted left by two; the low two bits are flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Slot(u64);

impl Slot {
    const SACKED: u64 = 1;
    const AGAIN: u64 = 2;

    fn sent(self) -> Time {
        Time::from_nanos(self.0 >> 2)
    }

    fn has(self, flag: u64) -> bool {
        self.0 & flag != 0
    }
}

/// The new information of an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct AckSummary {
    /// The number of segments by which HighACK moved.
    pub(crate) advanced: u64,
    /// Segments SACKed for the first time.
    pub(crate) sacked: u32,
    /// Segments acknowledged for the first time, cumulatively or by SACK: DeliveredData of RFC 9937.
    pub(crate) delivered: u32,
    /// Segments newly considered lost.
    pub(crate) lost: u32,
    /// The sending time of the newest of these, if it was sent once and acknowledged at once.
    pub(crate) sent: Option<Time>,
    /// True if HighACK moved over a segment that was retransmitted and not SACKed.
    pub(crate) again: bool,
}

impl Scoreboard {
    pub(crate) fn new() -> Scoreboard {
        Scoreboard {
            slots: vec![Slot::default(); 16],
            una: 0,
            nxt: 0,
            lost: Edge::default(),
            rxt: Edge::default(),
            sacked: 0,
            highest: [0; DUP_THRESH as usize],
            known: [Run::default(); BLOCKS],
        }
    }

    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    /// FlightSize of RFC 5681: segments sent, and not acknowledged cumulatively.
    pub(crate) fn flight(&self) -> u32 {
        (self.nxt - self.una) as u32
    }

    pub(crate) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments thought to be on the path (SetPipe).
    pub(crate) fn pipe(&self) -> u32 {
        self.flight() - self.sacked - self.lost.unsacked + self.rxt.unsacked
    }

    /// True if the first segment in the window is lost.
    pub(crate) fn is_first_lost(&self) -> bool {
        self.una < self.lost.at
    }

    /// Records a new segment as sent; returns its number.
    pub(crate) fn send(&mut self, now: Time) -> u64 {
        let number = self.nxt;
        if self.nxt - self.una == self.slots.len() as u64 {
            self.grow();
        }
        *self.slot_mut(number) = Slot(now.as_nanos() << 2);
        self.nxt += 1;
        number
    }

    /// Records `number` as retransmitted, which excludes it from samples (Karn's rule); returns `number`.
    pub(crate) fn resend(&mut self, number: u64) -> u64 {
        self.slot_mut(number).0 |= Slot::AGAIN;
        number
    }

    /// Raises HighRxt to cover `number`.
    pub(crate) fn raise_rxt(&mut self, number: u64) {
        Self::raise(&self.slots, &mut self.rxt, number + 1);
    }

    /// The first segment from HighRxt on that is not SACKed and below `end`.
    ///
    /// SACKed segments before it are passed for good, so that all calls together walk the window once.
    fn first_unsacked(&mut self, end: u64) -> Option<u64> {
        while self.rxt.at < end && self.slot(self.rxt.at).has(Slot::SACKED) {
            self.rxt.at += 1;
        }
        (self.rxt.at < end).then_some(self.rxt.at)
    }

    /// NextSeg() rule (1) among segments below `end`: the first that is lost and has not been retransmitted.
    pub(crate) fn first_lost(&mut self, end: u64) -> Option<u64> {
        self.first_unsacked(self.lost.at.min(end))
    }

    /// NextSeg() rule (3): the first below the highest SACKed segment that has not been retransmitted.
    pub(crate) fn first_hole(&mut self) -> Option<u64> {
        self.first_unsacked(self.highest[0])
    }

    /// NextSeg() rule (4): the highest segment that is not SACKed.
    pub(crate) fn last_unsacked(&self) -> Option<u64> {
        (self.una..self.nxt).rev().find(|number| !self.slot(*number).has(Slot::SACKED))
    }

    /// Handles an expiry of the timer: all segments that are not SACKed are lost, and none has been retransmitted
    /// since.
    pub(crate) fn lose_all(&mut self) {
        self.lost = Edge { at: self.nxt, unsacked: self.flight() - self.sacked };
        self.rxt = Edge { at: self.una, unsacked: 0 };
    }

    /// Update(): processes an acknowledgement of segments that were sent.
    pub(crate) fn update(&mut self, ack: &Ack) -> AckSummary {
        let mut summary = AckSummary::default();
        if ack.next > self.una {
            self.acknowledge(ack.next, &mut summary);
        }
        if ack.blocks[0].to > 0 {
            let runs = ack.runs();
            runs.iter().for_each(|run| self.sack(*run, &mut summary));
            self.known = runs;
            let before = self.lost.unsacked;
            let edge = self.highest[DUP_THRESH as usize - 1].saturating_sub(1);
            Self::raise(&self.slots, &mut self.lost, edge);
            summary.lost = self.lost.unsacked.saturating_sub(before);
        }
        summary
    }

    fn acknowledge(&mut self, next: u64, summary: &mut AckSummary) {
        let (mut newest, mut again) = (None, false);
        for number in self.una..next {
            let slot = self.slot(number);
            if slot.has(Slot::SACKED) {
                self.sacked -= 1;
                continue;
            }
            summary.delivered += 1;
            self.lost.unsacked -= u32::from(number < self.lost.at);
            self.rxt.unsacked -= u32::from(number < self.rxt.at);
            again |= slot.has(Slot::AGAIN);
            newest = Some(slot.sent());
        }
        // Segments that waited behind a retransmitted one arrived long before this acknowledgement.
        summary.sent = newest.filter(|_| !again);
        summary.again = again;
        summary.advanced = next - self.una;
        self.una = next;
        self.lost.at = self.lost.at.max(next);
        self.rxt.at = self.rxt.at.max(next);
    }

    fn sack(&mut self, run: Run, summary: &mut AckSummary) {
        let mut number = run.from.max(self.una);
        while number < run.to.min(self.nxt) {
            if let Some(known) = self.known.iter().find(|known| known.contains(number)) {
                number = known.to;
                continue;
            }
            let slot = self.slot(number);
            if !slot.has(Slot::SACKED) {
                self.slot_mut(number).0 |= Slot::SACKED;
                self.sacked += 1;
                self.lost.unsacked -= u32::from(number < self.lost.at);
                self.rxt.unsacked -= u32::from(number < self.rxt.at);
                summary.sacked += 1;
                summary.delivered += 1;
                if !slot.has(Slot::AGAIN) {
                    summary.sent = summary.sent.max(Some(slot.sent()));
                }
                self.rank(number + 1);
            }
            number += 1;
        }
    }

    /// Keeps the three highest SACKed segments.
    fn rank(&mut self, behind: u64) {
        let [first, second, third] = self.highest;
        if behind > first {
            self.highest = [behind, first, second];
        } else if behind > second {
            self.highest = [first, behind, second];
        } else if behind > third {
            self.highest = [first, second, behind];
        }
    }

    fn raise(slots: &[Slot], edge: &mut Edge, to: u64) {
        for number in edge.at..to {
            let slot = slots[number as usize & (slots.len() - 1)];
            edge.unsacked += u32::from(!slot.has(Slot::SACKED));
        }
        edge.at = edge.at.max(to);
    }

    fn slot(&self, number: u64) -> Slot {
        self.slots[number as usize & (self.slots.len() - 1)]
    }

    fn slot_mut(&mut self, number: u64) -> &mut Slot {
        let mask = self.slots.len() - 1;
        &mut self.slots[number as usize & mask]
    }

    fn grow(&mut self) {
        let mut slots = vec![Slot::default(); self.slots.len() * 2];
        for number in self.una..self.nxt {
            slots[number as usize & (self.slots.len() * 2 - 1)] = self.slot(number);
        }
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests;
