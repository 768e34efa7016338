//! The description of a stored video, parsed.

use core::fmt;
use core::net::IpAddr;

use super::Presentation;
use super::attribute::{attribute, keep};
use super::track::Draft;
use crate::time::Span;
use crate::wire::Error;
use crate::wire::npt::NptRange;

/// The longest description that is parsed.
const MAX_LEN: usize = 64 << 10;
/// Limit on tracks.
const MAX_TRACKS: usize = 16;

/// The fault of a description.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Malformed {
    /// The number of the line, from 1; 0 for the description as a whole.
    pub line: usize,
    /// The fault in it.
    pub why: &'static str,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "SDP: {}", self.why),
            line => write!(f, "SDP: line {line}: {}", self.why),
        }
    }
}

impl std::error::Error for Malformed {}

impl Presentation {
    /// Parses a description. Media other than RTP, and lines that are not known, are left out; of several payload types
    /// of a track the first counts.
    ///
    /// # Errors
    /// It is too long, not of version 0, or a line that matters is malformed.
    pub fn parse(text: &str) -> Result<Presentation, Malformed> {
        if text.len() > MAX_LEN {
            return Err(Malformed { line: 0, why: "longer than 64 KiB" });
        }
        let mut lines = (1..).zip(text.lines()).filter(|(_, text)| !text.is_empty());
        if lines.next().is_none_or(|(_, first)| first != "v=0") {
            return Err(Malformed { line: 1, why: "v=0 is missing" });
        }
        let mut presentation = Presentation {
            name: String::new(),
            session: 0,
            origin: IpAddr::from([0; 4]),
            duration: None,
            control: None,
            attributes: Vec::new(),
            tracks: Vec::new(),
        };
        // Each with the line at which it begins.
        let mut draft: Option<(usize, Draft)> = None;
        let mut is_ignored = false;
        for (line, text) in lines {
            let fault = |why| Malformed { line, why };
            let (kind, value) = text.split_once('=').ok_or(fault("not of the form x=..."))?;
            if kind == "m" {
                presentation.finish(draft.take())?;
                if presentation.tracks.len() == MAX_TRACKS {
                    return Err(fault("more than 16 tracks"));
                }
                let new = Draft::of(value).map_err(fault)?;
                is_ignored = new.is_none();
                draft = new.map(|draft| (line, draft));
            } else if let Some((_, draft)) = &mut draft {
                draft.line(kind, value).map_err(fault)?;
            } else if !is_ignored {
                presentation.line(kind, value).map_err(fault)?;
            }
        }
        presentation.finish(draft)?;
        Ok(presentation)
    }

    fn finish(&mut self, draft: Option<(usize, Draft)>) -> Result<(), Malformed> {
        if let Some((line, draft)) = draft {
            self.tracks.push(draft.finish().map_err(|why| Malformed { line, why })?);
        }
        Ok(())
    }

    fn line(&mut self, kind: &str, value: &str) -> Result<(), &'static str> {
        match kind {
            "s" => self.name = if value == "-" { String::new() } else { value.to_owned() },
            "o" => {
                let mut fields = value.split_whitespace().skip(1);
                // Some servers write a number of more than 64 bits, which no player needs.
                self.session = fields.next().ok_or("o= has no session number")?.parse().unwrap_or(0);
                self.origin = fields.last().and_then(|ip| ip.parse().ok()).unwrap_or(self.origin);
            }
            "a" => match attribute(value) {
                ("control", Some(value)) => self.control = Some(value.to_owned()),
                ("range", Some(value)) => self.duration = duration(value)?,
                (name, value) => keep(&mut self.attributes, name, value)?,
            },
            _ => {}
        }
        Ok(())
    }
}

/// The duration of a range; none without an end, as of live media, and for other units of time.
fn duration(range: &str) -> Result<Option<Span>, &'static str> {
    match NptRange::parse(range) {
        Ok(NptRange { start, end }) => Ok(end.map(|end| end.saturating_sub(start.unwrap_or(Span::ZERO)))),
        Err(Error::Unknown) => Ok(None),
        Err(_) => Err("a=range is malformed"),
    }
}
