//! The reception of one RTP stream, as a receiver reports it (RFC 3550 §6.4.1, appendix A.3 and A.8).

use thalweg_core::time::Time;
use thalweg_core::wire::ntp::NtpShort;
use thalweg_core::wire::rtcp::{ReportBlock, SenderInfo};
use thalweg_core::wire::rtp::{Header, SequenceUnwrapper};

/// Counts of one stream.
#[derive(Debug, Default)]
pub(super) struct Reception {
    sequences: SequenceUnwrapper,
    first: Option<u64>,
    received: u64,
    /// Packets expected and received at the last report.
    before: (u64, u64),
    /// The interarrival jitter in ticks, and the transit of the last packet.
    jitter: f64,
    transit: Option<i64>,
    /// The last sender report and its arrival.
    sender_report: Option<(NtpShort, Time)>,
}

impl Reception {
    /// Counts a packet. Returns its extended sequence number, and true if the one before it has not arrived.
    pub(super) fn count(&mut self, now: Time, header: &Header, clock_rate: u32) -> (u64, bool) {
        let highest = self.sequences.highest();
        let number = self.sequences.unwrap(header.sequence.into());
        self.first.get_or_insert(number);
        self.received += 1;
        let arrival = (u128::from(now.as_nanos()) * u128::from(clock_rate) / 1_000_000_000) as u32;
        let transit = i64::from(arrival.wrapping_sub(header.timestamp) as i32);
        if let Some(last) = self.transit.replace(transit) {
            self.jitter += ((transit - last).abs() as f64 - self.jitter) / 16.0;
        }
        (number, highest.is_some_and(|highest| number != highest + 1))
    }

    /// Takes note of a sender report.
    pub(super) fn on_sender_report(&mut self, now: Time, info: &SenderInfo) {
        self.sender_report = Some((NtpShort((info.ntp.0 >> 16) as u32), now));
    }

    /// The report block since the last one; none before the first packet.
    pub(super) fn block(&mut self, now: Time, ssrc: u32) -> Option<ReportBlock> {
        let highest = self.sequences.highest()?;
        let (expected, received) = (self.expected(), self.received);
        let (new_expected, new_received) = (expected - self.before.0, received - self.before.1);
        self.before = (expected, received);
        let lost = new_expected.saturating_sub(new_received);
        let fraction = (lost * 256).checked_div(new_expected).unwrap_or(0).min(255);
        let (last_report, delay) = match self.sender_report {
            Some((report, at)) => (report, NtpShort::from_span(now.since(at))),
            None => Default::default(),
        };
        Some(ReportBlock {
            ssrc,
            fraction_lost: fraction as u8,
            cumulative_lost: (expected as i64 - received as i64) as i32,
            // The unwrapper begins with one cycle.
            highest: (highest - (1 << 16)) as u32,
            jitter: self.jitter as u32,
            last_report,
            delay,
        })
    }

    /// Packets received, and packets that are missing.
    pub(super) fn counts(&self) -> (u64, u64) {
        (self.received, self.expected().saturating_sub(self.received))
    }

    fn expected(&self) -> u64 {
        self.sequences.highest().zip(self.first).map_or(0, |(highest, first)| (highest + 1).saturating_sub(first))
    }
}

#[cfg(test)]
mod tests {
    use thalweg_core::time::Span;
    use thalweg_core::wire::ntp::NtpTime;

    use super::*;

    #[test]
    fn block_has_the_fractions_of_rfc_3550() {
        let mut reception = Reception::default();
        let at = |ms: u64| Time::ZERO + Span::from_millis(ms);
        // Packets every 20 ms at 8 kHz, two of ten lost; the wrap of the sequence number is among them.
        for n in (0..10).filter(|n| ![3, 7].contains(n)) {
            let header =
                Header { sequence: 65_533u16.wrapping_add(n), timestamp: u32::from(n) * 160, ..Header::default() };
            let (_, after_loss) = reception.count(at(20 * u64::from(n)), &header, 8000);
            assert_eq!(after_loss, [4, 8].contains(&n));
        }
        let info = SenderInfo { ntp: NtpTime(0x1234_5678_9abc_def0), rtp: 0, packets: 10, octets: 0 };
        reception.on_sender_report(at(200), &info);
        let block = reception.block(at(700), 5).expect("a block");
        // Two of ten are 51/256; the extended number is one cycle and 6.
        assert_eq!((block.fraction_lost, block.cumulative_lost, block.highest), (51, 2, 65_536 + 6));
        assert_eq!((block.jitter, block.last_report, block.delay), (0, NtpShort(0x5678_9abc), NtpShort(0x8000)));
        assert_eq!(reception.block(at(800), 5).map(|block| block.fraction_lost), Some(0), "nothing since");
    }
}
