//! Heavy loss without a queue: a link that drops the excess over its rate, or a path with a loss ratio of its own.
//!
//! A policer passes its rate, so that it drops next to nothing of a smaller window. A path with loss of its own loses
//! the same part of a smaller window. So the window is cut to the delivered part, and its loss ratio is compared.
//!
//! Both tests are sequential (A. Wald, Ann. Math. Stat. 16, 1945): each packet adds the logarithm of a likelihood
//! ratio. A few packets lost by chance are therefore no evidence, even if they are most of a small window, and a clear
//! case needs few packets. Heavy loss is detected by Page's variant (E. S. Page, Biometrika 41, 1954), which restarts
//! whenever the sum is below zero.

use crate::time::{Span, Time};

/// Light and heavy loss, as fractions of the packets that survive the path's own loss: the test turns at a third.
const LIGHT: f64 = 1.0 / 5.0;
const HEAVY: f64 = 1.0 / 2.0;
/// The fraction of the loss that remains if a policer passes the smaller window, which other flows may fill, too.
const LEFT: f64 = 1.0 / 2.0;
/// The upper bound of a path's own loss: where many senders fill a policer, none of them alone changes its loss.
const MOST: f64 = 3.0 / 4.0;
/// The log odds at which the tests decide: 150 to 1 for a trial, and 20 to 1 for its outcome.
const ALARM: f64 = 5.0;
const ANSWER: f64 = 3.0;
/// The number of packets from which loss ratios are compared: their standard deviation is 0.09 at most.
const ENOUGH: u32 = 32;
/// Round trips after which all acknowledgements and losses are of packets sent with the smaller window.
const LAG: u32 = 2;
/// The time for which an outcome is valid: the path may change.
const GOOD: Span = Span::from_secs(10);

/// The number of packets by outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Outcomes {
    pub(super) delivered: u32,
    pub(super) lost: u32,
}

/// The state of loss detection on a path.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Drops {
    /// The recent evidence, and the number of round trips that it covers.
    seen: Evidence,
    trips: u32,
    trial: Option<Trial>,
    /// The path's own loss ratio, and the time until which it is valid.
    own: f64,
    until: Time,
}

/// A window; `slow_start` is true in slow start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Size {
    pub(super) cwnd: f64,
    pub(super) slow_start: bool,
}

/// The trial of a window that was cut.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Trial {
    before: Size,
    loss: f64,
    lag: u32,
    left: Evidence,
}

/// Outcomes of packets, and their log-likelihood ratio for one loss ratio against another.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Evidence {
    outcomes: Outcomes,
    weight: f64,
}

/// The change of the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Answer {
    /// No change.
    Stay,
    /// The window becomes the delivered part.
    Cut(f64),
    /// The window returns to its former size: the cut had no effect.
    Restore(Size),
}

impl Outcomes {
    fn total(self) -> u32 {
        self.delivered + self.lost
    }

    fn loss(self) -> f64 {
        f64::from(self.lost) / f64::from(self.total()).max(1.0)
    }
}

impl Evidence {
    /// Adds packets, which are lost with probability `p` under one hypothesis, or `q` under the other.
    fn add(&mut self, outcomes: Outcomes, p: f64, q: f64) {
        self.outcomes.delivered += outcomes.delivered;
        self.outcomes.lost += outcomes.lost;
        self.weight += f64::from(outcomes.lost) * libm::log(p / q)
            + f64::from(outcomes.delivered) * libm::log((1.0 - p) / (1.0 - q));
    }
}

impl Drops {
    /// True during a trial, in which the window does not change.
    pub(super) fn asks(&self) -> bool {
        self.trial.is_some()
    }

    /// True if heavy loss is known to be the path's own.
    pub(super) fn is_own(&self, now: Time) -> bool {
        self.own > 0.0 && now < self.until
    }

    /// Restarts the tests after a long silence.
    pub(super) fn interrupt(&mut self) {
        (self.seen, self.trips, self.trial) = (Evidence::default(), 0, None);
    }

    /// Ends a round trip with the outcomes of its packets. `is_full` is true if the window was the limit.
    pub(super) fn end_round_trip(&mut self, now: Time, size: Size, outcomes: Outcomes, is_full: bool) -> Answer {
        if !self.is_own(now) {
            self.own = 0.0;
        }
        match &mut self.trial {
            Some(trial) if trial.lag > 0 => trial.lag -= 1,
            Some(_) => return self.compare(now, outcomes),
            None if is_full => return self.watch(size, outcomes),
            None => {}
        }
        Answer::Stay
    }

