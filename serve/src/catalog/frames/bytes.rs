//! The bytes of a frame.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;

use thalweg_mpegts::PACKET;
use thalweg_mpegts::align::{Framer, SYNC_RUN};

use super::start_code;
use super::ts::pes::Elementary;
use super::{Frame, Framing, Track};

/// Bytes of a transport stream that are read for each byte of a frame, and more for any frame: other streams lie
/// between, at up to 64 times its rate.
const SHARE: u64 = 64;
const MORE: u64 = 1 << 20;

impl Track {
    /// Reads a frame into `bytes`, whose content is replaced. The result is without headers of the container, but with
    /// the lengths or start codes of NAL units: see [`Framing::nal_units`].
    ///
    /// # Errors
    /// The file cannot be read, is shorter than it was, or has other content.
    pub fn fetch(&self, video: &File, frame: &Frame, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.clear();
        match self.framing {
            Framing::Plain | Framing::Lengths(_) => {
                bytes.resize(frame.size as usize, 0);
                video.read_exact_at(bytes, frame.offset)
            }
            Framing::StartCodes(pid) | Framing::Stream(pid) => demultiplex(video, pid, frame, bytes),
        }
    }
}

/// Collects a frame from the packets of a PID.
fn demultiplex(video: &File, pid: u16, frame: &Frame, bytes: &mut Vec<u8>) -> io::Result<()> {
    let (mut framer, mut stream, mut skip) = (Framer::new(), Elementary::default(), usize::from(frame.skip));
    let (size, mut at) = (frame.size as usize, frame.offset);
    let most = MORE + SHARE * u64::from(frame.size);
    // A tenth of packets is headers and other streams; the framer looks a few packets ahead.
    let mut chunk = vec![0; size + size / 8 + (SYNC_RUN + 2) * PACKET];
    while bytes.len() < size {
        let read = video.read_at(&mut chunk, at)?;
        at += read as u64;
        match read {
            0 => framer.finish(),
            read => framer.push(&chunk[..read]),
        }
        while let Some(packet) = framer.poll() {
            if packet.pid() == pid {
                let (payload, _) = stream.take(&packet);
                let payload = payload.get(skip..).unwrap_or_default();
                bytes.extend_from_slice(&payload[..payload.len().min(size - bytes.len())]);
                skip = 0;
            }
        }
        if bytes.len() < size && (read == 0 || at - frame.offset > most) {
            return Err(ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
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
            Framing::StartCodes(_) => {
                let start = start_code::find(self.rest, 0)? + 3;
                let end = start_code::find(self.rest, start).unwrap_or(self.rest.len());
                let unit = &self.rest[start..end];
                self.rest = &self.rest[end..];
                Some(&unit[..start_code::trimmed(unit)])
            }
            Framing::Plain | Framing::Stream(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nal_units_end_at_a_truncated_one() {
        let frame = [0, 2, 0x65, 1, 0, 1, 0x41, 0, 3, 9, 9];
        assert_eq!(Framing::Lengths(2).nal_units(&frame).collect::<Vec<_>>(), [&[0x65, 1][..], &[0x41]]);
        assert_eq!(Framing::Plain.nal_units(&frame).count(), 0);
        let frame = [0, 0, 0, 1, 9, 0x10, 0, 0, 0, 1, 0x65, 0, 0, 3, 1, 0, 0, 1, 0x41, 7, 0, 0];
        let units: Vec<_> = Framing::StartCodes(256).nal_units(&frame).collect();
        assert_eq!(units, [&[9, 0x10][..], &[0x65, 0, 0, 3, 1], &[0x41, 7]]);
    }
}
