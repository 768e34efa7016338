//! The bytes of a frame.

use std::fs::File;
use std::io::{self, ErrorKind};

use thalweg_core::wire::payload::{Stored, h264};
use thalweg_mpegts::PACKET;
use thalweg_mpegts::align::{Framer, SYNC_RUN};

use super::resident::ReadAt;
use super::ts::pes::Elementary;
use super::{Codec, Frame, Framing, Track};

/// Bytes of a transport stream that are read for each byte of a frame, and more for any frame: other streams lie
/// between, at up to 64 times its rate.
const SHARE: u64 = 64;
const MORE: u64 = 1 << 20;

impl Track {
    /// Reads a frame into `bytes`, whose content is replaced. The result is without headers of the container, but with
    /// the lengths or start codes of NAL units: see [`Track::stored`].
    ///
    /// # Errors
    /// The file cannot be read, is shorter than it was, or has other content.
    pub fn fetch(&self, video: &File, frame: &Frame, bytes: &mut Vec<u8>) -> io::Result<()> {
        self.fetch_from(video, frame, bytes)
    }

    /// Reads a frame as [`Track::fetch`] does, from any form of its file.
    pub(super) fn fetch_from(&self, video: &impl ReadAt, frame: &Frame, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.clear();
        match self.framing {
            Framing::Plain | Framing::Lengths(_) => {
                bytes.resize(frame.size as usize, 0);
                video.read_exact_at(bytes, frame.offset)
            }
            Framing::StartCodes(pid) | Framing::Stream(pid) => demultiplex(video, pid, frame, bytes),
        }
    }

    /// The bytes of a frame of this track, in the form in which its packets are made.
    pub fn stored<'a>(&self, frame: &'a [u8]) -> Stored<'a> {
        match (&self.codec, self.framing) {
            (Codec::H264 { .. }, Framing::Lengths(size)) => Stored::H264(frame, h264::Framing::LengthPrefixed { size }),
            (Codec::H264 { .. }, _) => Stored::H264(frame, h264::Framing::AnnexB),
            (Codec::MpegVideo, _) => Stored::MpegVideo(frame),
            (Codec::Aac { .. }, _) => Stored::Aac(frame),
            (Codec::MpegAudio, _) => Stored::MpegAudio(frame),
        }
    }
}

/// Collects a frame from the packets of a PID.
fn demultiplex(video: &impl ReadAt, pid: u16, frame: &Frame, bytes: &mut Vec<u8>) -> io::Result<()> {
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
