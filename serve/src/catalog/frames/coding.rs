//! The form in which an index is kept in a file: little-endian, with a digest over everything after it.
//!
//! | bytes | field |
//! |---|---|
//! | 8 | `thalwegi` |
//! | 4 | version |
//! | 32 | SHA-256 of the rest |
//! | 48 | stamp of the video: length, inode, modification and change in seconds and nanoseconds |
//! | | the track of video, then a byte that is 1 if the track of audio follows, and that track |
//!
//! A track has its codec (a byte, then its parameters, each after its length in 4 bytes), timescale, clock, framing (a
//! byte, then 2), the duration of its last frame, and after their number (4) its frames of 30 bytes each.

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use thalweg_core::video::Kind;

use super::{Codec, Frame, Framing, Index, Track};
use crate::catalog::walk::Stamp;

/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"thalwegi";
/// The version. It changes with the form, and with the rules by which kinds, times or packets are determined.
const VERSION: u32 = 1;
/// Bytes before those that the digest covers.
const HEAD: usize = MAGIC.len() + 4 + SHA256_OUTPUT_LEN;
/// Bytes of a frame.
pub(super) const FRAME: usize = 30;

/// The reason for which a file is not the index of a video.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unusable {
    /// It is of another version of this program.
    Version,
    /// It is damaged, or no index.
    Damaged,
    /// It is that of the video before it changed, which needs no message.
    Outdated,
}

/// Writes an index.
pub(super) fn encode(index: &Index, stamp: &Stamp) -> Vec<u8> {
    let tracks = [Some(&index.video), index.audio.as_ref()];
    let frames: usize = tracks.iter().flatten().map(|track| track.frames.len()).sum();
    let mut bytes = Vec::with_capacity(HEAD + 1024 + frames * FRAME);
    bytes.extend_from_slice(MAGIC);
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.resize(HEAD, 0);
    stamp.words().iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
    track(&mut bytes, &index.video);
    bytes.push(index.audio.is_some().into());
    if let Some(audio) = &index.audio {
        track(&mut bytes, audio);
    }
    let sum = digest(&SHA256, &bytes[HEAD..]);
    bytes[HEAD - SHA256_OUTPUT_LEN..HEAD].copy_from_slice(sum.as_ref());
    bytes
}

fn track(bytes: &mut Vec<u8>, track: &Track) {
    let mut set = |kind: u8, sets: &[Vec<u8>]| {
        bytes.push(kind);
        bytes.extend_from_slice(&(sets.len() as u32).to_le_bytes());
        for set in sets {
            bytes.extend_from_slice(&(set.len() as u32).to_le_bytes());
            bytes.extend_from_slice(set);
        }
    };
    match &track.codec {
        Codec::H264 { sps, pps } => {
            set(0, sps);
            set(0, pps);
        }
        Codec::MpegVideo => set(1, &[]),
        Codec::Aac { config, channels } => set(2, &[config.clone(), vec![*channels]]),
        Codec::MpegAudio => set(3, &[]),
    }
    let (framing, of) = match track.framing {
        Framing::Plain => (0, 0),
        Framing::Lengths(width) => (1, width.into()),
        Framing::StartCodes(pid) => (2, pid),
        Framing::Stream(pid) => (3, pid),
    };
    bytes.extend_from_slice(&track.timescale.to_le_bytes());
    bytes.extend_from_slice(&track.clock.to_le_bytes());
    bytes.push(framing);
    bytes.extend_from_slice(&of.to_le_bytes());
    bytes.extend_from_slice(&track.last.to_le_bytes());
    bytes.extend_from_slice(&(track.frames.len() as u32).to_le_bytes());
    for frame in &track.frames {
        bytes.extend_from_slice(&frame.offset.to_le_bytes());
        bytes.extend_from_slice(&frame.decode.to_le_bytes());
        bytes.extend_from_slice(&frame.display_delay.to_le_bytes());
        bytes.extend_from_slice(&frame.size.to_le_bytes());
        frame.packets.iter().for_each(|packets| bytes.extend_from_slice(&packets.to_le_bytes()));
        bytes.extend_from_slice(&[frame.skip, frame.kind as u8]);
    }
}

/// Reads an index, if it is that of the video with this stamp. No length in it costs memory that its bytes do not have.
pub(super) fn decode(bytes: &[u8], stamp: &Stamp) -> Result<Index, Unusable> {
    let (head, rest) = bytes.split_at_checked(HEAD).ok_or(Unusable::Damaged)?;
    if !head.starts_with(MAGIC) {
        return Err(Unusable::Damaged);
    }
    if head[MAGIC.len()..][..4] != VERSION.to_le_bytes() {
        return Err(Unusable::Version);
    }
    if digest(&SHA256, rest).as_ref() != &head[HEAD - SHA256_OUTPUT_LEN..] {
        return Err(Unusable::Damaged);
    }
    undigested(rest, stamp)
}

