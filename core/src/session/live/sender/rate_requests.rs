//! Rate requests from the sender to its source.

use super::Event;
use crate::time::{Span, Time};
use crate::units::Rate;

/// Interval between events about media beyond the planned rate. Ours: more events repeat the same, fewer delay a source
/// that follows them.
const INTERVAL: Span = Span::from_secs(1);

/// The fewest dropped datagrams that are an event. Ours: a rate that has just begun, or a picture that comes as a burst, drops
/// one or two, which no setting avoids.
const FEWEST: u64 = 10;

/// Requests to the source, and events not yet reported.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct RateRequests {
    /// The rate that the brake requests of the source; none once the request is withdrawn.
    pub(super) rate: Option<Rate>,
    /// Media datagrams dropped for the planned rate, of which no event was reported yet.
    unsent: u64,
    /// The time of the last such event.
    reported: Option<Time>,
}

impl RateRequests {
    /// The media rate that the source should not exceed: the rate `left` that a rate law leaves, or a lower one that the
    /// brake requests.
    pub(super) fn wanted(&self, left: Option<Rate>) -> Option<Rate> {
        left.into_iter().chain(self.rate).min()
    }

    /// Counts `unsent` media datagrams for which the rate `greatest` had no capacity. Returns an event about all that
    /// were not reported yet, once a second, and once there are [`FEWEST`].
    pub(super) fn on_unsent(&mut self, now: Time, greatest: Rate, unsent: u64) -> Option<Event> {
        self.unsent += unsent;
        if self.unsent < FEWEST || self.reported.is_some_and(|reported| now.since(reported) < INTERVAL) {
            return None;
        }
        self.reported = Some(now);
        Some(Event::OverRate { greatest, unsent: core::mem::take(&mut self.unsent) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsent_media_is_reported_once_a_second_and_completely_from_ten_datagrams_on() {
        let (mut requests, greatest) = (RateRequests::default(), Rate::from_mbps(1));
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let events: Vec<Option<Event>> =
            [0, 400, 999, 1400, 3000].map(|millis| requests.on_unsent(at(millis), greatest, 9)).into();
        let over = |unsent| Some(Event::OverRate { greatest, unsent });
        assert_eq!(events, [None, over(18), None, over(18), None]);
    }

    #[test]
    fn lower_of_two_requested_rates_counts() {
        let [low, high] = [1, 2].map(Rate::from_mbps);
        let brake = |rate| RateRequests { rate, ..RateRequests::default() };
        assert_eq!([None, Some(low)].map(|left| brake(None).wanted(left)), [None, Some(low)]);
        assert_eq!([None, Some(high)].map(|left| brake(Some(low)).wanted(left)), [Some(low); 2]);
        assert_eq!(brake(Some(high)).wanted(Some(low)), Some(low));
    }
}
