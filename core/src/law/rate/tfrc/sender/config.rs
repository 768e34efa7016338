//! What a TFRC sender is told before it starts.

use super::{FASTEST, T_MBI};
use crate::law::ParameterError;
use crate::time::Span;
use crate::units::{Bytes, Rate};

/// What a sender is told before it starts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Config {
    /// s: the size of a packet, 1 to 65535 bytes; where sizes differ, their mean (§4.1).
    pub segment: Bytes,
    /// The application's bit rate, which is never exceeded: at least one packet in [`T_MBI`], at most 1 Tb/s.
    pub media_rate: Rate,
    /// t_gran: how late the caller's timers may be, at most a second. Send times that were missed are made up for within it.
    pub granularity: Span,
    /// Whether the rate follows each round-trip sample, to damp oscillation where few flows share a queue (§4.5).
    pub damping: bool,
}

impl Config {
    /// Packets of `segment` at `media_rate` at most; timers of 1 ms, no damping.
    pub fn new(segment: Bytes, media_rate: Rate) -> Config {
        // Deviation(RFC 5348 §4.5): damping is an option; round trips that change with a radio link would shake the rate.
        Config { segment, media_rate, granularity: Span::from_millis(1), damping: false }
    }

    /// Whether a sender can follow it.
    ///
    /// # Errors
    /// Says which value is out of its range.
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
