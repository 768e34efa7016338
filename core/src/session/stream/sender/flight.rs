//! The packets that left: under way, acknowledged or lost.

use std::collections::VecDeque;

use crate::law::schedule::Coded;
use crate::time::Time;

/// So many packets are remembered after the last that was under way, for acknowledgements that come late.
const LATE: u64 = 64;

#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Flight {
    /// The sequence of the first record.
    first: u64,
    records: VecDeque<Record>,
    /// The oldest that is under way, or the next; all before it are decided.
    oldest: u64,
    under_way: u32,
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

impl Flight {
    pub(super) fn under_way(&self) -> u32 {
        self.under_way
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
            record.fate = fate;
        }
    }

    /// The outcomes that are known since the last call, in the order of sending: whether each was lost.
    pub(super) fn outcomes(&mut self, mut tell: impl FnMut(bool)) {
        while let Some((_, record)) = self.oldest() {
            match record.fate {
                Fate::UnderWay => break,
                Fate::Acknowledged => tell(false),
                Fate::Lost | Fate::Unheard => tell(true),
                Fate::Silenced => {}
            }
            self.oldest += 1;
        }
        while self.first < self.oldest
            && (self.oldest - self.first > LATE || self.records.front().is_some_and(|r| r.fate == Fate::Acknowledged))
        {
            self.records.pop_front();
            self.first += 1;
        }
        if self.records.is_empty() {
            self.records.shrink_to(LATE as usize);
        }
    }
}
