//! A play of a range of a video: its position, and the frames that were read ahead.

use std::collections::VecDeque;
use std::sync::Arc;

use thalweg_core::time::{Span, Time};
use thalweg_core::wire::payload::Payload;

use super::cursor::{Cursor, Due};
use crate::rtsp::stored::Stored;

/// Bytes of frames that are read at a time, unless one frame is longer.
const BATCH: usize = 16 << 10;
/// The longest time over which the packets of a frame are spread, and the part of the time to the next frame.
const SPREAD: Span = Span::from_millis(40);

/// Frames to be read, in the order in which they are due.
#[derive(Debug)]
pub(crate) struct Wanted {
    stored: Arc<Stored>,
    pub(super) play: u64,
    frames: Vec<Due>,
}

/// Frames that were read.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(super) play: u64,
    pub(super) frames: Vec<(Due, Vec<u8>)>,
}

/// A play of a range of a video.
#[derive(Debug)]
pub(super) struct Play {
    pub(super) cursor: Cursor,
    /// The end of the range.
    pub(super) until: Span,
    pub(super) since: Time,
    pub(super) loaded: VecDeque<(Due, Vec<u8>)>,
    pub(super) is_reading: bool,
    pub(super) is_read: bool,
    /// The packets of the first loaded frame, and the number of those that were sent.
    pub(super) payloads: Vec<Payload>,
    pub(super) sent: usize,
    pub(super) frame: u64,
    /// Time from the start at which all that was sent has been displayed.
    pub(super) end: Span,
    /// Streams that have said goodbye.
    pub(super) goodbyes: usize,
}

impl Play {
    pub(super) fn new(now: Time, cursor: Cursor, until: Span) -> Play {
        Play {
            cursor,
            until,
            since: now,
            loaded: VecDeque::new(),
            is_reading: false,
            is_read: false,
            payloads: Vec::new(),
            sent: 0,
            frame: 0,
            end: Span::ZERO,
            goodbyes: 0,
        }
    }

    /// The frames to be read next for the play of this number.
    pub(super) fn wanted(&mut self, stored: &Arc<Stored>, number: u64) -> Option<Wanted> {
        let waiting: usize = self.loaded.iter().map(|(_, bytes)| bytes.len()).sum();
        if self.is_reading || self.is_read || waiting >= BATCH {
            return None;
        }
        let (mut frames, mut bytes) = (Vec::new(), 0);
        while bytes < BATCH {
            let Some(due) = self.cursor.next(stored) else {
                self.is_read = true;
                break;
            };
            bytes += stored.track(due.track).map_or(0, |track| track.frames[due.place].size as usize);
            frames.push(due);
        }
        self.is_reading = !frames.is_empty();
        self.is_reading.then(|| Wanted { stored: stored.clone(), play: number, frames })
    }

    /// The time at which the next packet of the first loaded frame is due.
    pub(super) fn next_packet(&self) -> Time {
        let Some((due, _)) = self.loaded.front() else { return self.since };
        let packets = self.payloads.len().max(1) as u64;
        self.since + due.after + SPREAD * self.sent as u64 / packets
    }
}

impl Wanted {
    /// Reads the frames; none of them if the file cannot be read, or is not what it was. May block on a disk.
    pub(crate) fn read(self) -> Option<Batch> {
        let read = |due: Due| Some((due, self.stored.read(due.track, due.place).ok()?));
        let frames = self.frames.iter().copied().map(read).collect::<Option<_>>()?;
        Some(Batch { play: self.play, frames })
    }
}
