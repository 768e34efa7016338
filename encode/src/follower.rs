//! The decisions of an encoder that follows a rate: the bit rate that it is set to, and whether it obeys.

use std::collections::VecDeque;

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;

use crate::budget::Usage;

/// The least bit rate of the video, even if less remains: an encoder needs one.
pub const LEAST: Rate = Rate::from_bps(50_000);
/// The least change of the remaining bit rate, relative to the last one, for which the encoder is set again; less is the
/// grain of the measurement.
const CHANGE: f64 = 0.02;
/// The bit rate above which an encoder does not obey, over that which was set. A buffer of one second lets an obedient one
/// exceed its rate for a moment, so that it has to last for [`PATIENCE`].
const EXCESS: f64 = 1.25;
const PATIENCE: Span = Span::from_secs(5);

/// A decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// Set the encoder to this bit rate.
    Set(Rate),
    /// The encoder ignores its bit rate: it has made more than `set` for seconds. Once in a run.
    Disobedient {
        /// The bit rate that the encoder makes.
        coded: Rate,
        /// The bit rate that was set.
        set: Rate,
    },
    /// Sound, tables and null packets leave less than [`LEAST`] for the video. Once in a run.
    Crowded {
        /// The rate of all packets but the video's.
        others: Rate,
        /// The rate asked for.
        rate: Rate,
    },
}

/// An encoder and the rate that its transport stream should have.
///
/// After each `handle_` call, drain [`Follower::poll_step`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Follower {
    /// The rate of the transport stream; none is known at first.
    rate: Option<Rate>,
    usage: Usage,
    /// The bit rate that the encoder was set to.
    set: Option<Rate>,
    /// The time since which the encoder has exceeded its bit rate.
    above: Option<Time>,
    is_disobedient: bool,
    is_crowded: bool,
    steps: VecDeque<Step>,
}

impl Follower {
    /// Takes a new rate for the transport stream.
    pub fn handle_rate(&mut self, rate: Rate) {
        self.rate = Some(rate);
        self.set(0.0);
    }

    /// Takes the use of the last second.
    pub fn handle_usage(&mut self, now: Time, usage: Usage) {
        self.usage = usage;
        self.set(CHANGE);
        let Some(set) = self.set else { return };
        if usage.coded.as_bps() as f64 <= EXCESS * set.as_bps() as f64 {
            self.above = None;
            return;
        }
        let since = *self.above.get_or_insert(now);
        if now.since(since) >= PATIENCE && !std::mem::replace(&mut self.is_disobedient, true) {
            self.steps.push_back(Step::Disobedient { coded: usage.coded, set });
        }
    }

    /// The next decision.
    pub fn poll_step(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    /// Sets the encoder anew if its share of the rate has changed by more than `change`, relative to the last one.
    fn set(&mut self, change: f64) {
        let Some(rate) = self.rate else { return };
        let left = self.usage.for_video(rate).unwrap_or(Rate::from_bps(0));
        if left < LEAST && !std::mem::replace(&mut self.is_crowded, true) {
            self.steps.push_back(Step::Crowded { others: self.usage.others, rate });
        }
        let wanted = left.max(LEAST);
        let is_new =
            self.set.is_none_or(|set| wanted.as_bps().abs_diff(set.as_bps()) as f64 > change * set.as_bps() as f64);
        if is_new {
            self.set = Some(wanted);
            self.steps.push_back(Step::Set(wanted));
        }
    }
}

#[cfg(test)]
mod tests;
