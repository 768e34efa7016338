//! The media source: a transport stream file, looped and paced by its own clock.

use std::fs::File;
use std::io::{Read, Seek};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use thalweg_mpegts::source::{LoopMode, TsSource};
use thalweg_net::clock::{Clock, sharpen_timers};
use thalweg_net::error::plain;
use thalweg_net::signal::Stop;

use super::ledger::Mark;
use crate::built_in;

/// A file that has been found playable.
pub(super) struct Video {
    path: PathBuf,
    /// The rate over the first second.
    pub(super) rate: Rate,
}

impl Video {
    pub(super) fn open(path: &Path) -> Result<Video, String> {
        let mut video = Video { path: path.to_owned(), rate: Rate::from_bps(0) };
        let mut bytes = Bytes(0);
        let mut playback = video.playback()?;
        while playback.next()?.is_some_and(|(due, datagram)| {
            bytes += Bytes(datagram.len() as u64);
            due < Span::from_secs(1)
        }) {}
        video.rate = Rate::of(bytes, Span::from_secs(1));
        Ok(video)
    }

    /// The video from its start; always the same datagrams.
    pub(super) fn playback(&self) -> Result<Playback<'_>, String> {
        let file: Box<dyn Medium> = match built_in::clip(&self.path) {
            Some(clip) => Box::new(clip),
            None => Box::new(File::open(&self.path).map_err(|error| self.fault(&plain(&error)))?),
        };
        Ok(Playback { video: self, file, source: TsSource::new(LoopMode::Forever), chunk: vec![0; 1 << 16] })
    }

    fn fault(&self, why: &dyn std::fmt::Display) -> String {
        format!("cannot play {}: {why}", self.path.display())
    }
}

/// Bytes that can be read again from their start.
trait Medium: Read + Seek + Send {}

impl<T: Read + Seek + Send> Medium for T {}

/// A video being played.
pub(super) struct Playback<'a> {
    video: &'a Video,
    file: Box<dyn Medium>,
    source: TsSource,
    chunk: Vec<u8>,
}

impl Playback<'_> {
    /// The next datagram, and its due time since the first.
    pub(super) fn next(&mut self) -> Result<Option<(Span, &[u8])>, String> {
        while self.source.due().is_none() {
            let fault = |why: &dyn std::fmt::Display| self.video.fault(why);
            let len = self.file.read(&mut self.chunk).map_err(|error| fault(&plain(&error)))?;
            if len > 0 {
                self.source.push(&self.chunk[..len]).map_err(|error| fault(&error))?;
            } else {
                self.source.finish().map_err(|error| fault(&error))?;
                self.file.rewind().map_err(|error| fault(&plain(&error)))?;
            }
        }
        Ok(self.source.poll())
    }

    /// Sends the video's first `length` to `to`, each datagram at its due time; returns the time at which each was
    /// sent.
    pub(super) fn play(mut self, to: &UdpSocket, length: Span, clock: Clock, stop: &Stop) -> Result<Vec<Mark>, String> {
        sharpen_timers();
        let start = clock.now();
        let mut marks = Vec::new();
        while let Some((due, datagram)) = self.next()? {
            if due >= length || stop.asked() {
                break;
            }
            let wait = (start + due).since(clock.now());
            std::thread::sleep(Duration::from_nanos(wait.as_nanos()));
            marks.push(Mark::of(datagram, clock.now()));
            // A datagram that the kernel refuses counts as sent and lost, like any other.
            let _ = to.send(datagram);
        }
        Ok(marks)
    }
}