/// Reads an index from the bytes that the digest covers.
fn undigested(bytes: &[u8], stamp: &Stamp) -> Result<Index, Unusable> {
    let mut rest = Rest(bytes);
    for word in stamp.words() {
        if rest.number().map(u64::from_le_bytes) != Some(word) {
            return Err(Unusable::Outdated);
        }
    }
    let index = rest.index(stamp.len).ok_or(Unusable::Damaged)?;
    if rest.0.is_empty() { Ok(index) } else { Err(Unusable::Damaged) }
}

/// Bytes that have not been read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.first_chunk().copied()
    }

    fn byte(&mut self) -> Option<u8> {
        self.number().map(|[byte]| byte)
    }

    fn word(&mut self) -> Option<u32> {
        self.number().map(u32::from_le_bytes)
    }

    fn index(&mut self, len: u64) -> Option<Index> {
        let video = self.track(len)?;
        let audio = match self.byte()? {
            0 => None,
            _ => Some(self.track(len)?),
        };
        Some(Index { video, audio })
    }

    /// Byte strings, each after its length.
    fn sets(&mut self) -> Option<Vec<Vec<u8>>> {
        let count = self.word()?;
        (0..count)
            .map(|_| {
                let len = self.word()? as usize;
                self.take(len).map(<[u8]>::to_vec)
            })
            .collect()
    }

    fn codec(&mut self) -> Option<Codec> {
        let kind = self.byte()?;
        let sets = self.sets()?;
        Some(match (kind, &sets[..]) {
            (0, _) => {
                self.byte()?;
                let pps = self.sets()?;
                if sets.is_empty() || pps.is_empty() || sets.iter().any(|set| set.len() < 4) {
                    return None;
                }
                Codec::H264 { sps: sets, pps }
            }
            (1, []) => Codec::MpegVideo,
            (2, [config, channels]) => Codec::Aac { config: config.clone(), channels: *channels.first()? },
            (3, []) => Codec::MpegAudio,
            _ => return None,
        })
    }

    fn track(&mut self, len: u64) -> Option<Track> {
        let codec = self.codec()?;
        let (timescale, clock) = (self.word()?, self.word()?);
        let framing = match (self.byte()?, u16::from_le_bytes(self.number()?)) {
            (0, _) => Framing::Plain,
            (1, width @ 1..=4) => Framing::Lengths(width as u8),
            (2, pid) => Framing::StartCodes(pid),
            (3, pid) => Framing::Stream(pid),
            _ => return None,
        };
        let (last, count) = (self.word()?, self.word()? as usize);
        let frames = self.take(count.checked_mul(FRAME)?)?;
        let frames = frames.chunks_exact(FRAME).map(|bytes| Rest(bytes).frame(len)).collect::<Option<Vec<_>>>()?;
        let is_sorted = frames.is_sorted_by_key(|frame| frame.decode);
        if timescale == 0 || clock == 0 || frames.is_empty() || !is_sorted {
            return None;
        }
        Some(Track { codec, timescale, clock, framing, frames, last })
    }

    /// A frame of a video of `len` bytes.
    fn frame(&mut self, len: u64) -> Option<Frame> {
        let offset = u64::from_le_bytes(self.number()?);
        let decode = i64::from_le_bytes(self.number()?);
        let display_delay = i32::from_le_bytes(self.number()?);
        let size = self.word()?;
        let packets = [u16::from_le_bytes(self.number()?), u16::from_le_bytes(self.number()?)];
        let skip = self.byte()?;
        let kind = Kind::ALL.into_iter().find(|kind| *kind as u8 == self.0[0])?;
        let is_inside = offset.checked_add(size.into()).is_some_and(|end| end <= len);
        let has_time = decode.checked_add(display_delay.into()).is_some();
        (is_inside && has_time).then_some(Frame { offset, decode, display_delay, size, packets, skip, kind })
    }
}

/// The bytes of `encode` with another digest, which is right.
#[cfg(test)]
pub(super) fn digested(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= HEAD {
        let sum = digest(&SHA256, &bytes[HEAD..]);
        bytes[HEAD - SHA256_OUTPUT_LEN..HEAD].copy_from_slice(sum.as_ref());
    }
    bytes
}
