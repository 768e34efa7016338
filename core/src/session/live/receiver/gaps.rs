//! Gaps in one RTP stream: packets that are missing, and the time at which they are named as lost.
//!
//! A gap is named at once on a path that does not reorder packets. Where packets have arrived after later ones, a gap waits
//! for as long as the latest of these did.

use core::cmp::Reverse;
use std::collections::VecDeque;

use super::arrivals::MAX_DROPOUT;
use crate::time::{Span, Time};
use crate::windowed_min::WindowedMin;

/// The time for which reordering is remembered. Ours: a path that reorders does so again within seconds; longer delays
/// NACKs for longer after a changed route.
const MEMORY: Span = Span::from_secs(10);
/// The time for which a packet that was named as lost is remembered, to learn that it was late. Ours: twice a round trip of
/// most paths; a packet that is later than this was repaired or given up long ago.
const NAMED: Span = Span::from_millis(500);
/// The least time between two rounds of NACKs. Ours: at high rates one names many packets; longer delays resends.
const LEAST_GAP: Span = Span::from_micros(250);
/// The most packets that one NACK names. Ours: 256 entries fit a datagram even if each names one packet.
const MOST_NAMED: usize = 256;
/// The most missing packets remembered: more are named by reports alone.
const MOST: usize = 1 << 12;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Gap {
    sequence: u64,
    /// The time at which a later packet has shown that this one is missing.
    noticed: Time,
}

/// The missing packets of one stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Gaps {
    /// The highest sequence number so far.
    highest: u64,
    /// Missing packets in ascending order; those before `named` were named as lost.
    missing: VecDeque<Gap>,
    named: usize,
    /// The longest time by which packets were late.
    patience: WindowedMin<Reverse<Span>>,
}

impl Gaps {
    /// A stream whose first packet is `sequence`.
    pub(super) fn new(sequence: u64) -> Gaps {
        Gaps { highest: sequence, missing: VecDeque::new(), named: 0, patience: WindowedMin::new(MEMORY) }
    }

    /// Takes note of a packet. A jump of more than `most` numbers is no gap.
    pub(super) fn on_packet(&mut self, now: Time, sequence: u64, most: u64) {
        let mut late = Span::ZERO;
        if sequence > self.highest {
            let gap = self.highest + 1..sequence;
            if gap.end - gap.start <= most {
                self.missing.extend(gap.map(|sequence| Gap { sequence, noticed: now }));
            }
            self.highest = sequence;
        } else if let Ok(at) = self.missing.binary_search_by_key(&sequence, |gap| gap.sequence) {
            late = self.missing.remove(at).map_or(Span::ZERO, |gap| now.since(gap.noticed));
            self.named -= usize::from(at < self.named);
        }
        self.patience.push(now, Reverse(late));
        while self.missing.len() > MOST || self.is_old(now) {
            self.missing.pop_front();
            self.named = self.named.saturating_sub(1);
        }
    }

    fn is_old(&self, now: Time) -> bool {
        self.missing.front().is_some_and(|gap| now.since(gap.noticed) > NAMED)
    }

    fn patience(&self) -> Span {
        self.patience.get().map_or(Span::ZERO, |Reverse(late)| late)
    }

    /// The time at which the next missing packets are to be named.
    pub(super) fn due(&self) -> Option<Time> {
        self.missing.get(self.named).map(|gap| gap.noticed + self.patience())
    }

    /// The packets that are to be named at `now`, `most` at once.
    pub(super) fn take_due(&mut self, now: Time, most: usize) -> Vec<u16> {
        let patience = self.patience();
        let due = self.missing.range(self.named..).take(most).take_while(|gap| gap.noticed + patience <= now);
        let due: Vec<u16> = due.map(|gap| gap.sequence as u16).collect();
        self.named += due.len();
        due
    }
}

/// The gaps of both streams, source and repair, and the time of the next Generic NACK.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Nacks {
    gaps: [Option<Gaps>; 2],
    next: Time,
}

impl Nacks {
    /// Takes note of packet `sequence` of a stream.
    pub(super) fn on_packet(&mut self, now: Time, stream: usize, sequence: u64) {
        let gaps = self.gaps[stream].get_or_insert_with(|| Gaps::new(sequence));
        gaps.on_packet(now, sequence, MAX_DROPOUT);
    }

    /// The time at which the next NACK is due.
    pub(super) fn due(&self) -> Option<Time> {
        self.gaps.iter().flatten().filter_map(Gaps::due).min().map(|due| due.max(self.next))
    }

    /// The stream and the packets that are to be named by a NACK at `now`.
    pub(super) fn poll(&mut self, now: Time) -> Option<(usize, Vec<u16>)> {
        if self.due()? > now {
            return None;
        }
        let due = |gaps: &mut Option<Gaps>| gaps.as_mut().map(|gaps| gaps.take_due(now, MOST_NAMED));
        let mut named = self.gaps.iter_mut().map(due).enumerate();
        let (stream, named) = named.find_map(|(stream, due)| Some((stream, due.filter(|due| !due.is_empty())?)))?;
        if self.due().is_none_or(|due| due > now) {
            self.next = now + LEAST_GAP;
        }
        Some((stream, named))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn gap_is_named_at_once_and_once() {
        let mut gaps = Gaps::new(10);
        gaps.on_packet(at(1), 11, 100);
        assert_eq!(gaps.due(), None);
        gaps.on_packet(at(2), 14, 100);
        assert_eq!(gaps.due(), Some(at(2)));
        assert_eq!(gaps.take_due(at(2), 1), [12]);
        assert_eq!(gaps.take_due(at(2), 9), [13]);
        assert_eq!(gaps.due(), None);
    }

    #[test]
    fn late_packet_makes_later_gaps_wait_as_long() {
        let mut gaps = Gaps::new(10);
        gaps.on_packet(at(0), 12, 100);
        assert_eq!(gaps.take_due(at(0), 9), [11]);
        gaps.on_packet(at(7), 11, 100);
        gaps.on_packet(at(8), 14, 100);
        assert_eq!(gaps.due(), Some(at(15)));
        assert!(gaps.take_due(at(14), 9).is_empty());
        gaps.on_packet(at(14), 13, 100);
        assert_eq!(gaps.due(), None, "it was only late");
        // Without reordering for two memories, gaps are named at once again.
        gaps.on_packet(at(30_000), 15, 100);
        gaps.on_packet(at(30_000), 17, 100);
        gaps.on_packet(at(45_000), 18, 100);
        gaps.take_due(at(45_000), 9);
        gaps.on_packet(at(60_000), 20, 100);
        assert_eq!(gaps.due(), Some(at(60_000)));
    }

    #[test]
    fn jump_is_no_gap_and_memory_is_bounded() {
        let mut gaps = Gaps::new(10);
        gaps.on_packet(at(0), 5000, 100);
        assert_eq!(gaps.due(), None);
        for nth in 0..MOST as u64 {
            gaps.on_packet(at(1), 5002 + 4 * nth + 2, 100);
            gaps.take_due(at(1), 2);
        }
        assert!(gaps.missing.len() <= MOST && gaps.named <= gaps.missing.len());
    }
}
