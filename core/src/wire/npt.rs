//! Normal play time (RFC 2326 §3.6): ranges of a stored video.
//!
//! | form | meaning |
//! |---|---|
//! | `npt=10.5-20` | from 10.5 s to 20 s |
//! | `npt=0:12:30-` | from 12 minutes 30 seconds to the end |
//! | `npt=now-` | from the present position |
//! | `npt=-20` | to 20 s |

use core::fmt;

use super::Error;
use crate::time::Span;

/// The latest time that is parsed, in seconds: 31 years.
const LATEST: f64 = 1e9;

/// A range of normal play time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NptRange {
    /// The start; none for the present position, and where it is left out.
    pub start: Option<Span>,
    /// The end; none for that of the video.
    pub end: Option<Span>,
}

impl NptRange {
    /// Parses a range.
    ///
    /// # Errors
    /// [`Error::Unknown`] if the unit is not `npt`, [`Error::Malformed`] if a time is, or the end is before the start.
    pub fn parse(text: &str) -> Result<NptRange, Error> {
        let range = text.trim().strip_prefix("npt").map(str::trim_start).ok_or(Error::Unknown)?;
        let range = range.strip_prefix('=').ok_or(Error::Malformed)?;
        let (start, end) = range.split_once('-').ok_or(Error::Malformed)?;
        let (start, end) = (start.trim(), end.trim());
        if start.is_empty() && end.is_empty() {
            return Err(Error::Malformed);
        }
        let start = if matches!(start, "" | "now") { None } else { Some(time(start)?) };
        let end = if end.is_empty() { None } else { Some(time(end)?) };
        if let (Some(start), Some(end)) = (start, end)
            && end < start
        {
            return Err(Error::Malformed);
        }
        Ok(NptRange { start, end })
    }
}

impl fmt::Display for NptRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start {
            Some(start) => write!(f, "npt={:.3}-", start.as_secs_f64())?,
            None => f.write_str("npt=now-")?,
        }
        self.end.map_or(Ok(()), |end| write!(f, "{:.3}", end.as_secs_f64()))
    }
}

/// Seconds, or hours, minutes and seconds.
fn time(text: &str) -> Result<Span, Error> {
    let number = |text: &str| {
        let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        text.parse::<f64>().ok().filter(|number| is_decimal && *number <= LATEST).ok_or(Error::Malformed)
    };
    let mut fields = text.split(':');
    let seconds = match (fields.next(), fields.next(), fields.next(), fields.next()) {
        (Some(seconds), None, ..) => number(seconds)?,
        (Some(hours), Some(minutes), Some(seconds), None) => {
            let (minutes, seconds) = (number(minutes)?, number(seconds)?);
            if minutes >= 60.0 || seconds >= 60.0 {
                return Err(Error::Malformed);
            }
            (number(hours)? * 60.0 + minutes) * 60.0 + seconds
        }
        _ => return Err(Error::Malformed),
    };
    Ok(Span::from_secs_f64(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn range(start: Option<u64>, end: Option<u64>) -> Result<NptRange, Error> {
        Ok(NptRange { start: start.map(Span::from_millis), end: end.map(Span::from_millis) })
    }

    #[test]
    fn examples_of_rfc_2326() {
        assert_eq!(NptRange::parse("npt=123.45-125"), range(Some(123_450), Some(125_000)));
        assert_eq!(NptRange::parse("npt=12:05:35.3-"), range(Some(43_535_300), None));
        assert_eq!(NptRange::parse("npt=now-"), range(None, None));
        assert_eq!(NptRange::parse("npt = -20"), range(None, Some(20_000)));
        assert_eq!(NptRange::parse("smpte=10:12:33:20-"), Err(Error::Unknown));
        for malformed in
            ["npt=-", "npt=5-4", "npt=1:2-", "npt=0:60:00-", "npt=1e3-", "npt=inf-", "npt=NaN-", "npt=+1-", "npt"]
        {
            assert_eq!(NptRange::parse(malformed), Err(Error::Malformed), "{malformed}");
        }
    }

    proptest! {
        #[test]
        fn ranges_round_trip(start in 0u64..1_000_000_000, len in proptest::option::of(0u64..1_000_000)) {
            let written = range(Some(start), len.map(|len| start + len)).unwrap();
            prop_assert_eq!(NptRange::parse(&written.to_string()), Ok(written));
        }

        #[test]
        fn arbitrary_text_is_parsed_or_refused(text in "(npt=)?[0-9:.\\-enow ]{0,20}") {
            if let Ok(NptRange { start: Some(start), end: Some(end) }) = NptRange::parse(&text) {
                prop_assert!(start <= end);
            }
        }
    }
}
