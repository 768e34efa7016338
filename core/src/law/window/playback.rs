//! The window that video playback needs: the segments of one round trip at the playback rate.

use super::ParameterError;
use super::parameter::{known, number, within};
use crate::units::{Bytes, Rate, Seconds};

/// The rounding error tolerated above a whole number of segments: 3.6 Mb/s, 0.1 s and 1500 bytes are 30, not 31.
const ROUNDING: f64 = 1e-9;

/// The parameters of a video on which a window depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Playback {
    /// Rate: the playback rate. Payload, not headers, if `mss` is payload.
    pub rate: Rate,
    /// MSS: the bytes of the video in one segment.
    pub mss: Bytes,
}

impl Default for Playback {
    /// 3.6 Mb/s, as for 1080p, in packets of 1500 bytes (TCP Stream §5.1).
    fn default() -> Playback {
        Playback { rate: Rate::from_bps(3_600_000), mss: Bytes(1500) }
    }
}

impl Playback {
    /// The names that [`Playback::set`] accepts.
    pub const NAMES: &'static [&'static str] = &["rate", "mss"];

    /// Sets `rate`, with its unit (`8mbit`) or in bits per second, rounded to a whole number, or `mss`, in bytes, from
    /// text.
    ///
    /// # Errors
    /// There is no such parameter, or the value is out of its range: 1 bit/s to 1 Tb/s, 1 to 65535 bytes.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), ParameterError> {
        let name = known(name, Playback::NAMES)?;
        if name == "rate" {
            let rate = value.parse::<Rate>().map(|rate| rate.as_bps() as f64);
            let expected = "a rate such as 3.6mbit, or a number of bits a second";
            let wrong = |_| ParameterError::Value { name, value: value.to_owned(), expected };
            let found = rate.or_else(|_| number(name, value).map_err(wrong))?;
            within(name, found, 1.0..=1e12)?;
            self.rate = Rate::from_bps(libm::round(found) as u64);
            return Ok(());
        }
        let found = number(name, value)?;
        within(name, found, 1.0..=65535.0)?;
        if found.fract() != 0.0 {
            return Err(ParameterError::Refused(format!("mss = {found} is not a whole number of bytes")));
        }
        self.mss = Bytes(found as u64);
        Ok(())
    }

    /// Segments that one round trip of `rtt` needs at the playback rate: ceil(Rate RTT / MSS), at least one.
    ///
    /// In integers, with the round trip in ns, it is (Rate RTT + 8e9 MSS - 1) / (8e9 MSS).
    pub fn cap(self, rtt: Seconds) -> u32 {
        let segments = self.rate.as_bps() as f64 * rtt.0 / (8.0 * self.mss.0 as f64);
        // `as` saturates.
        (libm::ceil(segments - ROUNDING) as u32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_video_needs_30_packets_at_100_ms_and_36_at_120() {
        let playback = Playback::default();
        // 3.6 Mb/s are 300 packets of 1500 bytes per second.
        for (ms, packets) in [(100, 30), (120, 36), (101, 31), (30, 9), (1, 1), (0, 1), (1000, 300)] {
            assert_eq!(playback.cap(Seconds(f64::from(ms) / 1e3)), packets, "{ms} ms");
        }
    }

    #[test]
    fn window_cap_equals_the_integer_computation() {
        for mss in [536_u64, 1460, 1500, 9000] {
            for bps in [64_000_u64, 3_600_000, 25_000_000] {
                for us in (1_000_u64..500_000).step_by(331) {
                    let (bits, whole) = (u128::from(bps) * u128::from(us) * 1_000, 8_000_000_000 * u128::from(mss));
                    let playback = Playback { rate: Rate::from_bps(bps), mss: Bytes(mss) };
                    assert_eq!(
                        u128::from(playback.cap(Seconds(us as f64 / 1e6))),
                        bits.div_ceil(whole).max(1),
                        "{us} us"
                    );
                }
            }
        }
    }

    #[test]
    fn playback_is_parsed_and_refused_with_a_reason() {
        let mut playback = Playback::default();
        playback.set("rate", "2.5e6").expect("in range");
        playback.set("mss", "1460").expect("in range");
        assert_eq!(playback, Playback { rate: Rate::from_bps(2_500_000), mss: Bytes(1460) });
        playback.set("rate", "8mbit").expect("in range");
        assert_eq!(playback.rate, Rate::from_mbps(8));
        for (name, value, why) in [
            ("rate", "0", "at least 1"),
            ("rate", "0bit", "at least 1"),
            ("rate", "2000gbit", "at most"),
            ("rate", "fast", "not a rate such as 3.6mbit"),
            ("mss", "0", "at least 1"),
            ("mss", "1.5", "whole"),
            ("fps", "25", "one of rate, mss"),
        ] {
            let error = playback.set(name, value).expect_err(value).to_string();
            assert!(error.contains(why), "{name}={value}: {error}");
        }
    }
}
