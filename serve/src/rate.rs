//! Playback rates of videos, as stated by their files, which are read within limits.

pub mod dash;
pub mod hls;
pub mod mp4;
pub mod webm;

use std::{fmt, io};

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

/// Limit in characters on the description of a fault.
const LONGEST: usize = 200;

/// A fault of a video, in one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FormatError {
    why: String,
    /// True if the file was not read to the end.
    is_unreadable: bool,
}

impl FormatError {
    /// A fault; `why` ends a sentence that begins with the video's name, and is cut off, since it may quote long parts
    /// of it.
    pub(crate) fn new(why: impl Into<String>) -> FormatError {
        let mut why = why.into();
        if let Some((end, _)) = why.char_indices().nth(LONGEST) {
            why.replace_range(end.., "...");
        }
        FormatError { why, is_unreadable: false }
    }

    pub(crate) fn unreadable(error: io::Error) -> FormatError {
        FormatError { why: format!("cannot be read: {error}"), is_unreadable: true }
    }

    /// True if the file could not be read, which may change without a change of the file.
    pub(crate) fn is_unreadable(&self) -> bool {
        self.is_unreadable
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for FormatError {}

/// The mean rate: bytes of a video over its length.
fn mean(video: Bytes, length: Span) -> Result<Rate, FormatError> {
    match Rate::of(video, length) {
        rate if length > Span::ZERO && rate.as_bps() > 0 => Ok(rate),
        _ => Err(FormatError::new("its duration is zero or infinite")),
    }
}
