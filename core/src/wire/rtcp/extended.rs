//! Extended reports (RFC 3611 §2), with the post-repair loss count (RFC 7509 §3.1).
//!
//! Type 207; offsets are relative to the body.
//!
//! | offset | field |
//! |---|---|
//! | 0 | SSRC of the reporter |
//! | 4 | blocks: type BT (8 bits), type-specific (8 bits), length in words minus one (16 bits), content |
//!
//! | offset | field of a post-repair loss count block, BT 33, length 3 |
//! |---|---|
//! | 4 | SSRC of the reported stream |
//! | 8 | begin_seq (16 bits), end_seq (16 bits) |
//! | 12 | post-repair loss count (16 bits), repaired loss count (16 bits) |
//!
//! RFC 7509 gives a length of 4; its four words have the length 3 (errata 4525).

use super::frame::Frame;
use super::writer::Emit;
use crate::wire::Error;

pub(super) const KIND: u8 = 207;
const POST_REPAIR_LOSS: u8 = 33;

/// An extended report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extended<'a> {
    /// The SSRC of the reporter.
    pub ssrc: u32,
    /// The report blocks, in the format of [`PostRepairLoss::emit`].
    pub raw_blocks: &'a [u8],
}

/// The loss that remains after repair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PostRepairLoss {
    /// The SSRC of the stream.
    pub ssrc: u32,
    /// The first sequence number of the report.
    pub begin: u16,
    /// The last sequence number of the report, plus one.
    pub end: u16,
    /// Packets that cannot be repaired any more.
    pub lost: u16,
    /// Packets that were lost and are repaired.
    pub repaired: u16,
}

impl<'a> Extended<'a> {
    pub(super) fn parse(frame: Frame<'a>) -> Result<Extended<'a>, Error> {
        let (ssrc, raw_blocks) = frame.body.split_first_chunk().ok_or(Error::Truncated)?;
        let mut rest = raw_blocks;
        while !rest.is_empty() {
            rest = split_block(rest)?.1;
        }
        Ok(Extended { ssrc: u32::from_be_bytes(*ssrc), raw_blocks })
    }

    /// The post-repair loss counts among the blocks.
    pub fn post_repair_losses(&self) -> impl Iterator<Item = PostRepairLoss> + 'a {
        let mut rest = self.raw_blocks;
        let blocks = core::iter::from_fn(move || {
            let (block, after) = split_block(rest).ok()?;
            rest = after;
            Some(block)
        });
        blocks.filter_map(|block| PostRepairLoss::parse(block.try_into().ok()?))
    }
}

fn split_block(bytes: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    let [_, _, l0, l1] = bytes.first_chunk().ok_or(Error::Truncated)?;
    let words = usize::from(u16::from_be_bytes([*l0, *l1])) + 1;
    bytes.split_at_checked(4 * words).ok_or(Error::Length)
}

impl PostRepairLoss {
    /// The length of a block in bytes.
    pub const LEN: usize = 16;

    fn parse(block: [u8; PostRepairLoss::LEN]) -> Option<PostRepairLoss> {
        let [kind, _, _, _, s0, s1, s2, s3, b0, b1, e0, e1, l0, l1, r0, r1] = block;
        (kind == POST_REPAIR_LOSS).then_some(PostRepairLoss {
            ssrc: u32::from_be_bytes([s0, s1, s2, s3]),
            begin: u16::from_be_bytes([b0, b1]),
            end: u16::from_be_bytes([e0, e1]),
            lost: u16::from_be_bytes([l0, l1]),
            repaired: u16::from_be_bytes([r0, r1]),
        })
    }

    /// The bytes of the block.
    pub fn emit(&self) -> [u8; PostRepairLoss::LEN] {
        let [s0, s1, s2, s3] = self.ssrc.to_be_bytes();
        let [[b0, b1], [e0, e1]] = [self.begin.to_be_bytes(), self.end.to_be_bytes()];
        let [[l0, l1], [r0, r1]] = [self.lost.to_be_bytes(), self.repaired.to_be_bytes()];
        [POST_REPAIR_LOSS, 0, 0, 3, s0, s1, s2, s3, b0, b1, e0, e1, l0, l1, r0, r1]
    }
}

impl Emit for Extended<'_> {
    fn kind(&self) -> u8 {
        KIND
    }

    fn count(&self) -> u8 {
        0
    }

    fn body_len(&self) -> usize {
        4 + self.raw_blocks.len()
    }

    fn emit_body(&self, body: &mut [u8]) {
        body[..4].copy_from_slice(&self.ssrc.to_be_bytes());
        body[4..].copy_from_slice(self.raw_blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::super::tests::there_and_back;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn blocks_of_other_types_are_passed_over() {
        let loss = PostRepairLoss { ssrc: 7, begin: 65_530, end: 4, lost: 1, repaired: 2 };
        let receiver_reference_time = [4, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2];
        let body = [&[0, 0, 0, 9][..], &receiver_reference_time, &loss.emit()].concat();
        let extended = Extended::parse(Frame { count: 0, kind: KIND, body: &body }).unwrap();
        assert!(extended.post_repair_losses().eq([loss]));
        assert_eq!(Extended::parse(Frame { count: 0, kind: KIND, body: &body[..28] }), Err(Error::Length));
    }

    proptest! {
        #[test]
        fn extended_reports_round_trip(ssrc: u32, source: u32, numbers: [u16; 4]) {
            let [begin, end, lost, repaired] = numbers;
            let loss = PostRepairLoss { ssrc: source, begin, end, lost, repaired };
            let raw_blocks = [loss.emit(), loss.emit()];
            let extended = Extended { ssrc, raw_blocks: raw_blocks.as_flattened() };
            there_and_back(&extended, |read| assert_eq!(read, Ok(Packet::Extended(extended))));
            prop_assert!(extended.post_repair_losses().eq([loss, loss]));
        }
    }
}