    /// Tests for heavy loss.
    fn watch(&mut self, size: Size, outcomes: Outcomes) -> Answer {
        let [heavy, light] = [HEAVY, LIGHT].map(|part| self.own + (1.0 - self.own) * part);
        self.seen.add(outcomes, heavy, light);
        self.trips += 1;
        let (seen, trips) = (self.seen, self.trips);
        if seen.weight < 0.0 {
            (self.seen, self.trips) = (Evidence::default(), 0);
        }
        if seen.weight < ALARM || seen.outcomes.total() < ENOUGH {
            return Answer::Stay;
        }
        (self.seen, self.trips) = (Evidence::default(), 0);
        // Chance contributes to any alarm, so the loss is not taken to be more than heavy.
        let loss = seen.outcomes.loss().min(heavy);
        self.trial = Some(Trial { before: size, loss, lag: LAG, left: Evidence::default() });
        // A single round trip of a small window varies by chance, and slow start has outgrown the earlier ones.
        let delivered = f64::from(outcomes.delivered).max(f64::from(seen.outcomes.delivered) / f64::from(trips));
        Answer::Cut(size.cwnd.min(delivered))
    }

    /// Compares the loss ratio of the smaller window.
    fn compare(&mut self, now: Time, outcomes: Outcomes) -> Answer {
        let Some(trial) = &mut self.trial else { return Answer::Stay };
        trial.left.add(outcomes, trial.loss, trial.loss * LEFT);
        let Trial { before, left, .. } = *trial;
        if left.weight.abs() < ANSWER {
            return Answer::Stay;
        }
        self.trial = None;
        if left.weight < 0.0 || left.outcomes.loss() > MOST {
            return Answer::Stay;
        }
        (self.own, self.until) = (left.outcomes.loss(), now + GOOD);
        Answer::Restore(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// The windows in round trips of 50 ms, and the number of cuts. A window doubles up to `most` while there is no
    /// reaction; `lost` returns the number of its packets that are lost.
    fn windows(trips: u64, most: f64, mut lost: impl FnMut(u32) -> u32) -> (Vec<f64>, u32) {
        let (mut drops, mut cwnd, mut windows, mut cuts) = (Drops::default(), 10.0_f64, Vec::new(), 0);
        for nth in 0..trips {
            let lost = lost(cwnd as u32);
            let outcomes = Outcomes { delivered: cwnd as u32 - lost, lost };
            let now = Time::ZERO + Span::from_millis(50 * nth);
            match drops.end_round_trip(now, Size { cwnd, slow_start: false }, outcomes, true) {
                Answer::Stay if drops.asks() => {}
                Answer::Stay => cwnd = (cwnd * 2.0).min(most),
                Answer::Cut(delivered) => (cwnd, cuts) = (delivered.max(2.0), cuts + 1),
                Answer::Restore(before) => cwnd = before.cwnd,
            }
            windows.push(cwnd);
        }
        (windows, cuts)
    }

    /// A path that loses each packet with probability `eps`.
    fn lossy(trips: u64, most: f64, eps: f64) -> (Vec<f64>, u32) {
        let mut rng = Rng::new(1);
        windows(trips, most, |cwnd| (0..cwnd).filter(|_| rng.chance(eps)).count() as u32)
    }

    #[test]
    fn loss_unchanged_at_half_the_window_is_not_congestion() {
        // The trial is repeated every ten seconds, and takes a few round trips with a small window.
        for (most, eps) in [(200.0, 0.4), (200.0, 0.5), (200.0, 0.6), (10.0, 0.5)] {
            let (windows, _) = lossy(10_000, most, eps);
            let whole = windows.iter().filter(|window| **window == most).count();
            assert!(whole > 8_500, "{most}, {eps}: {whole}");
        }
    }

    /// Wald's inequality: of the restarted sums at most one in e^5 crosses the bound by chance.
    #[test]
    fn a_few_packets_lost_by_chance_are_not_heavy_loss() {
        let trips = 100_000;
        for (eps, most) in [(0.05, 0.0), (0.15, 1e-3), (LIGHT, libm::exp(-ALARM))] {
            let (_, cuts) = lossy(trips, 10.0, eps);
            assert!(f64::from(cuts) <= most * trips as f64, "{eps}: {cuts}");
        }
    }

    #[test]
    fn window_settles_at_the_policers_rate() {
        // It passes 100: a window of more than half of that again is cut.
        let (windows, cuts) = windows(400, 400.0, |cwnd| cwnd.saturating_sub(100));
        let least = windows[20..].iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least == 100.0 && cuts > 50, "{least}, {cuts}");
    }

    #[test]
    fn application_limited_round_trips_are_ignored() {
        let mut drops = Drops::default();
        for _ in 0..100 {
            let outcomes = Outcomes { delivered: 1, lost: 9 };
            let size = Size { cwnd: 10.0, slow_start: false };
            assert_eq!(drops.end_round_trip(Time::ZERO, size, outcomes, false), Answer::Stay);
        }
    }
}
