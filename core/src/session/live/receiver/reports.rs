//! Reports to the sender: when they are due, and their contents.

use super::arrivals::Arrivals;
use crate::session::live::REPORT_INTERVAL;
use crate::time::{Span, Time};
use crate::wire::feedback::{Arrival, Builder, Ecn, Offset};
use crate::wire::ntp::{NtpShort, NtpTime};
use crate::wire::rtcp::{Full, PostRepairLoss, ReportBlock, Writer};

/// The number of new packets that make a report due before its time. Ours: three intervals of so many, 2 bytes each
/// (RFC 8888 §3.1), about fill a datagram.
const EARLY: usize = 256;
/// The additional delay of a report without new information. Ours: a source that pauses still has nine reports a
/// second; more tell the sender nothing that it needs sooner.
const IDLE: Span = Span::from_millis(100);
/// Report intervals that each report covers: arrivals, and losses after repair, are repeated, in case reports are lost. Ours: two reports in a
/// row may be lost without a gap; more lengthens every report (RFC 8888 §3.1: two bytes a packet).
const REPEATS: u64 = 3;

/// The times of reports, and what the last ones said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Reports {
    /// The last sender report, and its arrival time.
    sender_report: (NtpShort, Time),
    feedback_at: Time,
    full_at: Time,
    /// The start of the last loss event that was to be reported at once.
    loss_event: Option<Time>,
    /// True if that event has not been reported yet.
    is_loss_due: bool,
    /// Packets lost for good, and repaired, at the last extended report, and the first packet after that report's
    /// range.
    post_repair: (u64, u64, u64),
    /// The ranges of the last extended reports, the newest last.
    ranges: [Option<PostRepairLoss>; REPEATS as usize],
}

impl Reports {
    /// The reports of a stream that begins now, whose sender report of `ntp` arrived at `received_at`.
    pub(super) fn new(now: Time, ntp: NtpTime, received_at: Time) -> Reports {
        Reports {
            sender_report: (ntp.middle(), received_at),
            // The first report is sent at once: it shows that the sender's echo has arrived.
            feedback_at: now - IDLE,
            full_at: now + REPORT_INTERVAL,
            loss_event: None,
            is_loss_due: false,
            post_repair: (0, 0, 0),
            ranges: [None; REPEATS as usize],
        }
    }

    pub(super) fn on_sender_report(&mut self, now: Time, ntp: NtpTime) {
        self.sender_report = (ntp.middle(), now);
    }

    /// Takes note of the number of the stream's first source packet, and of the packets lost for good, and repaired, in
    /// the streams before.
    pub(super) fn on_source(&mut self, sequence: u64, (lost, repaired): (u64, u64)) {
        if self.post_repair.2 == 0 {
            self.post_repair = (lost, repaired, sequence);
        }
    }

    /// Takes a loss, which begins a loss event if the last one began more than a `round_trip` ago. A new loss event is
    /// reported at once (RFC 5348 §6.2).
    pub(super) fn on_loss(&mut self, now: Time, round_trip: Span) {
        if self.loss_event.is_none_or(|began| now.since(began) > round_trip) {
            (self.loss_event, self.is_loss_due) = (Some(now), true);
        }
    }

    /// The time at which a report of `fresh` new packets is due; none if there is none, and the stream is over.
    pub(super) fn feedback_due(&self, fresh: usize, is_over: bool) -> Option<Time> {
        match fresh {
            _ if self.is_loss_due => Some(Time::ZERO),
            // The report shows the sender that the receiver is still there, and its address.
            0 => (!is_over).then_some(self.feedback_at + IDLE),
            EARLY.. => Some(Time::ZERO),
            _ => Some(self.feedback_at),
        }
    }

    /// Sets the time of the next report, one `interval` later.
    pub(super) fn on_feedback(&mut self, now: Time, interval: Span) {
        // An early report of a loss event restarts the interval.
        let due = if core::mem::take(&mut self.is_loss_due) { now } else { self.feedback_at };
        self.feedback_at = (due + interval).max(now);
    }

    /// The time of the next full report.
    pub(super) fn full_at(&self) -> Time {
        self.full_at
    }

    /// Returns true if a full report is due, and sets the time of the next.
    pub(super) fn poll_full(&mut self, now: Time) -> bool {
        let is_due = self.full_at <= now;
        if is_due {
            self.full_at = now + REPORT_INTERVAL;
        }
        is_due
    }

