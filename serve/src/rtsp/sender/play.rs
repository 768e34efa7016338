//! A play of a range of a video: its position, and the frames that were read ahead.

use std::sync::Arc;

use thalweg_core::time::{Span, Time};

use super::cursor::{Cursor, Due};
use super::queue::Queue;
use crate::rtsp::reading::Wanted;
use crate::rtsp::stored::Stored;

/// Time from the end of the video to the goodbye, which must not overtake the last frames: they come from another port.
const REST: Span = Span::from_millis(200);
/// Bytes of frames from which on no more are read. With fewer waiting, a batch is read whose last frame passes this limit, so
/// that at most twice as much and one frame wait.
const BATCH: usize = 16 << 10;

/// A play of a range of a video.
#[derive(Debug)]
pub(super) struct Play {
    pub(super) cursor: Cursor,
    /// The end of the range.
    pub(super) until: Span,
    pub(super) since: Time,
    /// The frames of each track that were read.
    queues: Vec<Queue>,
    /// The frames that are being read, in the order in which they are due.
    reading: Vec<Due>,
    pub(super) is_read: bool,
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
            queues: Vec::new(),
            reading: Vec::new(),
            is_read: false,
            end: Span::ZERO,
            goodbyes: 0,
        }
    }

    /// The frames to be read next for the play of this number.
    pub(super) fn wanted(&mut self, stored: &Arc<Stored>, number: u64) -> Option<Wanted> {
        let waiting: usize = self.queues.iter().map(Queue::waiting).sum();
        if !self.reading.is_empty() || self.is_read || waiting >= BATCH {
            return None;
        }
        let mut bytes = 0;
        while bytes < BATCH {
            let Some(due) = self.cursor.next(stored) else {
                self.is_read = true;
                break;
            };
            bytes += stored.track(due.track).map_or(0, |track| track.frames[due.place].size as usize);
            self.reading.push(due);
        }
        let frames: Vec<_> = self.reading.iter().map(|due| (due.track, due.place)).collect();
        (!frames.is_empty()).then(|| Wanted::new(stored, number, frames))
    }

    /// Takes the frames that were read.
    pub(super) fn supply(&mut self, frames: Vec<Vec<u8>>) {
        for (due, bytes) in self.reading.drain(..).zip(frames) {
            let nth = self.queues.iter().position(|queue| queue.track == due.track).unwrap_or_else(|| {
                self.queues.push(Queue::new(due.track));
                self.queues.len() - 1
            });
            self.queues[nth].push(due, bytes);
        }
    }

    /// The time of the next packet of any track, which may pass the rest of another track's frame; none without a frame.
    pub(super) fn next_packet(&self) -> Option<Time> {
        let after = self.queues.iter().filter_map(Queue::next_packet).min()?;
        Some(self.since + after)
    }

    /// The queue of the packet that is due next, if it is due at `now`.
    pub(super) fn due(&mut self, now: Time) -> Option<&mut Queue> {
        let of = |queue: &Queue| queue.next_packet().map(|after| self.since + after);
        let (at, nth) = self.queues.iter().enumerate().filter_map(|(nth, queue)| Some((of(queue)?, nth))).min()?;
        (at <= now).then(|| &mut self.queues[nth])
    }

    /// The time of the goodbyes; none before the last packet.
    pub(super) fn goodbye(&self) -> Option<Time> {
        let is_over = self.is_read && self.reading.is_empty() && self.next_packet().is_none();
        is_over.then(|| self.since + self.end + REST)
    }
}
