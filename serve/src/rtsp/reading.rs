//! Frames that are read for a play: at once those that are in memory, and others apart from the task that plays.

use std::io::ErrorKind;
use std::sync::Arc;

use super::stored::Stored;

/// Frames to be read.
#[derive(Debug)]
pub(crate) struct Wanted {
    stored: Arc<Stored>,
    play: u64,
    /// The track and the place of each.
    frames: Vec<(usize, usize)>,
}

/// Frames that were read, in the order in which they were wanted.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The play for which they were read.
    pub(crate) play: u64,
    pub(crate) frames: Vec<Vec<u8>>,
}

impl Wanted {
    pub(crate) fn new(stored: &Arc<Stored>, play: u64, frames: Vec<(usize, usize)>) -> Wanted {
        Wanted { stored: stored.clone(), play, frames }
    }

    /// Reads the frames if all of them are in memory; none of them if the file is not what it was.
    ///
    /// # Errors
    /// The disk has to be waited for: [`Wanted::read`] does so.
    pub(crate) fn read_resident(self) -> Result<Option<Batch>, Wanted> {
        match self.stored.read_resident(&self.frames) {
            Ok(frames) => Ok(Some(Batch { play: self.play, frames })),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err(self),
            Err(_) => Ok(None),
        }
    }

    /// Reads the frames; none of them if the file cannot be read, or is not what it was. May block on a disk.
    pub(crate) fn read(self) -> Option<Batch> {
        let frames = self.stored.read(&self.frames).ok()?;
        Some(Batch { play: self.play, frames })
    }
}