    /// RFC 7509: the packets before `end` whose outcome has been settled since the last report that had any, from the
    /// counts of those lost for good and of those repaired; and the ranges of the reports before.
    pub(super) fn post_repair(
        &mut self,
        ssrc: u32,
        end: u64,
        (lost, repaired): (u64, u64),
    ) -> impl Iterator<Item = &PostRepairLoss> {
        let (lost_before, repaired_before, begin) = self.post_repair;
        if begin < end {
            self.post_repair = (lost, repaired, end);
            let count = |now: u64, before: u64| u16::try_from(now - before).unwrap_or(u16::MAX);
            let (lost, repaired) = (count(lost, lost_before), count(repaired, repaired_before));
            self.ranges.rotate_left(1);
            self.ranges[self.ranges.len() - 1] =
                Some(PostRepairLoss { ssrc, begin: begin as u16, end: end as u16, lost, repaired });
        }
        self.ranges.iter().flatten()
    }
}

/// The two RTP streams of a session, with their SSRCs: source and repair.
pub(super) type Streams<'a> = (&'a mut [Option<Arrivals>; 2], [u32; 2]);

/// Reception reports on both RTP streams (RFC 3550 §6.4.1).
pub(super) fn report_blocks(
    reports: &Reports,
    (arrivals, ssrcs): Streams<'_>,
    now: Time,
) -> Vec<[u8; ReportBlock::LEN]> {
    let (last_report, received_at) = reports.sender_report;
    let known = arrivals.iter_mut().zip(ssrcs).filter_map(|(arrivals, ssrc)| Some((arrivals.as_mut()?, ssrc)));
    let blocks = known.map(|(arrivals, ssrc)| {
        let highest = arrivals.highest();
        let delay = NtpShort::from_span(now.since(received_at));
        ReportBlock { last_report, delay, ..arrivals.inbound.report(now, ssrc, highest) }.emit()
    });
    blocks.collect()
}

/// RFC 8888, of reduced size (RFC 5506): recent arrivals of both streams.
pub(super) fn emit_feedback(
    (arrivals, ssrcs): Streams<'_>,
    ssrc: u32,
    now: Time,
    (interval, round_trip): (Span, Span),
    buf: &mut [u8],
) -> Result<usize, Full> {
    let window = (interval * REPEATS).max(round_trip / 4 + interval);
    let mut writer = Writer::new(buf);
    let mut builder = Builder::new(&mut writer, ssrc)?;
    // Repair first: it has fewer packets, and leaves the rest of the datagram to the source.
    for (arrivals, ssrc) in arrivals.iter_mut().zip(ssrcs).rev() {
        let Some(arrivals) = arrivals else { continue };
        let most = if ssrc == ssrcs[0] { builder.room() } else { builder.room() / 2 };
        let (begin, times) = arrivals.report(now, window, most);
        let held = |at: Time| Arrival { ecn: Ecn::NotEct, offset: Offset::between(at, now) };
        builder.stream(ssrc, begin as u16, times.map(|at| at.map(held)))?;
    }
    builder.finish(NtpShort::from(now));
    Ok(writer.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_loss_event_is_reported_at_once_and_restarts_the_interval() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let (interval, round_trip) = (Span::from_millis(40), Span::from_millis(50));
        let mut reports = Reports::new(at(1000), NtpTime(0), at(1000));
        reports.on_feedback(at(1000), interval);
        reports.on_feedback(at(1000), interval);
        assert_eq!(reports.feedback_due(3, false), Some(at(1040)));
        reports.on_loss(at(1010), round_trip);
        assert_eq!(reports.feedback_due(3, false), Some(Time::ZERO));
        reports.on_feedback(at(1010), interval);
        assert_eq!(reports.feedback_due(3, false), Some(at(1050)));
        // A loss within a round trip of the first one belongs to the same event.
        reports.on_loss(at(1060), round_trip);
        assert_eq!(reports.feedback_due(3, false), Some(at(1050)));
        reports.on_loss(at(1061), round_trip);
        assert_eq!(reports.feedback_due(3, false), Some(Time::ZERO));
    }

    #[test]
    fn ranges_after_repair_join_and_each_is_reported_three_times() {
        let mut reports = Reports::new(Time::ZERO, NtpTime(0), Time::ZERO);
        // Ten packets were lost, and five repaired, in the stream before.
        reports.on_source(0x1_fff0, (10, 5));
        let mut report = |end, counts| -> Vec<_> {
            reports
                .post_repair(7, end, counts)
                .map(|range| (range.begin, range.end, range.lost, range.repaired))
                .collect()
        };
        let ranges = [(0xfff0, 0x0010, 1, 0), (0x0010, 0x0020, 0, 3), (0x0020, 0x0030, 2, 2), (0x0030, 0x0031, 1, 0)];
        assert_eq!(report(0x2_0010, (11, 5)), ranges[..1]);
        assert_eq!(report(0x2_0020, (11, 8)), ranges[..2]);
        // The packet that is next to be delivered is in doubt: one behind it is repaired, and belongs to the next range.
        assert_eq!(report(0x2_0020, (11, 9)), ranges[..2]);
        assert_eq!(report(0x2_0030, (13, 10)), ranges[..3]);
        assert_eq!(report(0x2_0031, (14, 10)), ranges[1..]);
    }
}
