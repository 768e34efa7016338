//! The frames of MP4 (ISO/IEC 14496-12): the tables of samples in `moov`, and fragments.

mod description;
mod edit;
mod fragments;
mod nals;
mod samples;

use std::io::{Read, Seek};

use thalweg_core::video::Kind;

use self::description::Description;
use self::edit::Edits;
use super::{Codec, Frame, Index, MAX_FRAMES, MIN_FRAME, Track, far};
use crate::mp4::boxes::{Boxes, Head};
use crate::mp4::fragment::Defaults;
use crate::mp4::track::Header;
use crate::rate::FormatError;

/// Limit on tracks: more than any video has.
const MAX_TRACKS: usize = 64;

/// Reads the frames of a video.
pub(super) fn read(video: &mut (impl Read + Seek)) -> Result<Index, FormatError> {
    let mut boxes = Boxes::new(video)?;
    let (mut movie, mut at) = (None, 0);
    while let Some(head) = boxes.head(at, boxes.len())? {
        match (&head.kind, &mut movie) {
            (b"moov", None) => movie = Some(Movie::read(&mut boxes, head)?),
            (b"moof", Some(movie)) => movie.fragment(&mut boxes, at, head)?,
            (b"moof", None) => return Err(FormatError::new("a fragment before the moov box: a segment of a video")),
            (b"moov", Some(_)) => return Err(FormatError::new("more than one moov box")),
            _ => {}
        }
        at = head.end;
    }
    let movie =
        movie.ok_or_else(|| FormatError::new("no moov box: the file is incomplete, or a segment of a video"))?;
    movie.finish(&mut boxes)
}

/// The tracks of a video that are indexed, while they are read.
struct Movie {
    /// Ticks a second of the durations of edits.
    timescale: u64,
    video: Samples,
    audio: Option<Samples>,
}

/// A track while it is read.
struct Samples {
    header: Header,
    description: Description,
    edits: Edits,
    defaults: Defaults,
    frames: Vec<Frame>,
    /// The number of all samples, and their bytes.
    count: usize,
    bytes: u64,
    /// The decode time of the next sample.
    next: i64,
    /// The duration of the last sample.
    last: u64,
    /// Limits on frames and on their bytes, by the length of the file.
    most_frames: usize,
    file: u64,
}

impl Movie {
    fn read(boxes: &mut Boxes<'_, impl Read + Seek>, moov: Head) -> Result<Movie, FormatError> {
        let (mut timescale, mut traks, mut defaults) = (0, Vec::new(), Vec::new());
        boxes.each(moov, |boxes, head| {
            match &head.kind {
                b"mvhd" => timescale = boxes.body(head)?.times()?.1,
                b"trak" => traks.push(head),
                b"mvex" => boxes.each(head, |boxes, head| {
                    if &head.kind == b"trex" {
                        defaults.push(Defaults::parse(boxes.body(head)?)?);
                    }
                    Ok(())
                })?,
                _ => {}
            }
            if traks.len().max(defaults.len()) > MAX_TRACKS {
                return Err(FormatError::new(format!("more than {MAX_TRACKS} tracks")));
            }
            Ok(())
        })?;
        let mut tracks = Choice::default();
        for trak in traks {
            tracks.add(boxes, trak)?;
        }
        let (video, audio) = tracks.finish()?;
        let mut read = |trak: Chosen| -> Result<Samples, FormatError> {
            let default = defaults.iter().find(|(id, _)| *id == trak.header.id);
            let mut samples = Samples::read(boxes, trak, default.map(|(_, defaults)| *defaults).unwrap_or_default())?;
            if !defaults.is_empty() {
                samples.edits = samples.edits.without_end();
            }
            Ok(samples)
        };
        Ok(Movie { timescale, video: read(video)?, audio: audio.map(read).transpose()? })
    }

    fn finish(mut self, boxes: &mut Boxes<'_, impl Read + Seek>) -> Result<Index, FormatError> {
        nals::classify(boxes, &mut self.video)?;
        let audio = self.audio.map(|audio| audio.finish(self.timescale)).transpose()?;
        Ok(Index { video: self.video.finish(self.timescale)?, audio })
    }
}

/// A track that was chosen, and its description.
struct Chosen {
    trak: Head,
    header: Header,
    description: Description,
}

/// The choice of tracks: of video and of audio the first that is supported.
#[derive(Default)]
struct Choice {
    video: Option<Result<Chosen, FormatError>>,
    audio: Option<Result<Chosen, FormatError>>,
}

