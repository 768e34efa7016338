//! What became of every packet, in the order in which they left.
//!
//! Reordering is not loss: a packet counts as lost once a report has named it missing, three packets that left later
//! have come, and a quarter of a round trip has passed since. A packet that no report ever names counts as nothing, so
//! that a lost report raises no window (GENEVA footnote 2).

use std::collections::VecDeque;

use super::brake::Sample;
use crate::time::{Span, Time};

/// How long a packet is remembered.
pub(super) const MEMORY: Span = Span::from_secs(2);

/// Later packets that must have come before a missing one is lost, as RFC 5348 §5.1 has it.
const LATER: usize = 3;

/// GENEVA §5: a burst is a run of more than three losses.
const BURST: u32 = 4;

/// Stands for a sequence number whose packet never left.
const NEVER: u64 = u64::MAX;

/// The two RTP streams of a session; each numbers its own packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stream {
    Source = 0,
    Repair = 1,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Fate {
    Unknown,
    Missing {
        since: Option<Time>,
    },
    /// After so long, there and back.
    Delivered {
        delay: Span,
    },
    Lost,
}

#[derive(Clone, PartialEq, Debug)]
struct Sent {
    at: Time,
    fate: Fate,
}

/// The order numbers of one stream's packets, by sequence number.
#[derive(Clone, Default, PartialEq, Debug)]
struct Orders {
    first: u64,
    orders: VecDeque<u64>,
}

/// What a report has settled.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Settled {
    /// Packets found lost.
    pub(super) lost: u32,
    /// Packets found delivered.
    pub(super) delivered: u32,
    /// Round trip of the newly delivered packet that left last.
    pub(super) round_trip: Option<Span>,
    /// All of these, with their delays and their losses in a row.
    pub(super) passed: Sample,
}

/// The memory of a sender.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct History {
    /// Order number of `sent[0]`.
    first: u64,
    sent: VecDeque<Sent>,
    streams: [Orders; 2],
    /// Everything before it is settled.
    settled: u64,
    /// The last packets that have come, in sending order.
    newest: [u64; LATER],
    /// Since the last call of [`History::settle`], and when the packet of its round trip left.
    fresh: Settled,
    sampled: Option<Time>,
    /// When anything was found delivered last.
    progressed: Time,
    run: u32,
    /// Runs of more than three losses so far.
    pub(super) bursts: u64,
}

impl History {
    /// Notes that packet `sequence` of `stream` has left. Sequence numbers that were skipped have never left.
    pub(super) fn sent(&mut self, stream: Stream, sequence: u64, at: Time) {
        let order = self.first + self.sent.len() as u64;
        self.sent.push_back(Sent { at, fate: Fate::Unknown });
        let Orders { first, orders } = &mut self.streams[stream as usize];
        if orders.is_empty() {
            *first = sequence;
        }
        let skipped = sequence.saturating_sub(*first + orders.len() as u64);
        orders.extend((0..skipped).map(|_| NEVER));
        orders.push_back(order);
    }

    /// The last sequence number of `stream` that left, if it is still remembered.
    pub(super) fn last(&self, stream: Stream) -> Option<u64> {
        let Orders { first, orders } = &self.streams[stream as usize];
        (first + orders.len() as u64).checked_sub(1).filter(|_| !orders.is_empty())
    }

    /// Takes in what a report says of one packet: how long the receiver had held it when it reported, or that it was
    /// missing. What was said before of the same packet stays said.
    pub(super) fn reported(&mut self, now: Time, stream: Stream, sequence: u64, held: Option<Span>) {
        let Orders { first, orders } = &self.streams[stream as usize];
        let order = sequence.checked_sub(*first).and_then(|at| orders.get(usize::try_from(at).ok()?));
        let Some(&order) = order.filter(|&&order| order != NEVER && order >= self.first) else { return };
        let sent = &mut self.sent[(order - self.first) as usize];
        match (sent.fate, held) {
            (Fate::Unknown | Fate::Missing { .. }, Some(held)) => {
                let delay = now.since(sent.at).saturating_sub(held);
                sent.fate = Fate::Delivered { delay };
                self.fresh.delivered += 1;
                self.fresh.passed.deliver(delay);
                if self.sampled.is_none_or(|sampled| sampled < sent.at) {
                    self.sampled = Some(sent.at);
                    self.fresh.round_trip = Some(delay);
                }
                if order + 1 > self.newest[0] {
                    self.newest[0] = order + 1;
                    self.newest.sort_unstable();
                }
            }
            (Fate::Unknown, None) => sent.fate = Fate::Missing { since: None },
            (Fate::Missing { .. } | Fate::Delivered { .. } | Fate::Lost, _) => {}
        }
    }

