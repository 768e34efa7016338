//! The recent loss rate: an average over a time, and over enough packets.

use std::collections::VecDeque;

use crate::time::{Span, Time};

/// The time over which loss is averaged: short enough that an outage of half a second is no second of high loss.
const AVERAGE: Span = Span::from_millis(400);
/// The least number of packets over which loss is averaged: at 10 % a thousandth of such samples are below 3.5 %
/// (binomial, 3.1 deviations).
const ENOUGH: u64 = 200;
/// The longest time over which loss is averaged.
const LONGEST_AVERAGE: Span = Span::from_secs(5);
/// The time for which a report is valid; without a valid one it is unknown whether loss is still high. Ours: as long as
/// the interval of regular reports.
const EVIDENCE: Span = Span::from_secs(1);

/// The average of the losses in recent reports.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct LossAverage {
    /// Time, lost and sent packets of the reports that are averaged; each of them has packets.
    reports: VecDeque<(Time, u32, u32)>,
    lost: u64,
    sent: u64,
}

impl LossAverage {
    /// The loss rate; NaN before the first report.
    pub(super) fn rate(&self) -> f64 {
        self.lost as f64 / self.sent as f64
    }

    /// True if a report has come of late.
    pub(super) fn has_evidence(&self, now: Time) -> bool {
        self.reports.back().is_some_and(|(last, ..)| now.since(*last) <= EVIDENCE)
    }

    /// The time over which loss is averaged now.
    pub(super) fn span(&self, now: Time) -> Span {
        self.reports.front().map_or(AVERAGE, |(first, ..)| now.since(*first).max(AVERAGE))
    }

    /// The part of that time which a fast stream does not need.
    pub(super) fn excess(&self, now: Time) -> Span {
        self.span(now).saturating_sub(AVERAGE)
    }

    /// Adds a report, and forgets those that are too old.
    pub(super) fn push(&mut self, now: Time, lost: u32, sent: u32) {
        self.reports.push_back((now, lost, sent));
        self.lost += u64::from(lost);
        self.sent += u64::from(sent);
        while let Some(&(at, lost, sent)) = self.reports.front() {
            let (age, rest) = (now.since(at), self.sent - u64::from(sent));
            if age <= AVERAGE || (age <= LONGEST_AVERAGE && rest < ENOUGH) {
                break;
            }
            self.lost -= u64::from(lost);
            self.sent = rest;
            self.reports.pop_front();
        }
    }
}
