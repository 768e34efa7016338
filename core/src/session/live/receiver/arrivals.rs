//! Arrivals of the packets of one RTP stream, for reports.

use std::collections::VecDeque;

use crate::session::MAX_DATAGRAM;
use crate::session::path::packet_threshold::PACKET_THRESHOLD;
use crate::session::rtp::Inbound;
use crate::time::{Span, Time};
use crate::wire::rtp;
use crate::wire::sequence::nearest;

/// RFC 3550 A.1: a packet further behind the newest may belong to the next cycle of sequence numbers. Here, a packet
/// further ahead is believed only once another one near it confirms it.
// Deviation(RFC 3550 A.1): a jump by up to 3000 needs no confirmation there, but then one forged or damaged packet
// could cost as many.
const MAX_MISORDER: u64 = 100;
/// RFC 3550 A.1: a greater jump does not belong to the media. No block of the code is longer.
pub(super) const MAX_DROPOUT: u64 = 3000;
/// Most packets that a report can cover.
const MOST: usize = MAX_DATAGRAM / 2;

/// The arrivals of one stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Arrivals {
    highest: u64,
    /// The timestamp of the packet with the highest number.
    newest: u32,
    /// Number and timestamp of a packet too far ahead to be believed alone.
    suspect: Option<(u64, u32)>,
    /// Sequence number of `times[0]`.
    first: u64,
    times: VecDeque<Option<Time>>,
    /// The highest sequence number at past reports.
    marks: VecDeque<(Time, u64)>,
    /// The first sequence number that [`Arrivals::reveals_loss`] has not judged yet.
    unjudged: u64,
    /// Packets received since the last report.
    pub(super) fresh: usize,
    /// Statistics for receiver reports.
    pub(super) inbound: Inbound,
}

/// The classification of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Noted {
    /// A packet of the stream, with its extended sequence number.
    Number(u64),
    /// A packet too far ahead to be believed alone; it may be noted again once another one has confirmed it.
    Suspect,
    /// A packet that confirms the suspect; both are to be noted now, the suspect first.
    Confirmed,
}

impl Arrivals {
    /// Begins with the packet that was received first, at `now`.
    pub(super) fn new(now: Time, header: &rtp::Header) -> Arrivals {
        // Packets sent before this one still have a number.
        let first = (1 << 16) + u64::from(header.sequence);
        Arrivals {
            highest: first,
            newest: header.timestamp,
            suspect: None,
            first,
            times: VecDeque::new(),
            marks: VecDeque::from([(now, first)]),
            unjudged: first,
            fresh: 0,
            inbound: Inbound::new(rtp::CLOCK_RATE, first),
        }
    }

    pub(super) fn highest(&self) -> u64 {
        self.highest
    }

    /// Notes a packet.
    pub(super) fn note(&mut self, now: Time, header: &rtp::Header) -> Noted {
        let sequence = self.extend(header);
        if sequence > self.highest + MAX_MISORDER {
            return self.suspect(sequence, header.timestamp);
        }
        self.suspect = None;
        if sequence > self.highest {
            (self.highest, self.newest) = (sequence, header.timestamp);
        }
        self.inbound.on_packet(now, header.timestamp);
        self.fresh += 1;
        if sequence >= self.first {
            let at = (sequence - self.first) as usize;
            if at >= self.times.len() {
                self.times.resize(at + 1, None);
            }
            self.times[at].get_or_insert(now);
        }
        let surplus = self.times.len().saturating_sub(MOST);
        self.times.drain(..surplus);
        self.first += surplus as u64;
        Noted::Number(sequence)
    }

    /// The extended sequence number of a packet: the one nearest to the highest. If that is an old packet's number and
    /// this packet is newer, more than 2^15 packets have been lost, and the packet belongs to the next cycle.
    fn extend(&self, header: &rtp::Header) -> u64 {
        let sequence = nearest::<16>(self.highest, header.sequence.into());
        let is_new = header.timestamp.wrapping_sub(self.newest).cast_signed() > 0;
        if sequence + MAX_MISORDER < self.highest && is_new { sequence + (1 << 16) } else { sequence }
    }

    /// Takes a packet that is too far ahead. A copy of the suspect confirms nothing.
    fn suspect(&mut self, sequence: u64, timestamp: u32) -> Noted {
        match self.suspect.take() {
            Some((first, newest)) if (1..=MAX_MISORDER).contains(&first.abs_diff(sequence)) => {
                (self.highest, self.newest) = (first, newest);
                Noted::Confirmed
            }
            _ => {
                self.suspect = Some((sequence, timestamp));
                Noted::Suspect
            }
        }
    }

