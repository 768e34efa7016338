//! An index of the frames of a stored video: one entry a frame, in decoding order, shared by all viewers.
//!
//! The containers are MP4 with H.264 and AAC, also in fragments, and MPEG transport streams with H.264 or MPEG-1/2
//! video and AAC or MPEG audio. All else is refused by its name.
//!
//! References between frames are not stored. They follow from the kinds in decoding order: a [`Kind::P`] needs the last
//! I or P decoded before it, and a [`Kind::B`] the last two. This is exact for MPEG-1/2. For H.264, whose reference
//! lists may reach further or less far, a frame is counted as needing more frames than it does, never fewer, as long as
//! each of these needs its own.

mod bytes;
mod coding;
mod container;
mod h264;
mod keep;
mod mp4;
mod order;
mod packets;
mod refused;
mod resident;
mod shared;
mod track;
mod ts;

use std::io::{Read, Seek};

pub use thalweg_core::video::Kind;

use self::container::Container;
use crate::rate::FormatError;

pub use self::keep::Keep;
pub(crate) use self::order::Order;
pub use self::shared::{Found, Indexes, Refusal, StoredVideo};
pub use self::track::{Codec, Framing, Track};

/// Limit on the frames of a track: 46 hours of pictures, or a day of sound.
const MAX_FRAMES: usize = 4_000_000;
/// The least bytes of a file for each frame, which bounds the memory of an index by the size of the video.
const MIN_FRAME: u64 = 4;

/// The frames of a video.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Index {
    /// The track of pictures.
    pub video: Track,
    /// The track of sound, if there is one.
    pub audio: Option<Track>,
}

/// A frame of a track. A long video has some 10^6 of them, in memory while it is watched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The position in the file of the first byte; in a transport stream, of the packet that contains it.
    pub offset: u64,
    /// The decode time in ticks of the track; the display time of the first frame is near zero, so it may be negative.
    pub decode: i64,
    /// Display time minus decode time, in ticks.
    pub display_delay: i32,
    /// The size in bytes, without headers of the container.
    pub size: u32,
    /// The number of RTP packets with payloads of at most 1400 and of at most 1310 bytes.
    packets: [u16; 2],
    /// In a transport stream, the bytes of the first packet's payload that precede the frame.
    pub skip: u8,
    /// The kind: [`Kind::I`] for a random access point, [`Kind::B`] for a frame that no other needs, else [`Kind::P`].
    /// Every frame of audio is an I.
    pub kind: Kind,
}

/// Limit in bytes on the memory of a frame.
const _: () = assert!(size_of::<Frame>() <= 40);

impl Index {
    /// Reads the frames of a video.
    ///
    /// # Errors
    /// The container or a codec is not supported, or the file is malformed, truncated, or changes while it is read.
    pub fn read(video: &mut (impl Read + Seek)) -> Result<Index, FormatError> {
        match Container::of(video)? {
            Container::Mp4 => mp4::read(video),
            Container::TransportStream => ts::read(video),
        }
    }
}

impl Frame {
    /// The display time in ticks.
    pub fn display(&self) -> i64 {
        self.decode + i64::from(self.display_delay)
    }

    /// True if a decoder can start here.
    pub fn is_random_access(&self) -> bool {
        self.kind == Kind::I
    }

    /// The number of RTP packets whose payload has at most `payload` bytes, 1310 to 1400: at least the first number and
    /// at most the second.
    pub fn packets(&self) -> (u16, u16) {
        (self.packets[0], self.packets[1])
    }
}

/// Moves decode times back, so that none is after the display time: composition offsets may be negative (ISO/IEC 14496-12
/// §8.6.1.3.1).
fn precede(frames: &mut [Frame]) -> Result<(), FormatError> {
    let least = frames.iter().map(|frame| frame.display_delay).min().unwrap_or_default().min(0);
    for frame in frames {
        frame.decode = frame.decode.checked_add(least.into()).ok_or_else(far)?;
        frame.display_delay = frame.display_delay.checked_sub(least).ok_or_else(far)?;
    }
    Ok(())
}

fn far() -> FormatError {
    FormatError::new("a sample at a time beyond any video's length")
}
