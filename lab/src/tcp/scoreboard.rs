//! What became of each segment in the window (E. Blanton, M. Allman, L. Wang, I. Jarvinen, M. Kojo, Y. Nishida:
//! *A Conservative Loss Recovery Algorithm Based on Selective Acknowledgment (SACK) for TCP*, RFC 6675 §4).
//!
//! | RFC 6675 | here |
//! |---|---|
//! | HighACK, HighData, HighRxt | `una`, `nxt`, `rxt`: each the first segment behind |
//! | Update() | `update` |
//! | IsLost(S) | S is not SACKed, and below `lost`: three segments behind it are (DupThresh of them, whole ones) |
//! | SetPipe(), pipe | `pipe` |
//!
//! Below the third-highest SACKed segment everything that is not SACKed is lost, and below HighRxt all of it has been
//! sent again. Both edges only rise, so counts are kept as they pass, and pipe is a sum of four numbers.

use thalweg_core::time::Time;

use super::segment::{Ack, BLOCKS, Run};

/// Segments that must be SACKed behind one that is lost, and duplicate acknowledgements that begin recovery.
pub(crate) const DUP_THRESH: u32 = 3;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Scoreboard {
    /// A ring over the numbers; its length is a power of two.
    slots: Vec<Slot>,
    una: u64,
    nxt: u64,
    lost: Edge,
    rxt: Edge,
    sacked: u32,
    /// The first numbers behind the three highest SACKed segments, highest first; 0 for none.
    highest: [u64; DUP_THRESH as usize],
    /// The runs of the last acknowledgement: all SACKed already.
    known: [Run; BLOCKS],
}

/// An edge in the window, and how many segments between HighACK and it are not SACKed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Edge {
    at: u64,
    unsacked: u32,
}

/// When a segment was sent first, shifted left by two; below that two flags.
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

/// What an acknowledgement told that was not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct News {
    /// How far HighACK moved.
    pub(crate) advanced: u64,
    /// Segments SACKed for the first time.
    pub(crate) sacked: u32,
    /// Segments acknowledged for the first time, either way: DeliveredData of RFC 9937.
    pub(crate) delivered: u32,
    /// Segments that are lost and were not before.
    pub(crate) lost: u32,
    /// When the newest of them was sent, if it was sent once and the answer came at once.
    pub(crate) sent: Option<Time>,
    /// Returns whether HighACK moved over a segment that was sent again and not SACKed.
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

    /// FlightSize of RFC 5681: sent, and not acknowledged cumulatively.
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

    /// Whether the first segment in the window is lost.
    pub(crate) fn is_first_lost(&self) -> bool {
        self.una < self.lost.at
    }

    /// A new segment was sent; gives its number.
    pub(crate) fn send(&mut self, now: Time) -> u64 {
        let number = self.nxt;
        if self.nxt - self.una == self.slots.len() as u64 {
            self.grow();
        }
        *self.slot_mut(number) = Slot(now.as_nanos() << 2);
        self.nxt += 1;
        number
    }

    /// `number` is sent again, which bars it from samples (Karn's rule); gives it back.
    pub(crate) fn resend(&mut self, number: u64) -> u64 {
        self.slot_mut(number).0 |= Slot::AGAIN;
        number
    }

    /// HighRxt covers `number`, too.
    pub(crate) fn raise_rxt(&mut self, number: u64) {
        Self::raise(&self.slots, &mut self.rxt, number + 1);
    }

    /// The first segment from HighRxt on that is not SACKed and below `end`.
    ///
    /// SACKed segments that it finds on its way are passed for good, so that all calls together walk the window once.
    fn first_unsacked(&mut self, end: u64) -> Option<u64> {
        while self.rxt.at < end && self.slot(self.rxt.at).has(Slot::SACKED) {
            self.rxt.at += 1;
        }
        (self.rxt.at < end).then_some(self.rxt.at)
    }

    /// NextSeg() rule (1) among segments below `end`: the first that is lost and has not been sent again.
    pub(crate) fn first_lost(&mut self, end: u64) -> Option<u64> {
        self.first_unsacked(self.lost.at.min(end))
    }

    /// NextSeg() rule (3): the first below the highest SACKed segment that has not been sent again.
    pub(crate) fn first_hole(&mut self) -> Option<u64> {
        self.first_unsacked(self.highest[0])
    }

    /// NextSeg() rule (4): the highest that is not SACKed.
    pub(crate) fn last_unsacked(&self) -> Option<u64> {
        (self.una..self.nxt).rev().find(|number| !self.slot(*number).has(Slot::SACKED))
    }

    /// The timer expired: all that is not SACKed is lost, and nothing has been sent again since.
    pub(crate) fn lose_all(&mut self) {
        self.lost = Edge { at: self.nxt, unsacked: self.flight() - self.sacked };
        self.rxt = Edge { at: self.una, unsacked: 0 };
    }

    /// Update(): takes in an acknowledgement of segments that were sent.
    pub(crate) fn update(&mut self, ack: &Ack) -> News {
        let mut news = News::default();
        if ack.next > self.una {
            self.acknowledge(ack.next, &mut news);
        }
        if ack.blocks[0].to > 0 {
            let runs = ack.runs();
            runs.iter().for_each(|run| self.sack(*run, &mut news));
            self.known = runs;
            let before = self.lost.unsacked;
            let edge = self.highest[DUP_THRESH as usize - 1].saturating_sub(1);
            Self::raise(&self.slots, &mut self.lost, edge);
            news.lost = self.lost.unsacked.saturating_sub(before);
        }
        news
    }

    fn acknowledge(&mut self, next: u64, news: &mut News) {
        let (mut newest, mut again) = (None, false);
        for number in self.una..next {
            let slot = self.slot(number);
            if slot.has(Slot::SACKED) {
                self.sacked -= 1;
                continue;
            }
            news.delivered += 1;
            self.lost.unsacked -= u32::from(number < self.lost.at);
            self.rxt.unsacked -= u32::from(number < self.rxt.at);
            again |= slot.has(Slot::AGAIN);
            newest = Some(slot.sent());
        }
        // What waited behind a segment that was sent again came long before this answer.
        news.sent = newest.filter(|_| !again);
        news.again = again;
        news.advanced = next - self.una;
        self.una = next;
        self.lost.at = self.lost.at.max(next);
        self.rxt.at = self.rxt.at.max(next);
    }

    fn sack(&mut self, run: Run, news: &mut News) {
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
                news.sacked += 1;
                news.delivered += 1;
                if !slot.has(Slot::AGAIN) {
                    news.sent = news.sent.max(Some(slot.sent()));
                }
                self.rank(number + 1);
            }
            number += 1;
        }
    }

    /// Keeps the three highest.
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
