//! Generic NACKs (RFC 4585 §6.2.1): packets of a stream that a receiver asks for again.
//!
//! An RTCP packet of type 205 (RTPFB) and format 1; offsets are relative to its body.
//!
//! | offset | field |
//! |---|---|
//! | 0 | SSRC of packet sender |
//! | 4 | SSRC of media source |
//! | 8 | for each entry: packet ID PID (16 bits), bitmask of following lost packets BLP (16 bits) |

use super::feedback::KIND;
use super::frame::Frame;
use super::writer::Emit;
use crate::wire::Error;

/// Feedback format of Generic NACKs (RFC 4585 §6.2.1).
pub(super) const FORMAT: u8 = 1;
/// The packets that one entry can name.
const SPAN: u16 = 17;

/// A received or a new NACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Nack<'a> {
    /// The SSRC of the receiver that asks.
    pub sender_ssrc: u32,
    /// The SSRC of the stream.
    pub media_ssrc: u32,
    /// Entries of PID and BLP, in network byte order.
    pub entries: &'a [[u8; 4]],
}

impl<'a> Nack<'a> {
    pub(super) fn parse(frame: Frame<'a>) -> Result<Nack<'a>, Error> {
        let (sender, rest) = frame.body.split_first_chunk().ok_or(Error::Truncated)?;
        let (media, rest) = rest.split_first_chunk().ok_or(Error::Truncated)?;
        let (sender_ssrc, media_ssrc) = (u32::from_be_bytes(*sender), u32::from_be_bytes(*media));
        Ok(Nack { sender_ssrc, media_ssrc, entries: rest.as_chunks().0 })
    }

    /// The sequence numbers of the packets.
    pub fn sequences(&self) -> impl Iterator<Item = u16> + use<'a> {
        self.entries.iter().flat_map(|&[p0, p1, b0, b1]| {
            let (pid, blp) = (u16::from_be_bytes([p0, p1]), u16::from_be_bytes([b0, b1]));
            let following = (0..SPAN - 1).filter(move |bit| blp >> bit & 1 == 1);
            core::iter::once(pid).chain(following.map(move |bit| pid.wrapping_add(bit + 1)))
        })
    }

    /// The fewest entries that name `sequences`, which ascend modulo 2^16.
    pub fn entries_of(sequences: impl IntoIterator<Item = u16>) -> Vec<[u8; 4]> {
        let mut entries: Vec<(u16, u16)> = Vec::new();
        for sequence in sequences {
            match entries.last_mut() {
                Some((pid, blp)) if (1..SPAN).contains(&sequence.wrapping_sub(*pid)) => {
                    *blp |= 1 << (sequence.wrapping_sub(*pid) - 1);
                }
                Some((pid, _)) if *pid == sequence => {}
                _ => entries.push((sequence, 0)),
            }
        }
        let entry = |(pid, blp): (u16, u16)| {
            let ([p0, p1], [b0, b1]) = (pid.to_be_bytes(), blp.to_be_bytes());
            [p0, p1, b0, b1]
        };
        entries.into_iter().map(entry).collect()
    }
}

impl Emit for Nack<'_> {
    fn kind(&self) -> u8 {
        KIND
    }

    fn count(&self) -> u8 {
        FORMAT
    }

    fn body_len(&self) -> usize {
        8 + self.entries.as_flattened().len()
    }

    fn emit_body(&self, body: &mut [u8]) {
        body[..4].copy_from_slice(&self.sender_ssrc.to_be_bytes());
        body[4..8].copy_from_slice(&self.media_ssrc.to_be_bytes());
        body[8..].copy_from_slice(self.entries.as_flattened());
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::super::tests::there_and_back;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bit_i_of_the_mask_is_packet_pid_plus_i() {
        // RFC 4585 §6.2.1: the least significant bit is bit 1, that of PID+1.
        let entries = [[0xff, 0xff, 0x80, 0x01]];
        let nack = Nack { sender_ssrc: 1, media_ssrc: 2, entries: &entries };
        assert_eq!(nack.sequences().collect::<Vec<_>>(), [0xffff, 0, 15]);
        assert_eq!(Nack::entries_of([0xffff, 0, 15]), entries);
        assert_eq!(Nack::entries_of([5, 22]).len(), 2);
    }

    proptest! {
        #[test]
        fn nacks_round_trip(start: u16, steps in prop::collection::vec(1u16..60, 0..40)) {
            let mut at = start;
            let sequences: Vec<u16> = steps.iter().map(|step| { at = at.wrapping_add(*step); at }).collect();
            let entries = Nack::entries_of(sequences.iter().copied());
            let nack = Nack { sender_ssrc: 7, media_ssrc: 9, entries: &entries };
            there_and_back(&nack, |read| match read {
                Ok(Packet::Nack(read)) => assert_eq!(read.sequences().collect::<Vec<_>>(), sequences),
                other => panic!("{other:?}"),
            });
        }
    }
}
