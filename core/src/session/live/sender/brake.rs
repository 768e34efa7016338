//! The brake that stands outside the law.
//!
//! GENEVA says that the media rate must fall when loss stays at p_max or above, and leaves that out (§3.2.4). Its window
//! alone would go to its maximum there and hold the loss where it is (the lock-in). So: loss at p_max or above for a
//! second takes repair down by half every half second, to none at all, and asks the source for less; ten seconds of it
//! end the session, even if the last of them brings no report: a receiver that hears nothing gives up. Where the round
//! trip has grown as well, packets are lost to a full queue, and more of them are no cure: then the brake takes at once
//! what is above the law's least window. When loss has gone, repair is let up again.
//!
//! Of a slow stream 0.4 s hold a dozen packets, whose loss rate is anything. Loss is then averaged over some 200, and as
//! one burst keeps such an average high until it has left it, the brake's second begins after that; and of the seconds of
//! high loss three in four must themselves be high. A session ends only if it has lost more than chance makes of p_max.

mod high;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use self::high::High;
use crate::time::{Span, Time};

/// How long loss must stay high before the brake acts, and asks for less.
const PATIENCE: Span = Span::from_secs(1);
/// Time between two steps of the brake.
const STEP: Span = Span::from_millis(500);
/// The same two when the path's queue is full.
const QUICK_PATIENCE: Span = Span::from_millis(50);
const QUICK_STEP: Span = Span::from_millis(100);
/// The same two for letting go.
const RELEASE_PATIENCE: Span = Span::from_millis(200);
const RELEASE_STEP: Span = Span::from_millis(100);
/// Over how long loss is averaged: short enough that half a dark second is no second of high loss.
const AVERAGE: Span = Span::from_millis(400);
/// And over how many packets at least: at 10 % a thousandth of such samples are below 3.5 % (binomial, 3.1 deviations).
const ENOUGH: u64 = 200;
/// But never over longer than that.
const LONGEST_AVERAGE: Span = Span::from_secs(5);
/// High loss for so long ends the session.
const ENDURANCE: Span = Span::from_secs(10);
/// So long a report counts; without any, nobody knows whether loss is still high.
const EVIDENCE: Span = Span::from_secs(1);
/// Released only below this share of p_max, so that it does not flutter.
const RELEASE: f64 = 0.8;
/// Limit above which a released brake is off: no block can hold more repair.
const OFF: f64 = 255.0;

/// What a report says to the brake.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Pressure {
    /// Packets found lost.
    pub(super) lost: u32,
    /// Packets found delivered.
    pub(super) delivered: u32,
    /// Whether the round trip tells of a queue.
    pub(super) queue: bool,
    /// The window that the law wants.
    pub(super) window: f64,
    /// The least that it ever wants.
    pub(super) least: f64,
}

// Deviation(GENEVA §3.2.4): the paper leaves what must happen at p_max and above to the media rate.
/// What the brake wants of the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Demand {
    /// Ask the source for a lower rate.
    Lower,
    /// The brake is off again.
    Restored,
}

/// The brake of one session.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Brake {
    p_max: f64,
    /// Lost and sent packets of the reports that are averaged; none is without any.
    reports: VecDeque<(Time, u32, u32)>,
    sums: (u64, u64),
    high: Option<High>,
    /// Since when loss is low enough for a release.
    low_since: Option<Time>,
    stepped: Time,
    /// When the source was last asked for less, until it is told that it need not.
    asked: Option<Time>,
    limit: Option<f64>,
}

impl Brake {
    /// A brake that acts at a loss rate of `p_max`.
    pub(super) fn new(p_max: f64) -> Brake {
        Brake {
            p_max,
            reports: VecDeque::new(),
            sums: (0, 0),
            high: None,
            low_since: None,
            stepped: Time::ZERO,
            asked: None,
            limit: None,
        }
    }

    /// Greatest repair window allowed, in packets for each block of the law; none when off.
    pub(super) fn limit(&self) -> Option<f64> {
        self.limit
    }

    /// The loss rate of late; NaN before there is one.
    pub(super) fn loss(&self) -> f64 {
        self.sums.0 as f64 / self.sums.1 as f64
    }

