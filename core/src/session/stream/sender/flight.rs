//! Sent packets: in flight, acknowledged or lost.

use super::losses::{Losses, OUTCOMES};
use crate::law::schedule::Coded;
use crate::session::path::sent_packets::{Sent, SentPackets};
use crate::time::Time;

/// The number of decided packets remembered before the oldest in flight, for late acknowledgements. Outcomes that have
/// left the window of the loss estimate are not corrected in it.
const LATE: u64 = OUTCOMES as u64;

#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Flight {
    sent: SentPackets<Record>,
    /// True if an outcome has changed after it was reported.
    is_corrected: bool,
}

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Record {
    pub(super) coded: Coded,
    pub(super) sent: Time,
    pub(super) size: u64,
    pub(super) outcome: Outcome,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    InFlight,
    Acknowledged,
    Lost,
    /// Declared lost by a timer: the packet or its acknowledgement was lost, as no later packet was acknowledged.
    TimedOut,
    /// Lost during a silence or with an earlier association: no evidence about the next packet.
    Abandoned,
}

impl Sent for Record {
    fn at(&self) -> Time {
        self.sent
    }

    fn is_in_flight(&self) -> bool {
        self.outcome == Outcome::InFlight
    }
}

impl Outcome {
    /// True if the packet was lost; none if its outcome is unknown, or no evidence.
    fn lost(self) -> Option<bool> {
        match self {
            Outcome::Acknowledged => Some(false),
            Outcome::Lost | Outcome::TimedOut => Some(true),
            Outcome::InFlight | Outcome::Abandoned => None,
        }
    }
}

impl Flight {
    pub(super) fn sent(&self) -> &SentPackets<Record> {
        &self.sent
    }

    /// The number of packets sent since the newest packet whose outcome and all before it are known.
    pub(super) fn undecided(&self) -> u32 {
        (self.sent.next() - self.sent.decided()) as u32
    }

    pub(super) fn push(&mut self, coded: Coded, sent: Time, size: u64) {
        self.sent.push(Record { coded, sent, size, outcome: Outcome::InFlight });
    }

    /// Sets the outcome of a packet. Callers do not change one that was acknowledged.
    pub(super) fn decide(&mut self, sequence: u64, outcome: Outcome) {
        let before = self.sent.update(sequence, |record| core::mem::replace(&mut record.outcome, outcome));
        self.is_corrected |= sequence < self.sent.decided() && before.is_some_and(|before| before != outcome);
    }

    /// Reports the outcomes known since the last call, in the order of sending. If a reported outcome has changed, all
    /// that are remembered are reported anew; those that are forgotten stay as they are.
    pub(super) fn report_losses(&mut self, losses: &mut Losses) {
        losses.in_flight(self.sent.in_flight());
        let mut numbers = self.sent.advance();
        if core::mem::take(&mut self.is_corrected) {
            losses.take_back();
            numbers.start = self.sent.first();
        }
        self.sent.range(numbers).filter_map(|record| record.outcome.lost()).for_each(|lost| losses.outcome(lost));
        self.forget(losses);
    }

    fn forget(&mut self, losses: &mut Losses) {
        while self.sent.first() < self.sent.decided()
            && let Some(outcome) = self.sent.front().map(|record| record.outcome)
            && (outcome == Outcome::Acknowledged || self.sent.decided() - self.sent.first() > LATE)
        {
            outcome.lost().into_iter().for_each(|lost| losses.settle(lost));
            self.sent.pop_first();
        }
        self.sent.shrink_to(LATE as usize);
    }
}