impl Choice {
    fn add(&mut self, boxes: &mut Boxes<'_, impl Read + Seek>, trak: Head) -> Result<(), FormatError> {
        let (mut handler, mut stsd) = (0, None);
        boxes.below(trak, &[b"mdia"], &mut |boxes, head| {
            if &head.kind == b"hdlr" {
                let mut body = boxes.body(head)?;
                body.skip(8);
                handler = body.number(4)?;
            }
            Ok(())
        })?;
        boxes.below(trak, &[b"mdia", b"minf", b"stbl"], &mut |_, head| {
            stsd = if &head.kind == b"stsd" { Some(head) } else { stsd };
            Ok(())
        })?;
        let place = match &(handler as u32).to_be_bytes() {
            b"vide" => &mut self.video,
            b"soun" => &mut self.audio,
            _ => return Ok(()),
        };
        if matches!(place, Some(Ok(_))) {
            return Ok(());
        }
        let header = Header::parse(boxes, trak)?;
        let stsd = stsd.ok_or_else(|| FormatError::new("a track without a description (stsd)"))?;
        let chosen = Description::read(boxes, stsd).map(|description| Chosen { trak, header, description });
        if chosen.is_ok() || place.is_none() {
            *place = Some(chosen);
        }
        Ok(())
    }

    fn finish(self) -> Result<(Chosen, Option<Chosen>), FormatError> {
        let video = self.video.ok_or_else(|| FormatError::new("it has no video, only audio or data"))??;
        Ok((video, self.audio.transpose()?))
    }
}

impl Samples {
    fn read(
        boxes: &mut Boxes<'_, impl Read + Seek>,
        Chosen { trak, header, description }: Chosen,
        defaults: Defaults,
    ) -> Result<Samples, FormatError> {
        let most_frames = usize::try_from(boxes.len() / MIN_FRAME).unwrap_or(usize::MAX).min(MAX_FRAMES);
        let edits = Edits::read(boxes, trak)?;
        let (frames, file) = (Vec::new(), boxes.len());
        let mut samples = Samples {
            header,
            description,
            edits,
            defaults,
            frames,
            count: 0,
            bytes: 0,
            next: 0,
            last: 0,
            most_frames,
            file,
        };
        samples.tables(boxes, trak)?;
        Ok(samples)
    }

    /// Adds a sample; one without bytes only takes time.
    fn push(&mut self, offset: u64, sample: Sample) -> Result<(), FormatError> {
        let Sample { duration, size, composition, sync } = sample;
        let decode = self.next;
        self.next = i64::try_from(duration).ok().and_then(|duration| decode.checked_add(duration)).ok_or_else(far)?;
        self.last = duration;
        self.bytes = self.bytes.saturating_add(size);
        if offset.checked_add(size).is_none_or(|end| end > self.file) || self.bytes > self.file {
            return Err(FormatError::new(format!(
                "the file is incomplete; copy it again (its tables have samples beyond the end of the file, at byte {offset})"
            )));
        }
        // Those without bytes count, too: a run of 2^32 of them takes no bytes of the file.
        self.count += 1;
        if self.count > self.most_frames {
            return Err(FormatError::new(format!("more than {} samples in a track", self.most_frames)));
        }
        if size == 0 {
            return Ok(());
        }
        let size = u32::try_from(size).map_err(|_| FormatError::new("a sample of 4 GiB or more"))?;
        let display_delay = i32::try_from(composition).map_err(|_| far())?;
        let kind = if sync { Kind::I } else { Kind::P };
        self.frames.push(Frame { offset, decode, display_delay, size, packets: [0; 2], skip: 0, kind });
        Ok(())
    }

    fn finish(mut self, movie: u64) -> Result<Track, FormatError> {
        let timescale = u32::try_from(self.header.timescale).ok().filter(|&scale| scale > 0);
        let timescale = timescale.ok_or_else(|| FormatError::new("a track without a timescale"))?;
        self.edits.apply(&mut self.frames, timescale, movie)?;
        super::precede(&mut self.frames)?;
        if self.frames.is_empty() {
            return Err(FormatError::new("a track without frames"));
        }
        if !self.frames.is_sorted_by_key(|frame| frame.decode) {
            return Err(FormatError::new("the decode times of a track go back"));
        }
        self.frames.shrink_to_fit();
        let Description { codec, framing, clock } = self.description;
        if let Codec::Aac { .. } = codec {
            self.frames.iter_mut().for_each(|frame| frame.packets = super::packets::aac(frame.size));
        }
        let last = u32::try_from(self.last).unwrap_or(u32::MAX);
        Ok(Track { codec, timescale, clock, framing, frames: self.frames, last })
    }
}

/// A sample, as its tables state it.
struct Sample {
    duration: u64,
    size: u64,
    /// Display time minus decode time.
    composition: i64,
    sync: bool,
}

#[cfg(test)]
mod tests;
