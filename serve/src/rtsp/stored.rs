//! A video that is open, with the index of its frames.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use thalweg_core::time::Span;
use thalweg_core::wire::payload::Payload;
use thalweg_rtsp::message::Response;

use crate::catalog::frames::{Frame, Indexes, Order, Refusal, StoredVideo, Track};
use crate::site::{Site, is_absent};

/// The longest payload of a packet: within 1500 bytes with the headers of RTP, UDP and IPv6.
const PAYLOAD: usize = 1400;

/// A video that is open, for one of its viewers.
#[derive(Clone, Debug)]
pub(crate) struct Stored {
    pub(crate) name: String,
    video: Arc<StoredVideo>,
    /// The end of the longer track.
    pub(crate) length: Span,
}

/// A video, or the refusal to open it, and a note about its index for the operator.
pub(crate) type Found = (Result<Stored, Response>, Option<String>);

impl Stored {
    /// Opens a video of a site. May block on a disk.
    pub(crate) fn open(site: &Site, indexes: &Indexes, name: &str) -> Found {
        // The index has one error for a file that is absent, forbidden or malformed; the three have their own statuses.
        if let Err(error) = site.file(name) {
            return (Err(refusal(&error)), None);
        }
        let found = match indexes.video(name) {
            Ok(found) => found,
            Err(Refusal { why, is_new }) => {
                let note = is_new.then(|| format!("{name}: not served over RTSP: {why}"));
                return (Err(Response::refusal(415, why)), note);
            }
        };
        (Ok(Stored::of(name, found.video)), found.note)
    }

    /// A video whose index is read.
    pub(crate) fn of(name: &str, video: Arc<StoredVideo>) -> Stored {
        let length = video.index.audio.iter().map(Track::length).fold(video.index.video.length(), Span::max);
        Stored { name: name.to_owned(), video, length }
    }

    /// The name for humans.
    pub(crate) fn title(&self) -> &str {
        Path::new(&self.name).file_name().and_then(|name| name.to_str()).unwrap_or(&self.name)
    }

    /// The tracks: pictures first.
    pub(crate) fn tracks(&self) -> impl Iterator<Item = &Track> {
        [&self.video.index.video].into_iter().chain(&self.video.index.audio)
    }

    /// A track by its number.
    pub(crate) fn track(&self, number: usize) -> Option<&Track> {
        self.tracks().nth(number)
    }

    /// The decoding order over both tracks; none if there is one track.
    pub(crate) fn order(&self) -> Option<&Order> {
        self.video.order()
    }

    /// The packets of a frame of a track; none if its bytes are not what the index says.
    pub(crate) fn packetize(&self, track: usize, frame: &[u8]) -> Option<Vec<Payload>> {
        Some(self.track(track)?.stored(frame).packetize(PAYLOAD).ok()?.collect())
    }

    /// Reads frames, each given by its track and its place.
    ///
    /// # Errors
    /// The file cannot be read, or has changed: what the index says of it is no longer true.
    pub(crate) fn read(&self, frames: &[(usize, usize)]) -> io::Result<Vec<Vec<u8>>> {
        self.video.fetch(&self.entries(frames)?)
    }

    /// Reads frames that are in memory.
    ///
    /// # Errors
    /// [`ErrorKind::WouldBlock`] if one is not, and those of [`Stored::read`].
    pub(crate) fn read_resident(&self, frames: &[(usize, usize)]) -> io::Result<Vec<Vec<u8>>> {
        self.video.fetch_resident(&self.entries(frames)?)
    }

    fn entries(&self, frames: &[(usize, usize)]) -> io::Result<Vec<(&Track, &Frame)>> {
        let entry = |&(track, place): &(usize, usize)| {
            let track = self.track(track)?;
            Some((track, track.frames.get(place)?))
        };
        frames.iter().map(entry).collect::<Option<_>>().ok_or(ErrorKind::NotFound.into())
    }
}

fn refusal(error: &io::Error) -> Response {
    match error.kind() {
        ErrorKind::PermissionDenied => Response::refusal(403, "permission denied"),
        _ if is_absent(error) => Response::refusal(404, "no such file"),
        _ => Response::refusal(500, "the file cannot be read"),
    }
}
