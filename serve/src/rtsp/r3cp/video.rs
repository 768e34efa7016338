//! A video as the core's sender reads it: frames by their index in decoding order, payloads of frames that were read.

use std::sync::Arc;

use thalweg_core::session::stored::{Frame, Media, Payload};
use thalweg_core::time::Span;
use thalweg_core::video::Class;

use super::cache::{Cache, Read};
use crate::catalog::frames::{self, Order, Track};
use crate::rtsp::stored::Stored;

/// Bytes of frames that are read at once, unless one frame alone exceeds them.
const BATCH: usize = 8 << 10;

/// The tracks of a video that are set up.
#[derive(Debug)]
pub(super) struct Video {
    stored: Arc<Stored>,
    /// The numbers of the tracks.
    tracks: Vec<usize>,
    /// The nanoseconds by which media time is ahead of the time of the video, so that no media time is negative.
    shift: i128,
    cache: Cache,
    /// The frame whose bytes a packet lacked.
    missing: Option<u32>,
    /// The frames that are being read.
    reading: Vec<u32>,
    /// The first frame that was never read.
    next: u32,
}

/// The start of a play.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Start {
    /// The index of the first frame.
    pub(super) first: u32,
    /// Its decode time in media time.
    pub(super) decode: Span,
    /// The instant of `from` in media time.
    pub(super) display: Span,
    /// The time of the video at which the play starts.
    pub(super) from: Span,
}

impl Video {
    pub(super) fn new(stored: &Arc<Stored>, tracks: &[usize]) -> Video {
        let first = |track: &Track| Some(track.nanos(track.frames.first()?.decode));
        let shift = -stored.tracks().filter_map(first).min().unwrap_or_default().min(0);
        let (stored, tracks) = (stored.clone(), tracks.to_vec());
        Video { stored, tracks, shift, cache: Cache::default(), missing: None, reading: Vec::new(), next: 0 }
    }

    /// The start at `from`, or at the random access point before it.
    pub(super) fn start(&self, from: Span) -> Start {
        let start = self.tracks.first().and_then(|&number| {
            let track = self.stored.track(number)?;
            let place = match number {
                0 => track.random_access(from),
                _ => track.from(from).min(track.frames.len().saturating_sub(1)),
            };
            Some((track, place, track.frames.get(place)?))
        });
        let Some((track, place, frame)) = start else {
            return Start { first: 0, decode: Span::ZERO, display: Span::ZERO, from };
        };
        let first = match self.tracks.get(1).and_then(|&number| self.stored.track(number)) {
            // The whole video has all of its sound: what a decoder needs first precedes the first picture.
            Some(audio) if place > 0 => Order::picture(place, track, audio),
            _ => place as u32,
        };
        let decode = self.frame(first).map_or(Span::ZERO, |frame| frame.decode);
        let display = self.media_time(track, frame.display().max(0));
        Start { first, decode, display, from: track.time(frame.display()) }
    }

    /// The mean packets per second, and the mean bytes of their payloads, of all frames.
    pub(super) fn mean_packets(&self) -> (f64, u32) {
        let tracks = || self.tracks.iter().filter_map(|&number| self.stored.track(number));
        let frames = || tracks().flat_map(|track| &track.frames);
        let packets: u64 = frames().map(|frame| u64::from(packets(frame))).sum();
        let bytes: u64 = frames().map(|frame| u64::from(frame.size)).sum();
        let length = tracks().map(Track::length).max().unwrap_or_default();
        let size = u32::try_from(bytes / packets.max(1)).unwrap_or(u32::MAX);
        (packets as f64 / length.as_secs_f64().max(1e-3), size.max(1))
    }

    /// The frames to be read, each by its track and place, once: that whose bytes were missing, and those that follow it
    /// unless an earlier one is retransmitted.
    pub(super) fn wanted(&mut self) -> Vec<(usize, usize)> {
        let Some(missing) = self.missing.take_if(|_| self.reading.is_empty()) else { return Vec::new() };
        let (mut frames, mut bytes) = (Vec::new(), 0);
        for index in missing.. {
            let Some((number, place, frame)) = self.entry(index) else { break };
            bytes += frame.size as usize;
            if index > missing && (bytes > BATCH || missing < self.next) {
                break;
            }
            if !self.cache.contains(index) {
                frames.push((self.tracks[number], place));
                self.reading.push(index);
            }
        }
        self.next = self.next.max(self.reading.last().map_or(0, |last| last + 1));
        frames
    }

    /// Takes the frames that were read. False if one of them is not what the index says.
    pub(super) fn supply(&mut self, frames: Vec<Vec<u8>>) -> bool {
        let reading = std::mem::take(&mut self.reading);
        reading.into_iter().zip(frames).all(|(index, bytes)| self.packetize(index, bytes).is_some())
    }

    fn packetize(&mut self, index: u32, bytes: Vec<u8>) -> Option<()> {
        let (number, _, frame) = self.entry(index)?;
        let payloads = self.stored.packetize(self.tracks[number], &bytes)?;
        if payloads.len().max(1) != usize::from(packets(frame)) {
            return None;
        }
        self.cache.insert(Read { index, bytes: bytes.into(), payloads: payloads.into() });
        Some(())
    }

    /// The frame of an index with its place: the place of its track among those that are set up, and its own there.
    fn entry(&self, index: u32) -> Option<(usize, usize, &frames::Frame)> {
        let (number, place) = match &self.tracks[..] {
            [_, _] => self.stored.order()?.frame(index)?,
            _ => (0, index as usize),
        };
        let track = self.stored.track(*self.tracks.get(number)?)?;
        Some((number, place, track.frames.get(place)?))
    }

    fn media_time(&self, track: &Track, ticks: i64) -> Span {
        let nanos = (track.nanos(ticks) + self.shift).max(0);
        Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl Media for Video {
    fn frame(&self, index: u32) -> Option<Frame> {
        let (number, _, frame) = self.entry(index)?;
        let track = self.stored.track(self.tracks[number])?;
        let class = if self.tracks[number] == 0 { Class::Picture(frame.kind) } else { Class::Audio };
        let decode = self.media_time(track, frame.decode);
        let display = self.media_time(track, frame.display()).max(decode);
        Some(Frame { class, track: number as u8, packets: packets(frame), bytes: frame.size, decode, display })
    }

    fn payload(&mut self, frame: u32, packet: u16, buf: &mut [u8]) -> Option<Payload> {
        match self.cache.get(frame) {
            Some(read) => Some(read.write(packet, buf)),
            None => {
                self.missing = Some(frame);
                None
            }
        }
    }
}

/// The packets of a frame with the longest payloads; a frame without bytes has one.
fn packets(frame: &frames::Frame) -> u16 {
    frame.packets().0.max(1)
}
