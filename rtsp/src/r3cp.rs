//! The header `R3CP` of sessions that R3CP+ controls.
//!
//! | message | header |
//! |---|---|
//! | SETUP and its response | `version=1` |
//! | response to PLAY | `version=1;key=0123456789abcdef;first=FRAME;decode=US;display=US;mu=RATE;size=BYTES` |
//!
//! A response without the header is that of a server which does not know it.

use std::fmt;

use thalweg_core::time::Span;

/// The name of the header.
pub const HEADER: &str = "R3CP";
/// The version that is implemented.
pub const VERSION: u32 = 1;
/// The highest rate in packets per second that is accepted, that of 1 Gb/s.
const MAX_RATE: f64 = 1e5;

/// The header of a SETUP and of its response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setup;

/// The header of a response to PLAY.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Play {
    /// The key of the session, anew for each PLAY.
    pub key: u64,
    /// The index of the first frame in decoding order, over all tracks that were set up.
    pub first: u32,
    /// The decode time of that frame.
    pub decode: Span,
    /// The display time of that frame.
    pub display: Span,
    /// mu: the mean rate of the whole video in packets per second. Above 0.
    pub mu: f64,
    /// The mean payload of a packet in bytes. Above 0.
    pub size: u32,
}

/// A header that is malformed or of another version.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unknown;

impl Setup {
    /// Parses the header.
    ///
    /// # Errors
    /// The version is another, or malformed.
    pub fn parse(header: &str) -> Result<Setup, Unknown> {
        if number(header, "version")? == u64::from(VERSION) { Ok(Setup) } else { Err(Unknown) }
    }
}

impl Play {
    /// Parses the header.
    ///
    /// # Errors
    /// The version is another, a parameter is missing, malformed or out of its range.
    pub fn parse(header: &str) -> Result<Play, Unknown> {
        Setup::parse(header)?;
        let key = value(header, "key").filter(|key| key.len() == 16 && !key.starts_with('+'));
        let key = key.and_then(|key| u64::from_str_radix(key, 16).ok()).ok_or(Unknown)?;
        let small = |name| number(header, name)?.try_into().map_err(|_| Unknown);
        let time = |name| Ok(Span::from_micros(number(header, name)?.min(1 << 53)));
        let mu = value(header, "mu").and_then(|mu| mu.parse().ok());
        let mu = mu.filter(|mu| *mu > 0.0 && *mu <= MAX_RATE).ok_or(Unknown)?;
        let (decode, display) = (time("decode")?, time("display")?);
        let size = small("size")?;
        if size == 0 || display < decode {
            return Err(Unknown);
        }
        Ok(Play { key, first: small("first")?, decode, display, mu, size })
    }
}

impl fmt::Display for Setup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "version={VERSION}")
    }
}

impl fmt::Display for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Play { key, first, decode, display, mu, size } = self;
        let (decode, display) = (decode.as_micros(), display.as_micros());
        write!(f, "{Setup};key={key:016x};first={first};decode={decode};display={display};mu={mu:.3};size={size}")
    }
}

/// The value of a parameter.
fn value<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let mut parameters = header.split(';').filter_map(|parameter| parameter.trim().split_once('='));
    parameters.find(|(other, _)| *other == name).map(|(_, value)| value)
}

fn number(header: &str, name: &str) -> Result<u64, Unknown> {
    value(header, name).and_then(|value| value.parse().ok()).ok_or(Unknown)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn headers_have_their_form() {
        let (decode, display) = (Span::from_millis(40), Span::from_millis(80));
        let play = Play { key: 0x0123_4567_89ab_cdef, first: 12, decode, display, mu: 61.25, size: 1180 };
        let text = "version=1;key=0123456789abcdef;first=12;decode=40000;display=80000;mu=61.250;size=1180";
        assert_eq!((play.to_string().as_str(), Play::parse(text)), (text, Ok(play)));
        assert_eq!((Setup.to_string().as_str(), Setup::parse("version=1")), ("version=1", Ok(Setup)));
    }

    #[test]
    fn other_versions_and_malformed_parameters_are_refused() {
        let good = "version=1;key=0123456789abcdef;first=12;decode=4;display=8;mu=61.25;size=1180";
        assert!(Play::parse(good).is_ok());
        for (from, to) in [
            ("version=1", "version=2"),
            ("version=1;", ""),
            ("cdef", ""),
            ("key=0", "key=+"),
            ("first=12", "first=4294967296"),
            ("decode=4", "decode=9"),
            ("mu=61.25", "mu=0"),
            ("mu=61.25", "mu=inf"),
            ("mu=61.25", "mu=NaN"),
            ("size=1180", "size=0"),
        ] {
            assert_eq!(Play::parse(&good.replace(from, to)), Err(Unknown), "{from} {to}");
        }
    }

    proptest! {
        #[test]
        fn arbitrary_text_is_parsed_or_refused(text in "(version=1;)?[a-z0-9=;.+-]{0,60}") {
            let _ = Play::parse(&text);
        }
    }
}
