//! How much faster than it is played a film may come; and pacing in the application, where the kernel has no law for it: a
//! bucket of bytes for each connection.
//!
//! A paced film starts with what it plays in [`AHEAD`], as fast as the path takes it, so that the picture comes at once and a
//! short stall of the path does not stop it; from then on it gets [`FASTER`] times its rate.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

/// What a bucket holds: so much of the film.
pub const AHEAD: Span = Span::from_secs(10);
// Deviation(TCP Stream Eq. (1)): there the ceiling is of the playback rate itself.
/// How much faster than it is played a film comes, as a fraction: what was lost to a stall is made good. To TCP Stream it is the
/// ceiling, under which losses hold it for a while after each; with a quarter to spare it has its rate all the same.
pub const FASTER: (u64, u64) = (5, 4);
/// Less is not handed out at a time, but for the end of a film: each piece costs a turn of the loop.
const LEAST: u64 = 64 << 10;

/// A token bucket. Full at first; its tokens are bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bucket {
    rate: Rate,
    tokens: u64,
    filled: Time,
}

impl Bucket {
    /// The bucket of a film of `rate`, which must not be zero.
    pub fn new(rate: Rate, now: Time) -> Bucket {
        Bucket { rate, tokens: holds(rate), filled: now }
    }

    /// From now on this is the rate of what is played.
    pub fn play(&mut self, rate: Rate, now: Time) {
        self.fill(now);
        self.rate = rate;
        self.tokens = self.tokens.min(holds(rate));
    }

    /// Takes up to `wanted` bytes; if there are too few yet, when to ask again.
    ///
    /// # Errors
    /// The time at which there are enough.
    pub fn take(&mut self, wanted: u64, now: Time) -> Result<u64, Time> {
        self.fill(now);
        let least = wanted.min(LEAST);
        if self.tokens < least {
            return Err(self.filled + faster(self.rate).time_for(Bytes(least - self.tokens)));
        }
        let taken = self.tokens.min(wanted);
        self.tokens -= taken;
        Ok(taken)
    }

    /// Gives back what was taken and could not be used.
    pub fn give_back(&mut self, bytes: u64) {
        self.tokens = (self.tokens + bytes).min(holds(self.rate));
    }

    fn fill(&mut self, now: Time) {
        let more = faster(self.rate).bytes_in(now.since(self.filled));
        let full = holds(self.rate);
        if self.tokens + more.0 >= full {
            (self.tokens, self.filled) = (full, now);
        } else {
            // Only the time that whole bytes took: what is left of it counts the next time.
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
    rate.bytes_in(AHEAD).0.clamp(LEAST, u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FILM: Rate = Rate::from_mbps(8);

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn ten_seconds_come_at_once_and_then_five_quarters_of_the_rate() {
        let mut bucket = Bucket::new(FILM, at(0));
        assert_eq!(bucket.take(u64::MAX, at(0)), Ok(10_000_000));
        // 10 Mb/s are 1.25 bytes a microsecond: 65536 bytes after 52.4288 ms.
        let next = bucket.take(1 << 20, at(0)).expect_err("it is empty");
        assert_eq!(next, Time::ZERO + Span::from_nanos(52_428_800));
        assert_eq!(bucket.take(1 << 20, next), Ok(65_536));
        assert_eq!(bucket.take(1000, next), Err(next + Span::from_micros(800)));
        // Idle for long it is full again, and not more.
        assert_eq!(bucket.take(u64::MAX, at(3_600_000)), Ok(10_000_000));
    }

    #[test]
    fn a_slower_rendition_holds_less_and_a_faster_one_gets_its_rate_at_once() {
        let mut bucket = Bucket::new(FILM, at(0));
        bucket.play(Rate::from_mbps(4), at(0));
        assert_eq!(bucket.take(u64::MAX, at(0)), Ok(5_000_000));
        bucket.play(FILM, at(0));
        assert_eq!(bucket.take(u64::MAX, at(1000)), Ok(1_250_000));
    }

    proptest! {
        /// Never more than what it holds and 5/4 of the rate, and not a piece less if all is asked for at its time.
        #[test]
        fn what_leaves_is_what_the_rate_says(
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
