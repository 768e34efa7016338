//! The configuration of a TFRC sender.

use super::{FASTEST, T_MBI};
use crate::law::ParameterError;
use crate::time::Span;
use crate::units::{Bytes, Rate};

/// The parameters of a sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// s: the size of a packet, 1 to 65535 bytes; where sizes differ, their mean (§4.1).
    pub segment: Bytes,
    /// The application's bit rate, which is never exceeded: at least one packet in [`T_MBI`], at most 1 Tb/s.
    pub media_rate: Rate,
    /// t_gran: the largest delay of the caller's timers, at most a second. The sender catches up on missed send times
    /// within it.
    pub granularity: Span,
    /// True if the rate follows each round-trip sample, to damp oscillation where few flows share a queue (§4.5).
    pub damping: bool,
}

impl Config {
    /// Packets of `segment` at up to `media_rate`; timers of 1 ms, no damping.
    pub fn new(segment: Bytes, media_rate: Rate) -> Config {
        // Deviation(RFC 5348 §4.5): damping is optional; the varying round trips of a radio link would make the rate
        // oscillate.
        Config { segment, media_rate, granularity: Span::from_millis(1), damping: false }
    }

    /// Checks the ranges of all values.
    ///
    /// # Errors
    /// The value that is out of its range.
    pub fn check(&self) -> Result<(), ParameterError> {
        let refuse = |why: &str| Err(ParameterError::Refused(why.to_owned()));
        if !(1..=65_535).contains(&self.segment.0) {
            return refuse("a TFRC segment must be 1 to 65535 bytes");
        }
        let media = self.media_rate.as_bps() as f64 / 8.0;
        if !(self.slowest()..=FASTEST / 8.0).contains(&media) {
            return refuse("a TFRC media rate must be at least one segment in 64 s, and at most 1 Tb/s");
        }
        if self.granularity > Span::from_secs(1) {
            return refuse("a TFRC granularity must be at most a second");
        }
        Ok(())
    }

    /// s / t_mbi.
    pub(super) fn slowest(&self) -> f64 {
        self.segment.0 as f64 / T_MBI.0
    }
}
