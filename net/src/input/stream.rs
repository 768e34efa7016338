//! A file or a pipe as an input: MPEG-TS, sent at the pace of its own clock.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_mpegts::source::{LoopMode, TsSource};

use super::exec::AHEAD;
use crate::error::plain;
use crate::poll::{Interests, readable};

/// Bytes taken from a file in one turn.
const CHUNK: usize = 64 << 10;
/// Datagrams due within this time are sent together: half of what the law's even spacing tolerates, and at high rates
/// it saves a wake-up for each.
const LEAD: Span = Span::from_micros(125);
/// Lateness at which a source (a pipe that ran dry, a machine that slept) gets a new start instead of a burst.
const MAX_LATENESS: Span = Span::from_millis(200);

/// Longest wait for a pipe before the stream is announced: most that are empty or carry no video are known by then.
const PROBE_TIMEOUT: Duration = Duration::from_millis(50);

/// An open stream of bytes.
#[derive(Debug)]
pub(super) struct Stream {
    file: File,
    mode: LoopMode,
    source: TsSource,
    /// The time at which the first datagram was sent, or would have been at the present pace; none while it is not
    /// wanted.
    origin: Option<Time>,
    ended: bool,
    /// True if a datagram was ever timed; if not, an error will say all there is to say.
    is_timed: bool,
    reported_truncated: bool,
    chunk: Box<[u8]>,
}

impl Stream {
    /// Opens a file or a named pipe; a pipe may still lack a writer.
    pub(super) fn file(path: &Path, repeat: bool) -> io::Result<Stream> {
        let nonblock = OFlags::NONBLOCK.bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(nonblock).open(path)?;
        let kind = file.metadata()?.file_type();
        if kind.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if repeat && !kind.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "only a file can be looped"));
        }
        Ok(Stream::new(file, repeat))
    }

    /// Reads until the first datagram is timed, so that an input that is not a transport stream, or has no clock, is
    /// reported before anything else. A pipe is read as far as it has data within [`PROBE_TIMEOUT`].
    pub(super) fn probe(&mut self) -> Result<(), String> {
        let is_file = self.is_file();
        let until = Instant::now() + PROBE_TIMEOUT;
        while !self.ended && self.source.due().is_none() {
            let wait = until.saturating_duration_since(Instant::now());
            if !is_file && !readable(&self.file, wait).map_err(|error| plain(&error))? {
                break;
            }
            self.fill()?;
        }
        Ok(())
    }

    /// True if this is a regular file, which waits for its reader.
    pub(super) fn is_file(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.is_file())
    }

    /// Standard input.
    pub(super) fn stdin() -> io::Result<Stream> {
        Ok(Stream::new(File::from(io::stdin().as_fd().try_clone_to_owned()?), false))
    }

    /// The standard output of an encoder.
    pub(super) fn pipe(output: File) -> Stream {
        let stream = Stream::new(output, false);
        Stream { source: stream.source.reading_ahead(AHEAD), ..stream }
    }

    fn new(file: File, repeat: bool) -> Stream {
        let mode = if repeat { LoopMode::Forever } else { LoopMode::Once };
        Stream {
            file,
            mode,
            source: TsSource::new(mode),
            origin: None,
            ended: false,
            is_timed: false,
            reported_truncated: false,
            chunk: vec![0; CHUNK].into(),
        }
    }

    /// Reads ahead, and passes due data to `take`; returns true if more is due. The clock runs while `wanted`.
    pub(super) fn read(
        &mut self,
        now: Time,
        readable: bool,
        wanted: bool,
        mut take: impl FnMut(&[u8]),
    ) -> Result<bool, String> {
        if readable && self.source.wants() {
            self.fill()?;
        }
        if !wanted {
            self.origin = None;
            return Ok(false);
        }
        while let Some(due) = self.source.due() {
            let mut origin = *self.origin.get_or_insert(now - due);
            if now.since(origin + due) > MAX_LATENESS {
                origin = now - due;
                self.origin = Some(origin);
            }
            if origin + due > now + LEAD {
                break;
            }
            if let Some((_, datagram)) = self.source.poll() {
                take(datagram);
            }
        }
        Ok(false)
    }

    fn fill(&mut self) -> Result<(), String> {
        self.take()?;
        self.is_timed |= self.source.due().is_some();
        Ok(())
    }

    fn take(&mut self) -> Result<(), String> {
        match self.file.read(&mut self.chunk) {
            Ok(0) if self.mode == LoopMode::Forever => {
                self.file.rewind().map_err(|error| plain(&error))?;
                self.source.finish().map_err(|error| error.to_string())
            }
            Ok(0) => {
                self.ended = true;
                self.source.finish().map_err(|error| error.to_string())
            }
            Ok(len) => self.source.push(&self.chunk[..len]).map_err(|error| error.to_string()),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => Ok(()),
            Err(error) => Err(plain(&error)),
        }
    }

    /// Registers the descriptors to wait for.
    pub(super) fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        if !self.ended && self.source.wants() {
            interests.read(&self.file);
        } else {
            interests.nothing(&self.file);
        }
    }

    /// The time at which the next datagram is due.
    pub(super) fn next(&self) -> Option<Time> {
        Some(self.origin? + self.source.due()?)
    }

    /// True if all data has been passed on.
    pub(super) fn is_over(&self) -> bool {
        self.ended && self.source.due().is_none()
    }

    /// True if the input has proved to be a transport stream with a clock.
    pub(super) fn is_timed(&self) -> bool {
        self.is_timed
    }

    /// Bytes that belong to no packet.
    pub(super) fn skipped(&self) -> Bytes {
        self.source.skipped()
    }

    /// Bytes of a truncated last packet; returned once.
    pub(super) fn take_truncated(&mut self) -> Option<Bytes> {
        let bytes = self.source.truncated();
        let must_report = bytes > Bytes(0) && !std::mem::replace(&mut self.reported_truncated, bytes > Bytes(0));
        must_report.then_some(bytes)
    }
}
