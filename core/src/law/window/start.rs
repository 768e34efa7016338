//! The initial state of a congestion window.

use super::ParameterError;
use super::parameter::{known, number, within};

/// The initial window of RFC 6928, in segments.
pub(super) const IW: u32 = 10;

/// The state of a law before the first acknowledgement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Start {
    /// IW, the initial window, in segments: 10 by RFC 6928, at most 4 by RFC 5681 §3.1, 2 in many papers. 1 to 65535.
    pub iw: u32,
    /// The slow-start threshold in segments; "arbitrarily high" (RFC 5681 §3.1) is infinite. At least 2.
    pub ssthresh: f64,
}

impl Default for Start {
    fn default() -> Start {
        Start { iw: IW, ssthresh: f64::INFINITY }
    }
}

impl Start {
    /// The names that [`Start::set`] accepts.
    pub const NAMES: &'static [&'static str] = &["iw", "ssthresh"];

    /// Sets `iw` or `ssthresh` from text, the latter also from `inf`.
    ///
    /// # Errors
    /// There is no such parameter, or the value is out of its range.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, Start::NAMES)?;
        if name == "ssthresh" {
            self.ssthresh = if value == "inf" { f64::INFINITY } else { number(name, value)? };
            return within(name, self.ssthresh, 2.0..);
        }
        let iw = number(name, value)?;
        within(name, iw, 1.0..=65535.0)?;
        if iw.fract() != 0.0 {
            return Err(ParameterError::Refused(format!("iw = {iw} is not a whole number of segments")));
        }
        self.iw = iw as u32;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_is_parsed_and_refused_with_a_reason() {
        let mut start = Start::default();
        assert_eq!(start, Start { iw: 10, ssthresh: f64::INFINITY });
        start.set("iw", "2").expect("in range");
        start.set("ssthresh", "64.5").expect("in range");
        assert_eq!(start, Start { iw: 2, ssthresh: 64.5 });
        start.set("ssthresh", "inf").expect("in range");
        assert_eq!(start.ssthresh, f64::INFINITY);
        for (name, value, why) in [
            ("iw", "0", "at least 1"),
            ("iw", "2.5", "whole"),
            ("iw", "ten", "not a number"),
            ("ssthresh", "1", "at least 2"),
            ("ssthresh", "nan", "not a number"),
            ("mss", "1500", "one of iw, ssthresh"),
        ] {
            let error = start.set(name, value).expect_err(value).to_string();
            assert!(error.contains(why), "{name}={value}: {error}");
        }
    }
}
