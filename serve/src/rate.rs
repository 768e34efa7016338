//! How fast a film is played, by what its files say of themselves. All of it is read within bounds.

pub mod dash;
pub mod hls;
pub mod mp4;
pub mod webm;

use std::{fmt, io};

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

/// Characters of a line that says what is wrong with a film.
const LONGEST: usize = 200;

/// What is wrong with a film, in a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wrong(String);

impl Wrong {
    /// `why` ends a sentence that begins with the film's name; what it quotes of the film may be long, and is cut off.
    pub(crate) fn new(why: impl Into<String>) -> Wrong {
        let mut why = why.into();
        if let Some((end, _)) = why.char_indices().nth(LONGEST) {
            why.replace_range(end.., "...");
        }
        Wrong(why)
    }

    pub(crate) fn unreadable(error: io::Error) -> Wrong {
        Wrong(format!("it cannot be read: {error}"))
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Wrong {}

/// The bytes of a film over its time.
fn mean(film: Bytes, length: Span) -> Result<Rate, Wrong> {
    match Rate::of(film, length) {
        rate if length > Span::ZERO && rate.as_bps() > 0 => Ok(rate),
        _ => Err(Wrong::new("its length is zero or without end")),
    }
}
