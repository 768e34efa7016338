//! A rate that changes at given times.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

/// The changes of a link's rate, in ascending order of their times.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Steps(Box<[(Time, Rate)]>);

impl Steps {
    /// Changes at these times, which must ascend, to these rates, which must be above zero.
    ///
    /// # Errors
    /// The condition that does not hold.
    pub fn new(changes: &[(Time, Rate)]) -> Result<Steps, &'static str> {
        if changes.iter().any(|(_, rate)| rate.as_bps() == 0) {
            return Err("the rate of a link must be above zero");
        }
        if changes.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
            return Err("the times of its steps must ascend");
        }
        Ok(Steps(changes.into()))
    }

    /// The time at which the last bit of a packet of `size` leaves that begins to leave at `start`. The rate is `first`
    /// before the first change.
    pub(super) fn departure(&self, first: Rate, start: Time, size: Bytes) -> Time {
        let (mut at, mut rate) = (start, u128::from(first.as_bps()));
        // Bits, times the nanoseconds of a second.
        let mut left = u128::from(size.0) * 8_000_000_000;
        for (when, next) in &self.0 {
            let leaves = rate * u128::from(when.since(at).as_nanos());
            if leaves >= left {
                break;
            }
            left -= leaves;
            (at, rate) = (at.max(*when), u128::from(next.as_bps()));
        }
        at + Span::from_nanos(left.div_ceil(rate) as u64)
    }
}
