//! The packets that left: under way, acknowledged or lost.

use std::collections::VecDeque;

use super::losses::{Losses, OUTCOMES};
use crate::law::schedule::Coded;
use crate::time::Time;

/// So many packets are remembered after the last that was under way, for acknowledgements that come late: what has left the
/// window of the loss estimate is not put right in it.
const LATE: u64 = OUTCOMES as u64;

#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Flight {
    /// The sequence of the first record.
    first: u64,
    records: VecDeque<Record>,
    /// The oldest that is under way, or the next; all before it are decided.
    oldest: u64,
    under_way: u32,
    /// A packet whose outcome had been told as another came after all.
    is_corrected: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Record {
    pub(super) coded: Coded,
    pub(super) sent: Time,
    pub(super) size: u64,
    pub(super) fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    UnderWay,
    Acknowledged,
    Lost,
    /// Lost, or its acknowledgement: no later packet has come.
    Unheard,
    /// Lost when everything was: that says nothing about the next packet.
    Silenced,
}

impl Fate {
    /// Whether the packet was lost, if it is known and says anything.
    fn lost(self) -> Option<bool> {
        match self {
            Fate::Acknowledged => Some(false),
            Fate::Lost | Fate::Unheard => Some(true),
            Fate::UnderWay | Fate::Silenced => None,
        }
    }
}

impl Flight {
    pub(super) fn under_way(&self) -> u32 {
        self.under_way
    }

    /// Packets that left since the newest whose outcome and all before it are known.
    pub(super) fn undecided(&self) -> u32 {
        (self.next() - self.oldest) as u32
    }

    /// The sequence of the next packet.
    pub(super) fn next(&self) -> u64 {
        self.first + self.records.len() as u64
    }

    /// The first that is remembered.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    pub(super) fn push(&mut self, coded: Coded, sent: Time, size: u64) {
        self.records.push_back(Record { coded, sent, size, fate: Fate::UnderWay });
        self.under_way += 1;
    }

    pub(super) fn get(&self, sequence: u64) -> Option<&Record> {
        let index = usize::try_from(sequence.checked_sub(self.first)?).ok()?;
        self.records.get(index)
    }

    /// The oldest packet under way.
    pub(super) fn oldest(&self) -> Option<(u64, &Record)> {
        self.get(self.oldest).map(|record| (self.oldest, record))
    }

    /// What becomes of a packet; nothing changes one that was acknowledged.
    pub(super) fn decide(&mut self, sequence: u64, fate: Fate) {
        let Some(index) = sequence.checked_sub(self.first) else { return };
        if let Some(record) = self.records.get_mut(index as usize) {
            self.under_way -= u32::from(record.fate == Fate::UnderWay);
            self.is_corrected |= sequence < self.oldest && record.fate != fate;
            record.fate = fate;
        }
    }

    /// Tells the outcomes that are known since the last call, in the order of sending; where one was told as another than it
    /// is, all that are remembered are told anew. One that is forgotten stays as it is.
    pub(super) fn tell(&mut self, losses: &mut Losses) {
        losses.in_flight(self.under_way);
        let mut from = self.oldest;
        while self.oldest().is_some_and(|(_, record)| record.fate != Fate::UnderWay) {
            self.oldest += 1;
        }
        if std::mem::take(&mut self.is_corrected) {
            losses.take_back();
            from = self.first;
        }
        let [from, to] = [from, self.oldest].map(|sequence| (sequence - self.first) as usize);
        self.records.range(from..to).filter_map(|record| record.fate.lost()).for_each(|lost| losses.outcome(lost));
        self.forget(losses);
    }

    fn forget(&mut self, losses: &mut Losses) {
        while self.first < self.oldest
            && let Some(fate) = self.records.front().map(|record| record.fate)
            && (fate == Fate::Acknowledged || self.oldest - self.first > LATE)
        {
            fate.lost().into_iter().for_each(|lost| losses.settle(lost));
            self.records.pop_front();
            self.first += 1;
        }
        if self.records.is_empty() {
            self.records.shrink_to(LATE as usize);
        }
    }
}
