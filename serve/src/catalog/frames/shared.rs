//! The indexes of a folder's videos, shared by all viewers.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::{fmt, io};

use super::coding::{Unusable, decode, encode};
use super::keep::Keep;
use super::refused::Refused;
use super::resident::{ReadAt, Resident};
use super::{Frame, Index, Order, Track};
use crate::catalog::walk::Stamp;
use crate::error::plain;
use crate::rate::FormatError;
use crate::root::Root;

/// The indexes of the videos in a folder. Each is read at its first use, kept in a file, and in memory as long as a
/// viewer has it.
#[derive(Debug)]
pub struct Indexes {
    root: Arc<Root>,
    keep: Option<Keep>,
    videos: Mutex<HashMap<String, Arc<Slot>>>,
    /// Set once a file could not be written: the message for one suffices.
    is_read_only: Mutex<bool>,
    refused: Mutex<Refused>,
}

/// A video's place, locked while its index is read.
type Slot = Mutex<Weak<StoredVideo>>;

/// A video whose frames are known.
#[derive(Debug)]
pub struct StoredVideo {
    /// The frames.
    pub index: Index,
    file: File,
    stamp: Stamp,
    order: OnceLock<Order>,
}

/// A video, and a note about its kept index: one line for the log.
#[derive(Clone, Debug)]
pub struct Found {
    /// The video.
    pub video: Arc<StoredVideo>,
    /// The reason for which a kept index was ignored, or the new one is not kept.
    pub note: Option<String>,
}

/// The reason for which a video has no index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The fault of the video.
    pub why: FormatError,
    /// True if the file, as it is, was read for the first time.
    pub is_new: bool,
}

impl Indexes {
    /// The indexes of the videos in a folder, kept in files if there is a place for them.
    pub fn new(root: Arc<Root>, keep: Option<Keep>) -> Indexes {
        let (videos, is_read_only, refused) = Default::default();
        Indexes { root, keep, videos, is_read_only, refused }
    }

    /// The video of a name, with the index that another viewer has, the kept one, or a new one. Waits for the disk, and
    /// for another viewer who wants the same.
    ///
    /// # Errors
    /// The video cannot be read, or is not supported. One that is not is read again only once it has changed.
    pub fn video(&self, name: &str) -> Result<Found, Refusal> {
        let file = self.root.file(Path::new(name)).map_err(FormatError::unreadable)?;
        let stamp = stamp(&file).map_err(FormatError::unreadable)?;
        let slot = self.slot(name);
        let mut shared = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(video) = shared.upgrade().filter(|video| video.stamp == stamp) {
            return Ok(Found { video, note: None });
        }
        if let Some(why) = self.refused().reason(name, &stamp) {
            return Err(Refusal { why, is_new: false });
        }
        let (kept, ignored) = self.kept(name, &stamp);
        let (index, note) = match kept {
            Some(index) => (index, None),
            None => {
                let read = Index::read(&mut &file);
                if self::stamp(&file).map_err(FormatError::unreadable)? != stamp {
                    return Err(FormatError::new("it changed while it was read").into());
                }
                let index = read.inspect_err(|why| self.refuse(name, stamp, why))?;
                let failed = self.write(name, &index, &stamp);
                (index, ignored.or(failed))
            }
        };
        let video = Arc::new(StoredVideo { index, file, stamp, order: OnceLock::new() });
        *shared = Arc::downgrade(&video);
        self.refused().remove(name);
        Ok(Found { video, note })
    }

    /// The reasons for which videos were refused when they were last asked for, by name.
    pub fn refusals(&self) -> HashMap<String, String> {
        self.refused().reasons()
    }

    fn refuse(&self, name: &str, stamp: Stamp, why: &FormatError) {
        if !why.is_unreadable() {
            self.refused().insert(name, stamp, why.clone());
        }
    }

