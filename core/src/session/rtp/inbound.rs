//! The receiving end: reception statistics (RFC 3550 §6.4.1, A.3, A.8).

use crate::time::Time;
use crate::wire::ntp::{NtpShort, NtpTime};
use crate::wire::rtcp::ReportBlock;

/// The statistics of a stream that is received.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Inbound {
    clock_rate: u32,
    /// The first sequence number.
    base: u64,
    received: u64,
    /// Interarrival jitter, in ticks.
    jitter: f64,
    transit: Option<i64>,
    /// Packets expected and received at the last report.
    prior: (u64, u64),
    /// The last sender report, and its arrival.
    sender_report: Option<(NtpShort, Time)>,
}

impl Inbound {
    /// The statistics of a stream with timestamps of `clock_rate` ticks per second. `base` is the sequence number of its
    /// first packet, extended to 64 bits.
    pub fn new(clock_rate: u32, base: u64) -> Inbound {
        Inbound { clock_rate, base, received: 0, jitter: 0.0, transit: None, prior: (0, 0), sender_report: None }
    }

    /// Takes note of a packet (A.8).
    pub fn on_packet(&mut self, now: Time, timestamp: u32) {
        self.received += 1;
        let ticks = u128::from(now.as_nanos()) * u128::from(self.clock_rate) / 1_000_000_000;
        let transit = i64::from((ticks as u32).wrapping_sub(timestamp));
        if let Some(before) = self.transit.replace(transit) {
            let change = i64::from((transit - before) as i32).unsigned_abs() as f64;
            self.jitter += (change - self.jitter) / 16.0;
        }
    }

    /// Takes note of a sender report.
    pub fn on_sender_report(&mut self, now: Time, ntp: NtpTime) {
        self.sender_report = Some((ntp.middle(), now));
    }

    /// The report block on the stream `ssrc` since the last one, with `highest` as its extended highest sequence number
    /// (A.3).
    pub fn report(&mut self, now: Time, ssrc: u32, highest: u64) -> ReportBlock {
        let sender_report = self.sender_report;
        ReportBlock {
            ssrc,
            fraction_lost: self.fraction_lost(highest),
            cumulative_lost: self.cumulative_lost(highest),
            highest: highest as u32,
            jitter: self.jitter as u32,
            last_report: sender_report.map_or(NtpShort(0), |(last, _)| last),
            delay: sender_report.map_or(NtpShort(0), |(_, arrival)| NtpShort::from_span(now.since(arrival))),
        }
    }

    /// Packets received, duplicates included.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Packets expected up to `highest` less packets received, negative if some arrived twice.
    pub fn cumulative_lost(&self, highest: u64) -> i32 {
        let expected = (highest + 1).saturating_sub(self.base);
        (expected as i64 - self.received as i64).clamp(i32::MIN.into(), i32::MAX.into()) as i32
    }

    fn fraction_lost(&mut self, highest: u64) -> u8 {
        let expected = (highest + 1).saturating_sub(self.base);
        let (before, received_before) = core::mem::replace(&mut self.prior, (expected, self.received));
        let (expected, received) = (expected.saturating_sub(before), self.received - received_before);
        (expected.saturating_sub(received) * 256).checked_div(expected).map_or(0, |share| share.min(255) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Span;

    #[test]
    fn blocks_count_as_rfc_3550_a_3_does() {
        let mut inbound = Inbound::new(90_000, 100);
        let counts = |block: ReportBlock| (block.fraction_lost, block.cumulative_lost, block.highest);
        // Three of four, then one of four: a quarter is 64/256, three quarters are 192/256.
        (0..3).for_each(|_| inbound.on_packet(Time::ZERO, 0));
        assert_eq!(counts(inbound.report(Time::ZERO, 7, 103)), (64, 1, 103));
        inbound.on_packet(Time::ZERO, 0);
        assert_eq!(counts(inbound.report(Time::ZERO, 7, 107)), (192, 4, 107));
        // Nothing was expected, and a duplicate arrived: no loss.
        inbound.on_packet(Time::ZERO, 0);
        assert_eq!(counts(inbound.report(Time::ZERO, 7, 107)), (0, 3, 107));
    }

    /// A.8: J += (|D| - J) / 16.
    #[test]
    fn jitter_is_in_ticks_of_the_stream() {
        let mut inbound = Inbound::new(8_000, 0);
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        inbound.on_packet(at(1_000), 0);
        // 20 ms of media, 40 ms later: 160 ticks.
        inbound.on_packet(at(1_040), 160);
        assert_eq!(inbound.report(at(1_040), 7, 1).jitter, 10);
        inbound.on_packet(at(1_060), 320);
        assert_eq!(inbound.report(at(1_060), 7, 2).jitter, 9, "10 - 10/16");
    }

    #[test]
    fn delay_since_the_last_sender_report_is_reported() {
        let mut inbound = Inbound::new(90_000, 0);
        let block = inbound.report(Time::ZERO, 7, 0);
        assert_eq!((block.last_report, block.delay), (NtpShort(0), NtpShort(0)));
        inbound.on_sender_report(Time::ZERO, NtpTime(0x0001_0002_0003_0004));
        let block = inbound.report(Time::ZERO + Span::from_millis(500), 7, 0);
        // In 1/65536 s.
        assert_eq!((block.last_report, block.delay), (NtpShort(0x0002_0003), NtpShort(0x8000)));
    }
}
