//! Sending faster than playback, and pacing in the application where the kernel has no law for it: a token bucket for
//! each connection.
//!
//! A paced video starts with the data of its first [`AHEAD`], as fast as the path permits, so that the picture appears
//! at once and a short stall of the path does not stop it; from then on it gets [`FASTER`] times its rate.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

/// The capacity of a bucket, as playback time of the video.
pub const AHEAD: Span = Span::from_secs(10);
// Deviation(TCP Stream Eq. (1)): there the ceiling is that of the playback rate itself.
/// The factor by which sending is faster than playback, as a fraction: it makes up for stalls. For TCP Stream it is the
/// ceiling, below which losses hold it for a while after each; with a quarter to spare, the video still has its rate.
pub const FASTER: (u64, u64) = (5, 4);
/// The smallest amount in bytes that is given at a time, except at the end of a video: each piece costs a turn of the
/// loop.
const MIN_PIECE: u64 = 64 << 10;

/// A token bucket, full at first; its tokens are bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bucket {
    rate: Rate,
    tokens: u64,
    filled: Time,
}

impl Bucket {
    /// A bucket for a video of `rate`, which must not be zero.
    pub fn new(rate: Rate, now: Time) -> Bucket {
        Bucket { rate, tokens: holds(rate), filled: now }
    }

    /// Changes the playback rate from now on.
    pub fn play(&mut self, rate: Rate, now: Time) {
        self.fill(now);
        self.rate = rate;
        self.tokens = self.tokens.min(holds(rate));
    }

    /// Takes up to `wanted` bytes, or fails if there are too few yet.
    ///
    /// # Errors
    /// The time at which there are enough.
    pub fn take(&mut self, wanted: u64, now: Time) -> Result<u64, Time> {
        self.fill(now);
        let minimum = wanted.min(MIN_PIECE);
        if self.tokens < minimum {
            return Err(self.filled + faster(self.rate).time_for(Bytes(minimum - self.tokens)));
        }
        let taken = self.tokens.min(wanted);
        self.tokens -= taken;
        Ok(taken)
    }

    /// Gives back bytes that were taken and not used.
    pub fn give_back(&mut self, bytes: u64) {
        self.tokens = (self.tokens + bytes).min(holds(self.rate));
    }

    fn fill(&mut self, now: Time) {
        let more = faster(self.rate).bytes_in(now.since(self.filled));
        let full = holds(self.rate);
        if self.tokens + more.0 >= full {
            (self.tokens, self.filled) = (full, now);
        } else {
            // Counts only the time of whole bytes: the remainder counts the next time.
            self.tokens += more.0;
            self.filled = (self.filled + faster(self.rate).time_for(more)).min(now);
        }
    }
}

/// [`FASTER`] times this rate.
pub(crate) fn faster(rate: Rate) -> Rate {
    let (more, than) = FASTER;
    Rate::from_bps((u128::from(rate.as_bps()) * u128::from(more) / u128::from(than)) as u64)
}

fn holds(rate: Rate) -> u64 {
    rate.bytes_in(AHEAD).0.clamp(MIN_PIECE, u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const VIDEO: Rate = Rate::from_mbps(8);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn bucket_gives_ten_seconds_at_once_then_five_quarters_of_the_rate() {
        let mut bucket = Bucket::new(VIDEO, at(0));
        assert_eq!(bucket.take(u64::MAX, at(0)), Ok(10_000_000));
        // 10 Mb/s are 1.25 bytes a microsecond: 65536 bytes after 52.4288 ms.
        let next = bucket.take(1 << 20, at(0)).expect_err("it is empty");
        assert_eq!(next, Time::ZERO + Span::from_nanos(52_428_800));
        assert_eq!(bucket.take(1 << 20, next), Ok(65_536));
        assert_eq!(bucket.take(1000, next), Err(next + Span::from_micros(800)));
        // After a long idle time it is full again, and no more than full.
        assert_eq!(bucket.take(u64::MAX, at(3_600_000)), Ok(10_000_000));
    }

    #[test]
    fn lower_rate_caps_tokens_and_higher_rate_applies_at_once() {
        let mut bucket = Bucket::new(VIDEO, at(0));
        bucket.play(Rate::from_mbps(4), at(0));
        assert_eq!(bucket.take(u64::MAX, at(0)), Ok(5_000_000));
        bucket.play(VIDEO, at(0));
        assert_eq!(bucket.take(u64::MAX, at(1000)), Ok(1_250_000));
    }

    proptest! {
        /// Never more than its capacity and 5/4 of the rate, and no piece less if all is taken at its time.
        #[test]
        fn bucket_never_exceeds_its_capacity_and_rate(
            mbps in 1_u64..100, wanted in prop::collection::vec((1_u64..1 << 20, 0_u64..2000), 1..50)
        ) {
            let rate = Rate::from_mbps(mbps);
            let (mut bucket, mut now, mut sent) = (Bucket::new(rate, at(0)), at(0), 0);
            for (wanted, idle) in wanted {
                now += Span::from_millis(idle);
                match bucket.take(wanted, now) {
                    Ok(taken) => sent += taken,
                    Err(later) => {
                        prop_assert!(later > now);
                        now = later;
                        let taken = bucket.take(wanted, now);
                        prop_assert!(taken.is_ok(), "{:?}", taken);
                        sent += taken.unwrap_or(0);
                    }
                }
                let most = rate.bytes_in(AHEAD).0 + Rate::from_bps(rate.as_bps() / 4 * 5).bytes_in(now.since(Time::ZERO)).0;
                prop_assert!(sent <= most + 1, "{sent} of {most}");
            }
        }
    }
}
