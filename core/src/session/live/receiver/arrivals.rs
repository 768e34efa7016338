//! Which packets of one RTP stream have come, and when: what reports say.

use std::collections::VecDeque;

use crate::session::MAX_DATAGRAM;
use crate::time::{Span, Time};
use crate::wire::rtp;
use crate::wire::sequence::Unwrapper;

/// RFC 3550 A.1: a jump by more has to be confirmed by the packet after it.
pub(super) const MAX_DROPOUT: u64 = 3000;
/// Most packets that a report can cover.
const MOST: usize = MAX_DATAGRAM / 2;

/// The arrivals of one stream.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Arrivals {
    unwrapper: Unwrapper<16>,
    highest: u64,
    /// Where a jump that is not confirmed yet would go on.
    suspect: Option<u16>,
    /// Sequence number of `times[0]`.
    first: u64,
    times: VecDeque<Option<Time>>,
    /// The highest sequence number at past reports.
    marks: VecDeque<(Time, u64)>,
    /// Since the last report.
    pub(super) fresh: usize,
    pub(super) rfc3550: Rfc3550,
}

/// What receiver reports tell (RFC 3550 §6.4.1).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Rfc3550 {
    /// The first sequence number.
    pub(super) base: u64,
    pub(super) received: u64,
    /// Interarrival jitter, in ticks.
    pub(super) jitter: f64,
    transit: Option<i64>,
    /// Expected and received at the last report.
    prior: (u64, u64),
}

impl Arrivals {
    /// Arrivals from the packet that came first, at `now`.
    pub(super) fn new(now: Time, sequence: u16) -> Arrivals {
        let mut unwrapper = Unwrapper::default();
        let first = unwrapper.unwrap(sequence.into());
        Arrivals {
            unwrapper,
            highest: first,
            suspect: None,
            first,
            times: VecDeque::new(),
            marks: VecDeque::from([(now, first)]),
            fresh: 0,
            rfc3550: Rfc3550 { base: first, ..Rfc3550::default() },
        }
    }

    pub(super) fn highest(&self) -> u64 {
        self.highest
    }

    /// Notes a packet, and gives its full sequence number; none for one that is too far from the others to be believed.
    pub(super) fn note(&mut self, now: Time, header: &rtp::Header) -> Option<u64> {
        let sequence = self.unwrapper.peek(header.sequence.into());
        if sequence > self.highest + MAX_DROPOUT && self.suspect != Some(header.sequence) {
            self.suspect = Some(header.sequence.wrapping_add(1));
            return None;
        }
        self.suspect = None;
        self.unwrapper.unwrap(header.sequence.into());
        self.highest = self.highest.max(sequence);
        self.rfc3550.note(now, header.timestamp);
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
        Some(sequence)
    }

    /// What a report says at `now`: the first sequence number and when each packet from there on came. It goes back by
    /// `window`, so that a lost report takes nothing with it, but by no more than `most` packets.
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

impl Rfc3550 {
    /// RFC 3550 A.8.
    fn note(&mut self, now: Time, timestamp: u32) {
        self.received += 1;
        let transit = i64::from(rtp::timestamp(now).wrapping_sub(timestamp));
        if let Some(before) = self.transit.replace(transit) {
            let change = i64::from((transit - before) as i32).unsigned_abs() as f64;
            self.jitter += (change - self.jitter) / 16.0;
        }
    }

    /// Packets expected less packets received, negative if some came twice (RFC 3550 A.3).
    pub(super) fn cumulative_lost(&self, highest: u64) -> i32 {
        ((highest + 1 - self.base) as i64 - self.received as i64).clamp(i32::MIN.into(), i32::MAX.into()) as i32
    }

    /// Fraction lost since the last call, as an 8-bit fixed-point number (RFC 3550 A.3).
    pub(super) fn fraction_lost(&mut self, highest: u64) -> u8 {
        let expected = highest + 1 - self.base;
        let (before, received_before) = core::mem::replace(&mut self.prior, (expected, self.received));
        let (expected, received) = (expected.saturating_sub(before), self.received - received_before);
        (expected.saturating_sub(received) * 256).checked_div(expected).map_or(0, |share| share.min(255) as u8)
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
    fn a_report_goes_back_by_its_window_and_names_what_is_missing() {
        let mut arrivals = Arrivals::new(at(0), 65_534);
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
    fn a_jump_is_believed_when_the_next_packet_confirms_it() {
        let mut arrivals = Arrivals::new(at(0), 10);
        assert!(arrivals.note(at(0), &packet(10)).is_some());
        assert_eq!(arrivals.note(at(1), &packet(5000)), None);
        assert!(arrivals.note(at(2), &packet(11)).is_some(), "one wild packet changes nothing");
        assert_eq!(arrivals.note(at(3), &packet(7000)), None);
        assert!(arrivals.note(at(4), &packet(7001)).is_some());
    }

    #[test]
    fn receiver_reports_count_as_rfc_3550_a_3_does() {
        let mut arrivals = Arrivals::new(at(0), 100);
        // Three of four, then one of four: a quarter is 64/256, three quarters are 192/256.
        for sequence in [100, 101, 103] {
            arrivals.note(at(0), &packet(sequence));
        }
        let highest = arrivals.highest();
        assert_eq!((arrivals.rfc3550.fraction_lost(highest), arrivals.rfc3550.cumulative_lost(highest)), (64, 1));
        arrivals.note(at(0), &packet(107));
        let highest = arrivals.highest();
        assert_eq!((arrivals.rfc3550.fraction_lost(highest), arrivals.rfc3550.cumulative_lost(highest)), (192, 4));
    }
}
