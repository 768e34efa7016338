//! The bytes of a frame.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::{Frame, Framing, Track};

impl Track {
    /// Reads a frame into `bytes`, whose content is replaced. The result is without headers of the container, but with
    /// the lengths or start codes of NAL units: see [`Framing::nal_units`].
    ///
    /// # Errors
    /// The file cannot be read, or is shorter than it was.
    pub fn fetch(&self, video: &File, frame: &Frame, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.clear();
        bytes.resize(frame.size as usize, 0);
        video.read_exact_at(bytes, frame.offset)
    }
}

impl Framing {
    /// The NAL units of an H.264 frame, without lengths and start codes; nothing of a frame without such units. Bytes
    /// that are no whole unit end the iteration.
    pub fn nal_units(self, frame: &[u8]) -> NalUnits<'_> {
        NalUnits { rest: frame, framing: self }
    }
}

/// The NAL units of a frame.
#[derive(Clone, Debug)]
pub struct NalUnits<'a> {
    rest: &'a [u8],
    framing: Framing,
}

impl<'a> Iterator for NalUnits<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        match self.framing {
            Framing::Lengths(width) => {
                let (len, rest) = self.rest.split_at_checked(width.into())?;
                let len = len.iter().fold(0, |len, &byte| len << 8 | usize::from(byte));
                let (unit, rest) = rest.split_at_checked(len)?;
                self.rest = rest;
                Some(unit)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nal_units_with_lengths_end_at_a_truncated_one() {
        let frame = [0, 2, 0x65, 1, 0, 1, 0x41, 0, 3, 9, 9];
        assert_eq!(Framing::Lengths(2).nal_units(&frame).collect::<Vec<_>>(), [&[0x65, 1][..], &[0x41]]);
        assert_eq!(Framing::Plain.nal_units(&frame).count(), 0);
    }
}