    /// Decides, after a report, what has become of the packets; `reordering` is the patience beyond three packets.
    // Deviation(GENEVA §3.2.1): the paper's receiver counts at once what the highest sequence number has skipped.
    pub(super) fn settle(&mut self, now: Time, reordering: Span) -> Settled {
        // `newest` holds orders plus one, so zero means that fewer than three have come.
        let until = self.newest[0].saturating_sub(1);
        let mut all_settled = true;
        for order in self.settled.max(self.first)..until {
            let sent = &mut self.sent[(order - self.first) as usize];
            if let Fate::Missing { since } = &mut sent.fate
                && now.since(*since.get_or_insert(now)) >= reordering
            {
                sent.fate = Fate::Lost;
                self.lose(order);
            }
            match self.sent[(order - self.first) as usize].fate {
                fate @ (Fate::Delivered { .. } | Fate::Lost) if all_settled => {
                    self.pass(fate == Fate::Lost);
                    self.settled = order + 1;
                }
                Fate::Delivered { .. } | Fate::Lost => {}
                Fate::Unknown | Fate::Missing { .. } => all_settled = false,
            }
        }
        self.sampled = None;
        if self.fresh.delivered > 0 {
            self.progressed = now;
        }
        core::mem::take(&mut self.fresh)
    }

    /// Packets that left `patience` ago or earlier, but since anything was found delivered: if reports come, and say
    /// nothing of them, the path takes nothing. No packet after them will ever show it.
    pub(super) fn stalled(&self, now: Time, patience: Span) -> u32 {
        let left_by = |time: Time| self.sent.partition_point(|sent| sent.at <= time);
        left_by(now - patience).saturating_sub(left_by(self.progressed)) as u32
    }

    /// Forgets every packet that left before `before`; what is still open then counts as nothing.
    pub(super) fn forget(&mut self, before: Time) {
        while self.sent.front().is_some_and(|sent| sent.at < before) {
            if self.first >= self.settled {
                self.run = 0;
                self.settled = self.first + 1;
            }
            self.sent.pop_front();
            self.first += 1;
        }
        for Orders { first, orders } in &mut self.streams {
            while orders.front().is_some_and(|&order| order == NEVER || order < self.first) {
                orders.pop_front();
                *first += 1;
            }
        }
    }

    fn pass(&mut self, lost: bool) {
        self.run = if lost { self.run + 1 } else { 0 };
        if self.run == BURST {
            self.bursts += 1;
        }
    }

