//! The brake that stands outside the law.
//!
//! GENEVA says that the media rate must fall when loss stays at p_max or above, and leaves that out (§3.2.4). Its window
//! alone would go to its maximum there and hold the loss where it is (the lock-in). So: loss at p_max or above for a
//! second takes repair down by half every half second, to none at all, and asks the source for less; ten seconds of it
//! end the session, even if the last of them brings no report: a receiver that hears nothing gives up. Where the round
//! trip has grown as well, packets are lost to a full queue, and more of them are no cure: then the brake takes at once
//! what is above the law's least window. When loss has gone, repair is let up again.

use std::collections::VecDeque;

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
    /// Lost and sent packets of the reports within [`AVERAGE`].
    reports: VecDeque<(Time, u32, u32)>,
    sums: (u64, u64),
    high_since: Option<Time>,
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
            high_since: None,
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
        let last = self.reports.back().map(|(at, ..)| *at);
        self.high_since.is_some_and(|since| now.since(since) >= ENDURANCE)
            && last.is_some_and(|last| now.since(last) <= EVIDENCE)
    }

    /// Takes a report.
    pub(super) fn on_report(&mut self, now: Time, pressure: &Pressure) -> Option<Demand> {
        self.average(now, pressure.lost, pressure.lost.saturating_add(pressure.delivered));
        let loss = self.loss();
        if loss.is_nan() {
            // Nothing is under way, so nothing is lost.
            self.high_since = None;
            return None;
        }
        if loss >= self.p_max {
            self.low_since = None;
            let since = *self.high_since.get_or_insert(now);
            self.tighten(now, since, pressure);
            return self.demand(now, since);
        }
        self.high_since = None;
        if loss >= RELEASE * self.p_max || self.limit.is_none() {
            self.low_since = None;
            return None;
        }
        let since = *self.low_since.get_or_insert(now);
        self.release(now, since)
    }

    fn average(&mut self, now: Time, lost: u32, sent: u32) {
        self.reports.push_back((now, lost, sent));
        self.sums.0 += u64::from(lost);
        self.sums.1 += u64::from(sent);
        while let Some(&(_, lost, sent)) = self.reports.front().filter(|&&(at, ..)| now.since(at) > AVERAGE) {
            self.sums.0 -= u64::from(lost);
            self.sums.1 -= u64::from(sent);
            self.reports.pop_front();
        }
    }

    fn tighten(&mut self, now: Time, since: Time, pressure: &Pressure) {
        let window = self.limit.map_or(pressure.window, |limit| limit.min(pressure.window));
        let stays = now.since(since) >= PATIENCE && now.since(self.stepped) >= STEP;
        let quick = pressure.queue && now.since(since) >= QUICK_PATIENCE && now.since(self.stepped) >= QUICK_STEP;
        if quick && window > pressure.least {
            self.stepped = now;
            self.limit = Some((window / 2.0).max(pressure.least));
        } else if stays {
            self.stepped = now;
            self.limit = Some(if window < 2.0 { 0.0 } else { window / 2.0 });
        }
    }

    fn demand(&mut self, now: Time, since: Time) -> Option<Demand> {
        let due = now.since(since) >= PATIENCE && self.asked.is_none_or(|asked| now.since(asked) >= STEP);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports every 10 ms over `millis`, with `lost` of each 100 packets lost.
    fn drive(brake: &mut Brake, from: u64, millis: u64, lost: u32, queue: bool) -> Vec<(u64, Demand)> {
        let pressure = Pressure { lost, delivered: 100 - lost, queue, window: 60.0, least: 8.0 };
        (from..from + millis)
            .step_by(10)
            .filter_map(|ms| Some((ms, brake.on_report(Time::ZERO + Span::from_millis(ms), &pressure)?)))
            .collect()
    }

    #[test]
    fn repair_is_halved_every_half_second_after_one_second_and_the_session_ends_after_ten() {
        let mut brake = Brake::new(0.03);
        assert_eq!(drive(&mut brake, 0, 1000, 5, false), []);
        assert_eq!(brake.limit(), None);
        assert_eq!(drive(&mut brake, 1000, 10, 5, false), [(1000, Demand::Lower)]);
        assert_eq!(brake.limit(), Some(30.0));
        drive(&mut brake, 1010, 3000, 5, false);
        assert_eq!(brake.limit(), Some(0.0), "30, 15, 7.5, 3.75, 1.9, then none");
        drive(&mut brake, 4010, 5990, 5, false);
        let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
        assert!(!brake.is_over(at(9_999)) && brake.is_over(at(10_000)));
        assert!(brake.is_over(at(10_990)) && !brake.is_over(at(11_000)), "the last report is of 9990 ms");
    }

    #[test]
    fn a_full_queue_takes_repair_to_its_least_within_300_ms_and_asks_nobody() {
        let mut brake = Brake::new(0.03);
        assert_eq!(drive(&mut brake, 0, 310, 5, true), []);
        assert_eq!(brake.limit(), Some(8.0), "30, 15 and 8 after 100, 200 and 300 ms");
        drive(&mut brake, 310, 400, 5, true);
        assert_eq!(brake.limit(), Some(8.0), "no less before it has stayed for a second");
        assert_eq!(drive(&mut brake, 710, 3000, 0, false), []);
        assert_eq!(brake.limit(), None);
    }

    #[test]
    fn when_loss_has_gone_repair_is_let_up_and_the_source_is_told_once() {
        let mut brake = Brake::new(0.03);
        drive(&mut brake, 0, 4000, 5, false);
        assert_eq!(brake.limit(), Some(0.0));
        let events = drive(&mut brake, 4000, 10_000, 0, false);
        let restored = events.iter().filter(|(_, demand)| *demand == Demand::Restored).count();
        assert_eq!((restored, events.last().map(|(_, demand)| *demand)), (1, Some(Demand::Restored)), "{events:?}");
        assert_eq!(brake.limit(), None);
    }

    #[test]
    fn a_source_that_pauses_after_a_loss_is_not_taken_for_one_that_floods() {
        let mut brake = Brake::new(0.03);
        drive(&mut brake, 0, 100, 5, false);
        let idle = Pressure { lost: 0, delivered: 0, queue: false, window: 60.0, least: 8.0 };
        let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
        for millis in (100..12_000).step_by(10) {
            assert_eq!(brake.on_report(at(millis), &idle), None);
            assert!(!brake.is_over(at(millis)), "after {millis} ms");
        }
    }

    #[test]
    fn bursts_shorter_than_a_second_do_not_touch_it() {
        let mut brake = Brake::new(0.03);
        for burst in 0..20 {
            assert_eq!(drive(&mut brake, burst * 2000, 100, 20, false), []);
            assert_eq!(drive(&mut brake, burst * 2000 + 100, 1900, 0, false), []);
            assert_eq!(brake.limit(), None);
        }
    }
}
