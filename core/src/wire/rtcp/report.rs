//! Sender and receiver reports (RFC 3550 §6.4).
//!
//! Types 200 (SR) and 201 (RR); offsets are relative to the body.
//!
//! | offset | field |
//! |---|---|
//! | 0 | SSRC of the reporter |
//! | 4 | SR only: NTP timestamp (64 bits), RTP timestamp, packet count, octet count (32 bits each) |
//! | 4 or 24 | count times a report block of 24 bytes |
//! | ... | extensions of a profile, not read |
//!
//! | offset | field of a report block |
//! |---|---|
//! | 0 | SSRC of the reported stream |
//! | 4 | fraction lost (8 bits), cumulative number lost (24 bits, signed) |
//! | 8 | extended highest sequence number |
//! | 12 | interarrival jitter |
//! | 16 | middle of the last SR's NTP timestamp (LSR) |
//! | 20 | delay since that SR (DLSR) |

use super::frame::Frame;
use super::writer::Emit;
use crate::wire::Error;
use crate::wire::ntp::{NtpShort, NtpTime};

pub(super) const SENDER: u8 = 200;
pub(super) const RECEIVER: u8 = 201;

/// A sender report if it has sender information, a receiver report otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report<'a> {
    /// The SSRC of the reporter.
    pub ssrc: u32,
    /// The reporter's sender information.
    pub sender: Option<SenderInfo>,
    /// The reception reports, at most 31 blocks in the format of [`ReportBlock::emit`].
    pub raw_blocks: &'a [[u8; ReportBlock::LEN]],
}

/// Totals of a sender since its start (RFC 3550 §6.4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderInfo {
    /// The time at which the report is sent.
    pub ntp: NtpTime,
    /// The same instant as an RTP timestamp of the stream.
    pub rtp: u32,
    /// RTP packets sent.
    pub packets: u32,
    /// Bytes of payload sent, without headers and padding.
    pub octets: u32,
}

/// The reception of one stream (RFC 3550 §6.4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReportBlock {
    /// The SSRC of the stream.
    pub ssrc: u32,
    /// The fraction lost since the last report, in 1/256.
    pub fraction_lost: u8,
    /// Packets expected less packets received since the start; clamped to -2^23 to 2^23 - 1 on the wire.
    pub cumulative_lost: i32,
    /// The highest sequence number, with the number of its cycles above the 16 bits.
    pub highest: u32,
    /// The interarrival jitter in units of the RTP timestamp.
    pub jitter: u32,
    /// The send time of the last sender report, or zero if none was received.
    pub last_report: NtpShort,
    /// The time since that report arrived, or zero.
    pub delay: NtpShort,
}

impl<'a> Report<'a> {
    pub(super) fn parse(frame: Frame<'a>) -> Result<Report<'a>, Error> {
        let (ssrc, rest) = frame.body.split_first_chunk().ok_or(Error::Truncated)?;
        let (sender, rest) = match frame.kind {
            SENDER => {
                let (info, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
                (Some(SenderInfo::parse(info)), rest)
            }
            _ => (None, rest),
        };
        let raw_blocks = rest.as_chunks().0.get(..frame.count.into()).ok_or(Error::Length)?;
        Ok(Report { ssrc: u32::from_be_bytes(*ssrc), sender, raw_blocks })
    }

    /// The reception report blocks.
    pub fn blocks(&self) -> impl Iterator<Item = ReportBlock> + 'a {
        self.raw_blocks.iter().map(ReportBlock::parse)
    }
}

impl Emit for Report<'_> {
    fn kind(&self) -> u8 {
        if self.sender.is_some() { SENDER } else { RECEIVER }
    }

    fn count(&self) -> u8 {
        self.raw_blocks.len().min(31) as u8
    }

    fn body_len(&self) -> usize {
        4 + self.sender.map_or(0, |_| SenderInfo::LEN) + ReportBlock::LEN * usize::from(self.count())
    }

    fn emit_body(&self, body: &mut [u8]) {
        let (ssrc, mut rest) = body.split_at_mut(4);
        ssrc.copy_from_slice(&self.ssrc.to_be_bytes());
        if let Some(sender) = self.sender {
            let (info, blocks) = rest.split_at_mut(SenderInfo::LEN);
            info.copy_from_slice(&sender.emit());
            rest = blocks;
        }
        rest.copy_from_slice(self.raw_blocks[..self.count().into()].as_flattened());
    }
}