    fn refused(&self) -> MutexGuard<'_, Refused> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The place of a name; places without a viewer are given up when there are twice as many as with one.
    fn slot(&self, name: &str) -> Arc<Slot> {
        let mut videos = self.videos.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = videos.get(name) {
            return slot.clone();
        }
        if videos.len() == videos.capacity() {
            // A place that is in use has another owner than this table.
            videos.retain(|_, slot| {
                Arc::strong_count(slot) > 1 || slot.try_lock().is_ok_and(|one| one.strong_count() > 0)
            });
        }
        videos.entry(name.to_owned()).or_default().clone()
    }

    /// The kept index of a video, or the reason for which it is ignored.
    fn kept(&self, name: &str, stamp: &Stamp) -> (Option<Index>, Option<String>) {
        let Some(keep) = &self.keep else { return (None, None) };
        let why = match keep.read(&self.root, name) {
            Ok(None) => return (None, None),
            Ok(Some(bytes)) => match decode(&bytes, stamp) {
                Ok(index) => return (Some(index), None),
                Err(Unusable::Outdated) => return (None, None),
                Err(Unusable::Version) => "it is of another version".to_owned(),
                Err(Unusable::Damaged) => "it is damaged".to_owned(),
            },
            Err(error) => plain(&error),
        };
        (None, Some(format!("{name}: the kept index is not used: {why}; a new one was made")))
    }

    /// Keeps an index; the reason for which it could not be kept, if that is the first time.
    fn write(&self, name: &str, index: &Index, stamp: &Stamp) -> Option<String> {
        let error = self.keep.as_ref()?.write(&self.root, name, &encode(index, stamp)).err()?;
        let mut is_read_only = self.is_read_only.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = !std::mem::replace(&mut *is_read_only, true);
        is_first.then(|| {
            format!("{name}: its index is not kept: {}; name a folder for indexes with --cache", plain(&error))
        })
    }
}

impl StoredVideo {
    /// Reads frames of its tracks, each as [`Track::fetch`] does.
    ///
    /// # Errors
    /// The file cannot be read, or has changed.
    pub fn fetch(&self, frames: &[(&Track, &Frame)]) -> io::Result<Vec<Vec<u8>>> {
        self.fetch_from(&self.file, frames)
    }

    /// Reads frames that are in memory, without waiting for a disk.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if one is not in memory, and those of [`StoredVideo::fetch`].
    pub(crate) fn fetch_resident(&self, frames: &[(&Track, &Frame)]) -> io::Result<Vec<Vec<u8>>> {
        self.fetch_from(&Resident(&self.file), frames)
    }

    fn fetch_from(&self, file: &impl ReadAt, frames: &[(&Track, &Frame)]) -> io::Result<Vec<Vec<u8>>> {
        let fetch = |&(track, frame): &(&Track, &Frame)| {
            let mut bytes = Vec::new();
            track.fetch_from(file, frame, &mut bytes).map(|()| bytes)
        };
        let fetched = frames.iter().map(fetch).collect();
        // Checked after the reads, so that no byte of other content is sent.
        if self.has_changed()? {
            return Err(io::Error::other("the video changed while it was sent"));
        }
        fetched
    }

    /// The order over both tracks, made at its first use and shared by all viewers; none if there is one track.
    pub(crate) fn order(&self) -> Option<&Order> {
        let audio = self.index.audio.as_ref()?;
        Some(self.order.get_or_init(|| Order::of(&self.index.video, audio)))
    }

    /// True if the file was written to, truncated, or removed since.
    fn has_changed(&self) -> io::Result<bool> {
        Ok(stamp(&self.file)? != self.stamp)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.why.fmt(f)
    }
}

impl From<FormatError> for Refusal {
    fn from(why: FormatError) -> Refusal {
        Refusal { is_new: !why.is_unreadable(), why }
    }
}

fn stamp(file: &File) -> io::Result<Stamp> {
    Ok(Stamp::of(&file.metadata()?))
}

#[cfg(test)]
mod tests;