    /// Counts packet `order` as lost.
    fn lose(&mut self, order: u64) {
        self.fresh.lost += 1;
        let before = order.checked_sub(self.first + 1).and_then(|at| self.sent.get(at as usize));
        match before.map(|sent| sent.fate) {
            Some(Fate::Missing { .. } | Fate::Lost) => self.fresh.passed.lose(false, None),
            Some(Fate::Delivered { delay }) => self.fresh.passed.lose(true, Some(delay)),
            Some(Fate::Unknown) | None => self.fresh.passed.lose(true, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Span = Span::from_millis(10);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Ten source packets, a millisecond apart.
    fn ten() -> History {
        let mut history = History::default();
        for sequence in 100..110 {
            history.sent(Stream::Source, sequence, at(sequence - 100));
        }
        history
    }

    /// A report that is made on arrival of its last packet and comes at once, 40 ms after the first packet left.
    fn report(history: &mut History, arrived: &[u64], missing: &[u64]) {
        arrived.iter().for_each(|&sequence| history.reported(at(40), Stream::Source, sequence, Some(Span::ZERO)));
        missing.iter().for_each(|&sequence| history.reported(at(40), Stream::Source, sequence, None));
    }

    fn settled(lost: u32, delivered: u32, round_trip: u64) -> Settled {
        Settled { lost, delivered, round_trip: Some(Span::from_millis(round_trip)), ..Settled::default() }
    }

    /// Packets that a report at `millis` settles, without the sample in sending order.
    fn settle(history: &mut History, millis: u64) -> Settled {
        Settled { passed: Sample::default(), ..history.settle(at(millis), PATIENCE) }
    }

    #[test]
    fn a_packet_is_lost_after_three_later_ones_and_some_patience() {
        let mut history = ten();
        report(&mut history, &[101, 102], &[100]);
        assert_eq!(settle(&mut history, 50), settled(0, 2, 38));
        assert_eq!(history.settle(at(80), PATIENCE).lost, 0, "two later packets are not three");
        report(&mut history, &[103], &[]);
        assert_eq!(history.settle(at(81), PATIENCE).lost, 0, "the patience begins now");
        assert_eq!(history.settle(at(91), PATIENCE).lost, 1);
        assert_eq!(settle(&mut history, 200), Settled::default(), "nothing is counted twice");
    }

    #[test]
    fn a_packet_that_comes_late_but_in_time_is_no_loss() {
        let mut history = ten();
        report(&mut history, &[101, 102, 103], &[100]);
        assert_eq!(history.settle(at(50), PATIENCE).lost, 0);
        report(&mut history, &[100, 101, 102, 103], &[]);
        assert_eq!(settle(&mut history, 90), settled(0, 1, 40));
    }

    #[test]
    fn a_lost_report_costs_nothing() {
        let mut history = ten();
        report(&mut history, &[105, 106, 107], &[104]);
        history.settle(at(50), PATIENCE);
        assert_eq!(history.settle(at(60), PATIENCE).lost, 1, "100 to 103 were never named");
        history.forget(at(1000));
        assert_eq!(settle(&mut history, 1000), Settled::default());
    }

    #[test]
    fn more_than_three_in_a_row_are_a_burst_across_both_streams() {
        let mut history = History::default();
        for pair in 0..6 {
            history.sent(Stream::Source, pair, at(pair));
            history.sent(Stream::Repair, 1000 + pair, at(pair));
        }
        for (stream, base) in [(Stream::Source, 0), (Stream::Repair, 1000)] {
            for pair in 0..6 {
                let held = (!(1..3).contains(&pair)).then_some(Span::ZERO);
                history.reported(at(40), stream, base + pair, held);
            }
        }
        history.settle(at(50), PATIENCE);
        assert_eq!(history.settle(at(60), PATIENCE).lost, 4);
        assert_eq!(history.bursts, 1);
    }

    #[test]
    fn packets_behind_the_last_that_came_stall_after_some_patience() {
        let mut history = ten();
        report(&mut history, &[100, 101, 102], &[]);
        history.settle(at(40), PATIENCE);
        assert_eq!(history.stalled(at(1000), PATIENCE), 0, "all of them had left when something came");
        for sequence in 110..113 {
            history.sent(Stream::Source, sequence, at(2000 + sequence));
        }
        assert_eq!(history.stalled(at(2119), PATIENCE), 0);
        assert_eq!(history.stalled(at(2121), PATIENCE), 2, "those that left by 2111 ms");
        report(&mut history, &[112], &[]);
        history.settle(at(2150), PATIENCE);
        assert_eq!(history.stalled(at(9999), PATIENCE), 0);
    }

    #[test]
    fn packets_that_never_left_and_numbers_of_nobody_are_ignored() {
        let mut history = History::default();
        history.sent(Stream::Source, 10, at(0));
        history.sent(Stream::Source, 15, at(1));
        for sequence in [0, 9, 11, 14, 16, u64::MAX] {
            history.reported(at(2), Stream::Source, sequence, Some(Span::ZERO));
        }
        assert_eq!(history.settle(at(9), PATIENCE).delivered, 0);
        assert_eq!(history.last(Stream::Source), Some(15));
        assert_eq!(history.last(Stream::Repair), None);
    }
}