    /// Returns true if a packet is missing that the numbers of three later ones have overtaken since the last call.
    pub(super) fn reveals_loss(&mut self) -> bool {
        let overtaken = (self.highest + 1).saturating_sub(PACKET_THRESHOLD as u64).max(self.unjudged);
        let mut judged = core::mem::replace(&mut self.unjudged, overtaken).max(self.first)..overtaken;
        judged.any(|sequence| self.times.get((sequence - self.first) as usize).is_none_or(Option::is_none))
    }

    /// The contents of a report at `now`: the first sequence number, and the arrival time of each packet from there on.
    /// A report reaches back by `window`, so that a lost report loses no information, but by no more than `most`
    /// packets.
    pub(super) fn report(
        &mut self,
        now: Time,
        window: Span,
        most: usize,
    ) -> (u64, impl ExactSizeIterator<Item = Option<Time>>) {
        self.fresh = 0;
        self.marks.push_back((now, self.highest + 1));
        while now.since(self.marks[1].0) >= window {
            self.marks.pop_front();
        }
        let begin =
            self.marks[0].1.max(self.first).max((self.highest + 1).saturating_sub(most as u64)).min(self.highest + 1);
        let at = ((begin - self.first) as usize).min(self.times.len());
        (begin, self.times.range(at..).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn packet(sequence: u16) -> rtp::Header {
        rtp::Header { sequence, ..rtp::Header::default() }
    }

    #[test]
    fn report_covers_its_window_and_marks_missing_packets() {
        let mut arrivals = Arrivals::new(at(0), &packet(65_534));
        for (now, sequence) in [(0, 65_534), (1, 65_535), (3, 1)] {
            arrivals.note(at(now), &packet(sequence));
        }
        let (begin, times) = arrivals.report(at(10), Span::from_millis(20), 100);
        assert_eq!(begin as u16, 65_534);
        assert_eq!(times.collect::<Vec<_>>(), [Some(at(0)), Some(at(1)), None, Some(at(3))]);
        arrivals.note(at(12), &packet(0));
        assert_eq!(arrivals.report(at(20), Span::from_millis(20), 100).1.nth(2), Some(Some(at(12))));
        let (begin, times) = arrivals.report(at(40), Span::from_millis(20), 100);
        assert_eq!((begin as u16, times.len()), (2, 0), "nothing has come for a window");
    }

    #[test]
    fn missing_packet_is_a_loss_once_three_later_ones_have_arrived() {
        let mut arrivals = Arrivals::new(at(0), &packet(10));
        let mut reveals = |sequence| {
            arrivals.note(at(0), &packet(sequence));
            arrivals.reveals_loss()
        };
        // 12 is late, and 15 is lost.
        let sequences = [10, 11, 13, 14, 12, 16, 17, 18, 19, 20];
        assert_eq!(sequences.map(&mut reveals), [false, false, false, false, false, false, false, true, false, false]);
    }

    #[test]
    fn sequence_jump_is_accepted_once_a_nearby_packet_confirms_it() {
        let mut arrivals = Arrivals::new(at(0), &packet(10));
        let first = arrivals.highest();
        let mut note = |now, sequence| arrivals.note(at(now), &packet(sequence));
        assert_eq!(note(0, 10), Noted::Number(first));
        assert_eq!(note(1, 5000), Noted::Suspect);
        assert_eq!(note(1, 5000), Noted::Suspect, "a copy confirms nothing");
        assert_eq!(note(2, 11), Noted::Number(first + 1), "one wild packet changes nothing");
        assert_eq!(note(3, 7003), Noted::Suspect);
        assert_eq!(note(4, 7001), Noted::Confirmed, "in any order");
        assert_eq!(note(3, 7003), Noted::Number(first + 6993));
        assert_eq!(note(4, 7001), Noted::Number(first + 6991));
        assert_eq!(note(5, 7101), Noted::Number(first + 7091), "100 ahead is near");
    }

    #[test]
    fn newer_packet_with_a_smaller_number_has_wrapped() {
        let at_tick = |sequence, timestamp| rtp::Header { sequence, timestamp, ..rtp::Header::default() };
        // The timestamps wrap, too.
        let mut arrivals = Arrivals::new(at(0), &at_tick(1000, u32::MAX));
        let first = arrivals.highest();
        let mut note = |sequence, timestamp| arrivals.note(at(0), &at_tick(sequence, timestamp));
        assert_eq!(note(1000, u32::MAX), Noted::Number(first));
        assert_eq!(note(500, u32::MAX - 9), Noted::Number(first - 500), "an old one");
        assert_eq!(note(950, 90_000), Noted::Number(first - 50), "near, whatever its clock says");
        // 50 000 numbers later.
        let sequence = 1000u16.wrapping_add(50_000);
        assert_eq!(note(sequence, 90_000), Noted::Suspect);
        assert_eq!(note(sequence + 1, 90_000), Noted::Confirmed);
        assert_eq!(note(sequence, 90_000), Noted::Number(first + 50_000));
        assert_eq!(note(sequence + 1, 90_000), Noted::Number(first + 50_001));
    }
}