impl SenderInfo {
    const LEN: usize = 20;

    fn parse(bytes: &[u8; SenderInfo::LEN]) -> SenderInfo {
        let [seconds, fraction, rtp, packets, octets] = words(bytes);
        SenderInfo { ntp: NtpTime(u64::from(seconds) << 32 | u64::from(fraction)), rtp, packets, octets }
    }

    fn emit(self) -> [u8; SenderInfo::LEN] {
        let [seconds, fraction] = [(self.ntp.0 >> 32) as u32, self.ntp.0 as u32];
        bytes([seconds, fraction, self.rtp, self.packets, self.octets])
    }
}

impl ReportBlock {
    /// The length of a block in bytes.
    pub const LEN: usize = 24;

    /// Parses a block; any 24 bytes are valid.
    pub fn parse(bytes: &[u8; ReportBlock::LEN]) -> ReportBlock {
        let [ssrc, lost, highest, jitter, last_report, delay] = words(bytes);
        ReportBlock {
            ssrc,
            fraction_lost: (lost >> 24) as u8,
            cumulative_lost: (lost << 8) as i32 >> 8,
            highest,
            jitter,
            last_report: NtpShort(last_report),
            delay: NtpShort(delay),
        }
    }

    /// The bytes of the block.
    pub fn emit(&self) -> [u8; ReportBlock::LEN] {
        let cumulative = self.cumulative_lost.clamp(-1 << 23, (1 << 23) - 1) as u32 & 0x00ff_ffff;
        let lost = u32::from(self.fraction_lost) << 24 | cumulative;
        bytes([self.ssrc, lost, self.highest, self.jitter, self.last_report.0, self.delay.0])
    }
}

fn words<const WORDS: usize, const BYTES: usize>(bytes: &[u8; BYTES]) -> [u32; WORDS] {
    const { assert!(BYTES == 4 * WORDS) };
    let words = bytes.as_chunks().0;
    core::array::from_fn(|at| u32::from_be_bytes(words[at]))
}

fn bytes<const WORDS: usize, const BYTES: usize>(words: [u32; WORDS]) -> [u8; BYTES] {
    const { assert!(BYTES == 4 * WORDS) };
    core::array::from_fn(|at| words[at / 4].to_be_bytes()[at % 4])
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::super::tests::there_and_back;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_round_trip_of_rfc_3550_figure_2_is_computed_from_a_block() {
        let block =
            ReportBlock { last_report: NtpShort(0xb705_2000), delay: NtpShort(0x0005_4000), ..ReportBlock::default() };
        let read = ReportBlock::parse(&block.emit());
        let round_trip = NtpShort(0xb710_8000).since(read.last_report).since(read.delay);
        assert_eq!(round_trip, NtpShort(0x0006_2000));
    }

    #[test]
    fn cumulative_loss_may_be_negative_and_saturates_at_24_bits() {
        for (lost, read) in [(-1, -1), (i32::MAX, 0x7f_ffff), (i32::MIN, -0x80_0000)] {
            let block = ReportBlock { cumulative_lost: lost, fraction_lost: 0x40, ..ReportBlock::default() };
            let block = ReportBlock::parse(&block.emit());
            assert_eq!((block.cumulative_lost, block.fraction_lost), (read, 0x40));
        }
    }

    #[test]
    fn a_report_that_promises_more_blocks_than_it_has_is_refused() {
        let frame = Frame { count: 2, kind: RECEIVER, body: &[0; 4 + 24] };
        assert_eq!(Report::parse(frame), Err(Error::Length));
        assert_eq!(Report::parse(Frame { count: 0, kind: SENDER, body: &[0; 20] }), Err(Error::Truncated));
    }

    proptest! {
        #[test]
        fn reports_round_trip(
            ssrc: u32,
            info: Option<(u64, [u32; 3])>,
            raw_blocks in prop::collection::vec(prop::array::uniform24(any::<u8>()), 0..32),
        ) {
            let sender = info.map(|(ntp, [rtp, packets, octets])| SenderInfo { ntp: NtpTime(ntp), rtp, packets, octets });
            let report = Report { ssrc, sender, raw_blocks: &raw_blocks };
            there_and_back(&report, |read| assert_eq!(read, Ok(Packet::Report(report))));
            for (raw, block) in raw_blocks.iter().zip(report.blocks()) {
                prop_assert_eq!(*raw, block.emit());
            }
        }
    }
}
