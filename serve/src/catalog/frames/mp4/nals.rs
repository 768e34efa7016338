//! Kinds and packets of H.264 frames, from the lengths and first bytes of their NAL units.

use std::io::{Read, Seek};

use super::{super::Frame, Samples};
use crate::catalog::frames::Framing;
use crate::catalog::frames::h264::{Picture, START};
use crate::catalog::frames::packets::Packets;
use crate::mp4::boxes::Boxes;
use crate::rate::FormatError;

/// Limit on the NAL units of a frame: no level of H.264 permits as many slices.
const MAX_UNITS: usize = 4096;
/// Bytes that are read at once. The first slice is often within as many of the frame's start.
const WINDOW: usize = 64;

/// Sets the kind and the packets of each frame.
pub(super) fn classify(boxes: &mut Boxes<'_, impl Read + Seek>, samples: &mut Samples) -> Result<(), FormatError> {
    let Framing::Lengths(width) = samples.description.framing else { return Ok(()) };
    for frame in &mut samples.frames {
        let (mut picture, mut packets) = (Picture::new(), Packets::default());
        Units::new(boxes, frame, width.into()).each(|start, len| {
            picture.add(start);
            packets.add(len);
        })?;
        frame.kind = picture.kind(frame.is_random_access());
        frame.packets = packets.counts();
    }
    Ok(())
}

/// The NAL units of a frame.
struct Units<'a, 'b, F> {
    boxes: &'a mut Boxes<'b, F>,
    frame: Frame,
    width: usize,
    window: [u8; WINDOW],
    window_start: u64,
    window_len: usize,
}

impl<'a, 'b, F: Read + Seek> Units<'a, 'b, F> {
    fn new(boxes: &'a mut Boxes<'b, F>, frame: &Frame, width: usize) -> Units<'a, 'b, F> {
        Units { boxes, frame: *frame, width, window: [0; WINDOW], window_start: 0, window_len: 0 }
    }

    /// Applies `visit` to the first bytes of each NAL unit and its length.
    fn each(mut self, mut visit: impl FnMut(&[u8], u32)) -> Result<(), FormatError> {
        let start = self.frame.offset;
        let (mut at, end) = (start, start + u64::from(self.frame.size));
        let fault = |why| FormatError::new(format!("the frame at byte {start} {why}"));
        for _ in 0..MAX_UNITS {
            if at == end {
                return Ok(());
            }
            let width = self.width;
            let bytes = self.bytes(at, end)?;
            let (Some(len), Some(rest)) = (bytes.get(..width), bytes.get(width..)) else {
                return Err(fault("ends within the length of a NAL unit"));
            };
            let len = len.iter().fold(0, |len, &byte| len << 8 | u64::from(byte));
            at += width as u64;
            if len > end - at {
                return Err(fault("has a NAL unit beyond its end"));
            }
            // A frame has less than 4 GiB.
            visit(&rest[..rest.len().min(len as usize)], len as u32);
            at += len;
        }
        Err(fault(&format!("has more than {MAX_UNITS} NAL units")))
    }

    /// The bytes at `at`, with the length of a NAL unit and its start, up to `end`.
    fn bytes(&mut self, at: u64, end: u64) -> Result<&[u8], FormatError> {
        let wanted = ((self.width + START) as u64).min(end - at) as usize;
        let known = self.window_start..self.window_start + self.window_len as u64;
        if !known.contains(&at) || known.end < at + wanted as u64 {
            (self.window_start, self.window_len) = (at, (WINDOW as u64).min(end - at) as usize);
            self.boxes.fill(at, &mut self.window[..self.window_len])?;
        }
        let from = (at - self.window_start) as usize;
        Ok(&self.window[from..from + wanted])
    }
}
