//! Group reports: the sender's account of the packets of each group.

use super::place::{class_of, code};
use super::{MAX_FRAMES, MAX_TRACKS, saturated};
use crate::time::Span;
use crate::video::Class;
use crate::wire::Error;

/// The sender's account of a group.
///
/// | offset | field |
/// |---|---|
/// | 0 | number n of the group (32 bits) |
/// | 4 | media time due before it, in ms (32 bits) |
/// | 8 | media time due with it, in ms (32 bits) |
/// | 12 | first frame described (32 bits) |
/// | 16 | number of frames described (16 bits) |
/// | 18 | 1 if no frame follows |
/// | 19 | number of tracks |
/// | 20 | for each track the sequence number of the group's first packet (16 bits) |
/// | ... | for each frame four bits: skipped, and three of its class |
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GroupReport<'a> {
    /// n: the number of the group, that of the message which began it.
    pub number: u32,
    /// The media time that was due before the group.
    pub before: Span,
    /// The media time that is due with the group.
    pub due: Span,
    /// The first frame described.
    pub first: u32,
    /// The number of frames described.
    pub frames: u16,
    /// True if the video has no frames after these.
    pub is_end: bool,
    /// For each track, the sequence number of the first packet of the group.
    pub sequences: &'a [[u8; 2]],
    /// Four bits for each frame.
    pub classes: &'a [u8],
}

impl<'a> GroupReport<'a> {
    const HEADER_LEN: usize = 20;

    /// Parses the data of an APP packet.
    pub(super) fn parse(data: &'a [u8]) -> Result<GroupReport<'a>, Error> {
        let (head, rest) = data.split_first_chunk::<{ GroupReport::HEADER_LEN }>().ok_or(Error::Truncated)?;
        let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let frames = u16::from_be_bytes([head[16], head[17]]);
        let tracks = usize::from(head[19]);
        if tracks > MAX_TRACKS || usize::from(frames) > MAX_FRAMES {
            return Err(Error::Malformed);
        }
        let (sequences, rest) = rest.split_at_checked(2 * tracks).ok_or(Error::Length)?;
        let classes = rest.get(..usize::from(frames).div_ceil(2)).ok_or(Error::Length)?;
        let millis = |at| Span::from_millis(word(at).into());
        Ok(GroupReport {
            number: word(0),
            before: millis(4),
            due: millis(8),
            first: word(12),
            frames,
            is_end: head[18] == 1,
            sequences: sequences.as_chunks().0,
            classes,
        })
    }

    /// Writes the data of an APP packet.
    pub(super) fn emit(&self) -> Vec<u8> {
        let millis = |span: Span| saturated(span.as_micros() / 1_000);
        let words = [self.number, millis(self.before), millis(self.due), self.first];
        let mut data: Vec<u8> = words.into_iter().flat_map(u32::to_be_bytes).collect();
        data.extend(self.frames.to_be_bytes());
        data.extend([self.is_end.into(), self.sequences.len() as u8]);
        data.extend(self.sequences.as_flattened());
        data.extend(self.classes);
        data
    }

    /// For each track, the sequence number of the first packet of the group.
    pub fn first_sequences(&self) -> impl Iterator<Item = u16> + use<'a> {
        self.sequences.iter().copied().map(u16::from_be_bytes)
    }

    /// The frames described: number, class, and true if skipped. A class that this version does not know ends the list.
    pub fn described(&self) -> impl Iterator<Item = (u32, Class, bool)> + use<'a> {
        let (first, classes) = (self.first, self.classes);
        (0..u32::from(self.frames)).map_while(move |nth| {
            let bits = classes[nth as usize / 2] >> (4 * (nth % 2));
            Some((first.checked_add(nth)?, class_of(bits & 7)?, bits & 8 != 0))
        })
    }

    /// The bits of frames with these classes, true for those that are skipped.
    pub fn classes_of(frames: impl IntoIterator<Item = (Class, bool)>) -> Vec<u8> {
        let mut classes = Vec::new();
        for (nth, (class, is_skipped)) in frames.into_iter().enumerate() {
            let bits = code(class) | u8::from(is_skipped) << 3;
            match nth % 2 {
                0 => classes.push(bits),
                _ => classes[nth / 2] |= bits << 4,
            }
        }
        classes
    }
}
