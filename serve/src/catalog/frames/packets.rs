//! Bounds on the number of RTP packets of a frame, from the lengths of its NAL units or slices.

use thalweg_core::wire::payload::{aac, h264, mpeg_audio, mpeg_video};

/// Payload limits in bytes: the longest and the shortest with which frames are sent.
const LIMITS: [usize; 2] = [1400, 1310];

/// The number of packets of an H.264 frame for each of [`LIMITS`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Packets([u16; 2]);

impl Packets {
    /// Adds a NAL unit of `len` bytes.
    pub(super) fn add(&mut self, len: u32) {
        for (packets, max) in self.0.iter_mut().zip(LIMITS) {
            *packets = packets.saturating_add(narrow(h264::packets(len as usize, max)));
        }
    }

    /// The numbers.
    pub(super) fn counts(self) -> [u16; 2] {
        self.0
    }
}

/// The packets of an AAC frame.
pub(super) fn aac(len: u32) -> [u16; 2] {
    LIMITS.map(|max| narrow(aac::packets(len as usize, max)))
}

/// The packets of a frame of MPEG audio.
pub(super) fn mpeg_audio(len: u32) -> [u16; 2] {
    LIMITS.map(|max| narrow(mpeg_audio::packets(len as usize, max)))
}

/// The packets of a picture of MPEG-1/2 video with the headers before it.
pub(super) fn mpeg_video(picture: &[u8]) -> [u16; 2] {
    LIMITS.map(|max| mpeg_video::Packetizer::new(picture, max).map_or(0, |packets| narrow(packets.count())))
}

fn narrow(packets: usize) -> u16 {
    u16::try_from(packets).unwrap_or(u16::MAX)
}
