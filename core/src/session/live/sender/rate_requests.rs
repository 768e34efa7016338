//! Rate requests from the sender to its source.

use super::rate_limit::RateLimit;
use super::{Event, Sender};
use crate::time::{Span, Time};
use crate::units::Rate;

/// Interval between events about media beyond the planned rate. Ours: more events repeat the same, fewer delay a source
/// that follows them.
const INTERVAL: Span = Span::from_secs(1);

/// Requests to the source, and events not yet reported.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct RateRequests {
    /// The rate requested of the source; none once the request is withdrawn.
    pub(super) rate: Option<Rate>,
    /// Media datagrams dropped for the planned rate, of which no event was reported yet.
    unsent: u64,
    /// The time of the last such event.
    reported: Option<Time>,
}

impl Sender {
    /// The rate that blocks are planned for: the rate law's, and the maximum rate at most.
    pub(super) fn planned_rate(&self) -> Option<Rate> {
        self.rate_limit.as_ref().map(RateLimit::rate).or(self.config.max_rate)
    }

    /// The media rate that the source should not exceed: the rate that the law leaves, or a lower one for which the
    /// brake has asked.
    pub(super) fn wanted_rate(&self) -> Option<Rate> {
        let left = self.rate_limit.as_ref().and_then(RateLimit::media_rate);
        left.into_iter().chain(self.rate_requests.rate).min()
    }

    /// Counts `unsent` media datagrams for which the planned rate had no capacity, and reports them once a second.
    pub(super) fn report_unsent(&mut self, now: Time, unsent: u64) {
        let (Some(greatest), 1..) = (self.planned_rate(), unsent) else { return };
        self.rate_limit.iter_mut().for_each(RateLimit::on_limited);
        self.counts.unsent += unsent;
        self.rate_requests.unsent += unsent;
        if self.rate_requests.reported.is_none_or(|reported| now.since(reported) >= INTERVAL) {
            self.rate_requests.reported = Some(now);
            let unsent = core::mem::take(&mut self.rate_requests.unsent);
            self.events.push_back(Event::OverRate { greatest, unsent });
        }
    }
}
