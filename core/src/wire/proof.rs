//! The proof at the end of an RTCP datagram: a keyed hash of all bytes before it, as data of a last APP packet with the
//! name `THLW` and the subtype 2.
//!
//! | offset | field |
//! |---|---|
//! | 0 | V=2, no padding, subtype 2 (8 bits), packet type 204 (8 bits), length 4 (16 bits) |
//! | 4 | SSRC of the sender |
//! | 8 | `THLW` |
//! | 12 | tag: a hash of all bytes before it in the datagram, these 12 included (64 bits) |

use super::hello::NAME;
use super::rtcp::Full;

/// The APP subtype.
pub const SUBTYPE: u8 = 2;
/// The length of the whole packet in bytes.
pub const LEN: usize = 20;

const HEADER: [u8; 4] = [0x80 | SUBTYPE, 204, 0, 4];
const TAG: usize = 8;

/// Appends the proof of `ssrc` to the `len` bytes of RTCP at the start of `buf`; `hash` computes it over the bytes
/// before the tag. Returns the length of the datagram including the proof.
///
/// # Errors
/// The proof does not fit.
pub fn append(buf: &mut [u8], len: usize, ssrc: u32, hash: impl FnOnce(&[u8]) -> u64) -> Result<usize, Full> {
    let end = len + LEN;
    let packet = buf.get_mut(len..end).ok_or(Full)?;
    packet[..4].copy_from_slice(&HEADER);
    packet[4..8].copy_from_slice(&ssrc.to_be_bytes());
    packet[8..12].copy_from_slice(&NAME);
    let tag = hash(&buf[..end - TAG]);
    buf[end - TAG..end].copy_from_slice(&tag.to_be_bytes());
    Ok(end)
}

/// Splits a datagram that ends with a proof into the bytes covered and the tag.
pub fn split(datagram: &[u8]) -> Option<(&[u8], u64)> {
    let (covered, tag) = datagram.split_last_chunk::<TAG>()?;
    let packet = covered.last_chunk::<{ LEN - TAG }>()?;
    (packet[..4] == HEADER && packet[8..] == NAME).then(|| (covered, u64::from_be_bytes(*tag)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::rtcp::{App, Compound, Packet};
    use proptest::prelude::*;

    #[test]
    fn proof_is_an_application_defined_rtcp_packet() {
        let mut buf = [0; LEN];
        assert_eq!(append(&mut buf, 0, 7, |bytes| bytes.len() as u64), Ok(LEN));
        let frame = Compound::parse(&buf).unwrap().frames().next().unwrap();
        let data = [0, 0, 0, 0, 0, 0, 0, 12];
        assert_eq!(Packet::parse(frame), Ok(Packet::App(App { subtype: SUBTYPE, ssrc: 7, name: NAME, data: &data })));
        assert_eq!(append(&mut buf, 1, 7, |_| 0), Err(Full));
    }

    proptest! {
        #[test]
        fn appended_proof_is_split_off(before: Vec<u8>, ssrc: u32, tag: u64) {
            let mut buf = before.clone();
            buf.resize(before.len() + LEN, 0);
            prop_assert_eq!(append(&mut buf, before.len(), ssrc, |_| tag), Ok(buf.len()));
            let (covered, found) = split(&buf).unwrap();
            prop_assert_eq!((&covered[..before.len()], found), (&before[..], tag));
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes: Vec<u8>) {
            if let Some((covered, _)) = split(&bytes) {
                prop_assert_eq!(covered.len() + TAG, bytes.len());
            }
        }
    }
}