    /// Whether loss has stayed high for too long at `now`.
    pub(super) fn is_over(&self, now: Time) -> bool {
        let is_over = |high: High| !high.is_dipping() && high.has_stayed(now, ENDURANCE) && !high.is_chance(self.p_max);
        self.has_evidence(now) && self.high.is_some_and(is_over)
    }

    fn has_evidence(&self, now: Time) -> bool {
        self.reports.back().is_some_and(|(last, ..)| now.since(*last) <= EVIDENCE)
    }

    /// Takes a report.
    pub(super) fn on_report(&mut self, now: Time, pressure: &Pressure) -> Option<Demand> {
        let sent = pressure.lost.saturating_add(pressure.delivered);
        if sent == 0 {
            if !self.has_evidence(now) {
                // Nothing is under way, so nothing is lost.
                (self.high, self.low_since, self.sums) = (None, None, (0, 0));
                self.reports.clear();
            }
            return None;
        }
        self.average(now, pressure.lost, sent);
        let loss = self.loss();
        let is_high = loss >= self.p_max;
        let mut high = if is_high { Some(self.high.unwrap_or_else(|| High::new(now))) } else { self.high };
        if let Some(high) = &mut high {
            high.count(now, pressure.lost, sent, self.p_max);
            high.dip(now, !is_high);
        }
        self.high = high.filter(|high| !high.has_dipped(now, self.span(now) / 2));
        if let Some(high) = self.high.filter(|_| is_high) {
            self.low_since = None;
            self.tighten(now, &high, pressure);
            return self.demand(now, &high);
        }
        if loss >= RELEASE * self.p_max || self.limit.is_none() {
            self.low_since = None;
            return None;
        }
        let since = *self.low_since.get_or_insert(now);
        self.release(now, since)
    }

    /// Over how long loss is averaged now.
    fn span(&self, now: Time) -> Span {
        self.reports.front().map_or(AVERAGE, |(first, ..)| now.since(*first).max(AVERAGE))
    }

    /// How long loss must have been high at `now` to have stayed so.
    fn patience(&self, now: Time) -> Span {
        PATIENCE + self.span(now).saturating_sub(AVERAGE)
    }

    fn average(&mut self, now: Time, lost: u32, sent: u32) {
        self.reports.push_back((now, lost, sent));
        self.sums.0 += u64::from(lost);
        self.sums.1 += u64::from(sent);
        while let Some(&(at, lost, sent)) = self.reports.front() {
            let (age, rest) = (now.since(at), self.sums.1 - u64::from(sent));
            if age <= AVERAGE || (age <= LONGEST_AVERAGE && rest < ENOUGH) {
                break;
            }
            self.sums.0 -= u64::from(lost);
            self.sums.1 = rest;
            self.reports.pop_front();
        }
    }

    fn tighten(&mut self, now: Time, high: &High, pressure: &Pressure) {
        let window = self.limit.map_or(pressure.window, |limit| limit.min(pressure.window));
        let stays = high.has_stayed(now, self.patience(now)) && now.since(self.stepped) >= STEP;
        let quick = pressure.queue && high.has_lasted(now, QUICK_PATIENCE) && now.since(self.stepped) >= QUICK_STEP;
        if quick && window > pressure.least {
            self.stepped = now;
            self.limit = Some((window / 2.0).max(pressure.least));
        } else if stays {
            self.stepped = now;
            self.limit = Some(if window < 2.0 { 0.0 } else { window / 2.0 });
        }
    }

    fn demand(&mut self, now: Time, high: &High) -> Option<Demand> {
        let due = high.has_stayed(now, self.patience(now)) && self.asked.is_none_or(|asked| now.since(asked) >= STEP);
        due.then(|| {
            self.asked = Some(now);
            Demand::Lower
        })
    }

    fn release(&mut self, now: Time, since: Time) -> Option<Demand> {
        if now.since(since) < RELEASE_PATIENCE || now.since(self.stepped) < RELEASE_STEP {
            return None;
        }
        self.stepped = now;
        self.limit = self.limit.map(|limit| (2.0 * limit).max(1.0)).filter(|&limit| limit < OFF);
        if self.limit.is_some() {
            return None;
        }
        self.asked.take().map(|_| Demand::Restored)
    }
}
