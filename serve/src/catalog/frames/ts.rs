//! The frames of an MPEG transport stream (ISO/IEC 13818-1), of its first program. All of it is read, since nothing says
//! where frames begin.

mod audio;
mod h264;
mod mpeg;
pub(super) mod pes;
mod psi;
mod stream;
#[cfg(test)]
mod synthetic;

use std::io::{ErrorKind, Read, Seek, SeekFrom};

use thalweg_mpegts::PACKET;
use thalweg_mpegts::aac;
use thalweg_mpegts::align::Framer;
use thalweg_mpegts::packet::Packet;

use self::psi::{Program, Tables, Video};
use self::stream::Stream;
use super::{Codec, Frame, Framing, Index, MAX_FRAMES, MIN_FRAME, Track};
use crate::rate::FormatError;

/// Bytes that are read at once.
const CHUNK: usize = 256 << 10;

/// Reads the frames of a video.
pub(super) fn read(video: &mut (impl Read + Seek)) -> Result<Index, FormatError> {
    let len = video.seek(SeekFrom::End(0)).map_err(FormatError::unreadable)?;
    video.seek(SeekFrom::Start(0)).map_err(FormatError::unreadable)?;
    let (mut framer, mut demultiplexer) = (Framer::new(), Demultiplexer::new(len));
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = match video.read(&mut chunk) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.map_err(FormatError::unreadable)?,
        };
        match read {
            0 => framer.finish(),
            read => framer.push(&chunk[..read]),
        }
        while let Some(packet) = framer.poll() {
            let end = framer.packets() * PACKET as u64 + framer.skipped().0;
            demultiplexer.push(&packet, end - PACKET as u64)?;
        }
        if read == 0 {
            return demultiplexer.finish();
        }
    }
}

/// The streams of a program while they are read.
struct Demultiplexer {
    tables: Tables,
    video: Option<(Stream, Pictures)>,
    audio: Option<(Stream, audio::Frames)>,
    /// The last time stamp of any stream.
    now: Option<i64>,
    most_frames: usize,
}

enum Pictures {
    H264(h264::Pictures),
    Mpeg(mpeg::Pictures),
}

impl Pictures {
    fn scan(&mut self, stream: &mut Stream, ended: bool) -> Result<(), FormatError> {
        match self {
            Pictures::H264(pictures) => pictures.scan(stream, ended),
            Pictures::Mpeg(pictures) => pictures.scan(stream, ended),
        }
    }
}

impl Demultiplexer {
    fn new(len: u64) -> Demultiplexer {
        let most_frames = usize::try_from(len / MIN_FRAME).unwrap_or(usize::MAX).min(MAX_FRAMES);
        Demultiplexer { tables: Tables::default(), video: None, audio: None, now: None, most_frames }
    }

    /// Adds a packet, which is at `offset` in the file.
    fn push(&mut self, packet: &Packet, offset: u64) -> Result<(), FormatError> {
        let pid = packet.pid();
        if let Some((stream, pictures)) = self.video.as_mut().filter(|(stream, _)| stream.pid == pid) {
            stream.push(packet, offset, &mut self.now)?;
            return pictures.scan(stream, false);
        }
        if let Some((stream, frames)) = self.audio.as_mut().filter(|(stream, _)| stream.pid == pid) {
            stream.push(packet, offset, &mut self.now)?;
            return frames.scan(stream);
        }
        if let Some(Program { video: (codec, pid), audio }) = self.tables.push(packet)? {
            let pictures = match codec {
                Video::H264 => Pictures::H264(h264::Pictures::new()),
                Video::Mpeg => Pictures::Mpeg(mpeg::Pictures::new()),
            };
            self.video = Some((Stream::new(pid, self.most_frames), pictures));
            self.audio = audio.map(|(format, pid)| (Stream::new(pid, self.most_frames), audio::Frames::new(format)));
        }
        Ok(())
    }

    fn finish(self) -> Result<Index, FormatError> {
        let Some((mut stream, mut pictures)) = self.video else {
            return Err(FormatError::new("a transport stream without a program (no PAT and PMT)"));
        };
        pictures.scan(&mut stream, true)?;
        let (codec, framing) = match pictures {
            Pictures::Mpeg(_) => (Codec::MpegVideo, Framing::Stream(stream.pid)),
            Pictures::H264(h264::Pictures { sps, pps, .. }) if sps.is_empty() || pps.is_empty() => {
                return Err(FormatError::new("H.264 without parameter sets"));
            }
            Pictures::H264(h264::Pictures { sps, pps, .. }) => {
                (Codec::H264 { sps, pps }, Framing::StartCodes(stream.pid))
            }
        };
        let mut video = track(codec, 90_000, framing, stream.frames);
        if video.frames.is_empty() {
            return Err(FormatError::new("a transport stream without a picture"));
        }
        let mut audio = self.audio.and_then(|(stream, frames)| sound(stream, frames.first?));
        let first = |track: &Track| track.frames.iter().map(Frame::display).min();
        let origin = first(&video).into_iter().chain(audio.as_ref().and_then(first)).min().unwrap_or_default();
        for track in [Some(&mut video), audio.as_mut()].into_iter().flatten() {
            super::precede(&mut track.frames)?;
            track.frames.iter_mut().for_each(|frame| frame.decode -= origin);
        }
        Ok(Index { video, audio })
    }
}

/// The track of a stream of audio; none if it has no frame with a time.
fn sound(stream: Stream, first: audio::Header) -> Option<Track> {
    if stream.frames.is_empty() {
        return None;
    }
    let (codec, clock) = match first.config {
        Some(config) => {
            let parameters = aac::Config::parse(&config).ok()?;
            (Codec::Aac { config: config.to_vec(), channels: parameters.channels() }, parameters.rate())
        }
        None => (Codec::MpegAudio, 90_000),
    };
    Some(track(codec, clock, Framing::Stream(stream.pid), stream.frames))
}

/// A track whose last frame is as long as the one before.
fn track(codec: Codec, clock: u32, framing: Framing, mut frames: Vec<Frame>) -> Track {
    frames.shrink_to_fit();
    let last = match frames[..] {
        [.., before, last] => u32::try_from(last.decode - before.decode).unwrap_or_default(),
        _ => 0,
    };
    Track { codec, timescale: 90_000, clock, framing, frames, last }
}

#[cfg(test)]
mod tests;
