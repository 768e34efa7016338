//! Bounds on the number of RTP packets of a frame, from the lengths of its NAL units or slices.

/// The shortest payload of a packet in bytes.
pub(crate) const SHORT: u64 = 1310;
/// The longest payload of a packet in bytes.
pub(crate) const LONG: u64 = 1400;

/// The number of packets of a frame for [`LONG`] and for [`SHORT`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Packets([u32; 2]);

impl Packets {
    /// The packets of one block of bytes with a header of `header` bytes in each.
    pub(super) fn block(bytes: u64, header: u64) -> Packets {
        Packets([LONG, SHORT].map(|payload| bytes.div_ceil(payload - header) as u32))
    }

    /// Adds an H.264 NAL unit as RFC 6184 carries it: alone, or in fragments with two bytes of header that replace its
    /// first byte (§5.8).
    pub(super) fn add_nal(&mut self, bytes: u64) {
        for (packets, payload) in self.0.iter_mut().zip([LONG, SHORT]) {
            let more = if bytes <= payload { 1 } else { (bytes - 1).div_ceil(payload - 2) };
            *packets = packets.saturating_add(more as u32);
        }
    }

    /// The numbers, as far as 16 bits hold them.
    pub(super) fn counts(self) -> [u16; 2] {
        self.0.map(|packets| u16::try_from(packets).unwrap_or(u16::MAX))
    }
}

/// Bytes of headers beside each fragment of AAC: two of the headers' length and two of one header (RFC 3640 §3.3.6).
const AAC_HEADERS: u64 = 4;

/// The packets of an AAC frame.
pub(super) fn aac(bytes: u32) -> [u16; 2] {
    Packets::block(bytes.into(), AAC_HEADERS).counts()
}

/// Bytes of header in each packet of MPEG-1/2 video and audio (RFC 2250 §3.4, §3.5).
const MPEG_HEADER: u64 = 4;

/// The packets of a frame of MPEG audio.
pub(super) fn mpeg_audio(bytes: u32) -> [u16; 2] {
    Packets::block(bytes.into(), MPEG_HEADER).counts()
}

/// The packets of an MPEG-1/2 picture while its slices are added. A packet has whole slices, or a part of one (RFC 2250
/// §3.1).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Slices {
    packets: Packets,
    /// Bytes in the last packet of each kind.
    filled: [u64; 2],
}

impl Slices {
    /// Adds a slice, or a header before the first one.
    pub(super) fn add(&mut self, bytes: u64) {
        for ((packets, filled), payload) in self.packets.0.iter_mut().zip(&mut self.filled).zip([LONG, SHORT]) {
            let most = payload - MPEG_HEADER;
            if *packets > 0 && *filled + bytes <= most {
                *filled += bytes;
                continue;
            }
            *packets = packets.saturating_add(bytes.div_ceil(most) as u32);
            // Nothing follows the last part of a slice in its packet.
            *filled = if bytes <= most { bytes } else { most };
        }
    }

    /// The numbers of packets.
    pub(super) fn counts(self) -> [u16; 2] {
        self.packets.counts()
    }
}
