//! AAC over RTP (RFC 3640) in the mode AAC-hbr (§3.3.6): an access unit in a packet, or fragments of a large one.
//!
//! | offset | field |
//! |---|---|
//! | 0 | AU-headers-length in bits (16 bits) |
//! | 2 | for each access unit: AU-size (13 bits), AU-Index or AU-Index-delta (3 bits) |
//! | ... | the access units, or a fragment of one, whose AU-size is that of the whole |
//!
//! The marker bit is set in packets with whole access units or the last fragment of one (§3.1). Interleaving (an index
//! other than 0) is not part of these streams.

use super::assembly::{Assembly, Frame, Packet};
use super::{Payload, Prefix, check_max};
use crate::wire::Error;

/// The longest access unit: AU-size has 13 bits.
pub const MAX_LEN: usize = 0x1fff;
/// Samples of an access unit, by which the timestamps of those in one packet differ.
pub const SAMPLES: u32 = 1024;
/// The length of AU-headers-length and one header.
const PREFIX: usize = 4;

/// The number of packets of an access unit of `len` bytes, with at most `max` bytes of payload each. `max` is at least
/// [`MIN_PAYLOAD`](super::MIN_PAYLOAD).
pub fn packets(len: usize, max: usize) -> usize {
    len.div_ceil(max - PREFIX)
}

/// The packets of one access unit.
#[derive(Clone, Debug)]
pub struct Packetizer {
    at: usize,
    len: usize,
    max: usize,
}

impl Packetizer {
    /// The packets of an access unit of `len` bytes, of at most `max` bytes of payload each.
    ///
    /// # Errors
    /// The access unit is longer than [`MAX_LEN`], or `max` is below [`MIN_PAYLOAD`](super::MIN_PAYLOAD).
    pub fn new(len: usize, max: usize) -> Result<Packetizer, Error> {
        check_max(max)?;
        if len > MAX_LEN { Err(Error::Length) } else { Ok(Packetizer { at: 0, len, max }) }
    }
}

impl Iterator for Packetizer {
    type Item = Payload;

    fn next(&mut self) -> Option<Payload> {
        if self.at == self.len {
            return None;
        }
        let end = self.len.min(self.at + self.max - PREFIX);
        let range = core::mem::replace(&mut self.at, end)..end;
        let [s0, s1] = ((self.len as u16) << 3).to_be_bytes();
        Some(Payload { prefix: Prefix::new([0, 16, s0, s1]), range, marker: end == self.len })
    }
}

/// Access units from packets.
#[derive(Clone, Debug)]
pub struct Depacketizer {
    assembly: Assembly,
    /// AU-size of the access unit whose fragments arrive.
    size: usize,
}

impl Depacketizer {
    /// A depacketizer that keeps at most `limit` bytes of an access unit, and never more than [`MAX_LEN`].
    pub fn new(limit: usize) -> Depacketizer {
        Depacketizer { assembly: Assembly::new(limit.min(MAX_LEN)), size: 0 }
    }

    /// Takes the next packet, and passes each access unit that ends with it to `deliver`.
    ///
    /// # Errors
    /// The payload is malformed or interleaved, or its access unit longer than the limit. A fragmented access unit then
    /// counts as damaged.
    pub fn push(&mut self, packet: Packet<'_>, deliver: &mut dyn FnMut(Frame)) -> Result<(), Error> {
        let taken = self.take(packet, deliver);
        if taken.is_err() {
            self.assembly.damage();
            self.finish(deliver);
        }
        taken
    }

    /// Passes an access unit without an end to `deliver`.
    pub fn finish(&mut self, deliver: &mut dyn FnMut(Frame)) {
        self.assembly.finish(self.size, deliver);
    }

    fn take(&mut self, packet: Packet<'_>, deliver: &mut dyn FnMut(Frame)) -> Result<(), Error> {
        let (&bits, rest) = packet.payload.split_first_chunk().ok_or(Error::Truncated)?;
        let bits = usize::from(u16::from_be_bytes(bits));
        if bits == 0 || bits % 16 != 0 {
            return Err(Error::Malformed);
        }
        let (headers, mut data) = rest.split_at_checked(bits / 8).ok_or(Error::Truncated)?;
        let headers = headers.as_chunks().0.iter().map(|&header| u16::from_be_bytes(header));
        if headers.clone().any(|header| header & 7 != 0 || header == 0) {
            return Err(Error::Malformed);
        }
        let mut sizes = headers.map(|header| usize::from(header >> 3));
        if bits == 16
            && let Some(size) = sizes.clone().next().filter(|&size| size > data.len())
        {
            return self.fragment(packet, size, data, deliver);
        }
        if sizes.clone().sum::<usize>() != data.len() {
            return Err(Error::Length);
        }
        // Fragments whose rest is lost.
        self.finish(deliver);
        let mut timestamp = packet.timestamp;
        while let Some((unit, after)) = sizes.next().and_then(|size| data.split_at_checked(size)) {
            deliver(Frame { timestamp, data: unit.to_vec(), is_whole: true });
            timestamp = timestamp.wrapping_add(SAMPLES);
            data = after;
        }
        Ok(())
    }

    fn fragment(
        &mut self,
        packet: Packet<'_>,
        size: usize,
        data: &[u8],
        deliver: &mut dyn FnMut(Frame),
    ) -> Result<(), Error> {
        // After a loss this may be a later fragment, and the access unit then shorter than its size.
        self.assembly.open(&packet, true, deliver);
        if self.assembly.len() == 0 {
            self.size = size;
        }
        if size != self.size || self.assembly.len() + data.len() > size {
            return Err(Error::Length);
        }
        self.assembly.append(data)?;
        if packet.marker || self.assembly.len() == size {
            self.finish(deliver);
        }
        Ok(())
    }
}
