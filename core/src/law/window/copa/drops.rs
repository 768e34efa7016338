//! Heavy loss without a queue: a link that drops what exceeds its rate, or a path that loses a part of everything.
//!
//! A policer lets its rate through, so that of less it drops next to nothing. A path that loses by itself loses the
//! same part of less. So the window is cut to what was let through, and the loss ratio of the smaller one is compared.
//!
//! Both tests are sequential (A. Wald, Ann. Math. Stat. 16, 1945): each packet adds the logarithm of a likelihood
//! ratio. A few packets lost by chance therefore prove nothing, even where they are most of a small window, and a
//! clear case needs few packets. Heavy loss is detected by Page's form of it (E. S. Page, Biometrika 41, 1954), which
//! begins anew where the sum is below zero.

use crate::time::{Span, Time};

/// Loss that is not heavy, of what the path does not lose by itself, and loss that is: the test turns at a third.
const LIGHT: f64 = 1.0 / 5.0;
const HEAVY: f64 = 1.0 / 2.0;
/// The part that is left of the loss where a policer let the smaller window through. Others may fill it, too.
const LEFT: f64 = 1.0 / 2.0;
/// More than this no path loses by itself: where many senders fill a policer, none of them alone changes its loss.
const MOST: f64 = 3.0 / 4.0;
/// The logarithm of the odds that decide: 150 to 1 for a trial, and 20 to 1 for its answer.
const ALARM: f64 = 5.0;
const ANSWER: f64 = 3.0;
/// Packets from which a loss ratio is known well enough for a comparison: its standard deviation is 0.09 at most.
const ENOUGH: u32 = 32;
/// Round trips after which what is acknowledged was sent with the smaller window, its losses included.
const LAG: u32 = 2;
/// For how long an answer is good: the path may have changed.
const GOOD: Span = Span::from_secs(10);

/// Fate of packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Fate {
    pub(super) delivered: u32,
    pub(super) lost: u32,
}

/// Knowledge of a path's loss.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Drops {
    /// Of late, and how many round trips that was.
    seen: Evidence,
    trips: u32,
    trial: Option<Trial>,
    /// The loss that is the path's own, and until when that is believed.
    own: f64,
    until: Time,
}

/// A window, and whether it is in slow start.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Size {
    pub(super) cwnd: f64,
    pub(super) slow_start: bool,
}

/// A window that was cut.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Trial {
    before: Size,
    loss: f64,
    lag: u32,
    left: Evidence,
}

/// Packets, and what they say for one loss ratio against another.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Evidence {
    fate: Fate,
    weight: f64,
}

/// Change of the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Answer {
    /// Nothing.
    Stay,
    /// It is what was let through.
    Cut(f64),
    /// It is again what it was: the cut was in vain.
    Restore(Size),
}

impl Fate {
    fn total(self) -> u32 {
        self.delivered + self.lost
    }

    fn loss(self) -> f64 {
        f64::from(self.lost) / f64::from(self.total()).max(1.0)
    }
}

impl Evidence {
    /// Takes packets into account that were lost with the probability `p`, or with `q`.
    fn add(&mut self, fate: Fate, p: f64, q: f64) {
        self.fate.delivered += fate.delivered;
        self.fate.lost += fate.lost;
        self.weight +=
            f64::from(fate.lost) * libm::log(p / q) + f64::from(fate.delivered) * libm::log((1.0 - p) / (1.0 - q));
    }
}

impl Drops {
    /// Returns whether the window was cut and there is no answer yet: it stays as it is.
    pub(super) fn asks(&self) -> bool {
        self.trial.is_some()
    }

    /// Returns whether heavy loss is known to be the path's own.
    pub(super) fn is_own(&self, now: Time) -> bool {
        self.own > 0.0 && now < self.until
    }

    /// Nothing was heard for long: what is not known yet is asked anew.
    pub(super) fn interrupt(&mut self) {
        (self.seen, self.trips, self.trial) = (Evidence::default(), 0, None);
    }

    /// Takes the end of a round trip, and what became of packets in it. `is_full` says that the window was the limit.
    pub(super) fn end_round_trip(&mut self, now: Time, size: Size, fate: Fate, is_full: bool) -> Answer {
        if !self.is_own(now) {
            self.own = 0.0;
        }
        match &mut self.trial {
            Some(trial) if trial.lag > 0 => trial.lag -= 1,
            Some(_) => return self.compare(now, fate),
            None if is_full => return self.watch(size, fate),
            None => {}
        }
        Answer::Stay
    }

    /// Looks for heavy loss.
    fn watch(&mut self, size: Size, fate: Fate) -> Answer {
        let [heavy, light] = [HEAVY, LIGHT].map(|part| self.own + (1.0 - self.own) * part);
        self.seen.add(fate, heavy, light);
        self.trips += 1;
        let (seen, trips) = (self.seen, self.trips);
        if seen.weight < 0.0 {
            (self.seen, self.trips) = (Evidence::default(), 0);
        }
        if seen.weight < ALARM || seen.fate.total() < ENOUGH {
            return Answer::Stay;
        }
        (self.seen, self.trips) = (Evidence::default(), 0);
        // Chance has its part in what raised the alarm: it is no reason to expect more than heavy loss.
        let loss = seen.fate.loss().min(heavy);
        self.trial = Some(Trial { before: size, loss, lag: LAG, left: Evidence::default() });
        // A round trip of a small window may have had bad luck, and slow start has outgrown those before.
        let delivered = f64::from(fate.delivered).max(f64::from(seen.fate.delivered) / f64::from(trips));
        Answer::Cut(size.cwnd.min(delivered))
    }

    /// Compares the loss of the smaller window.
    fn compare(&mut self, now: Time, fate: Fate) -> Answer {
        let Some(trial) = &mut self.trial else { return Answer::Stay };
        trial.left.add(fate, trial.loss, trial.loss * LEFT);
        let Trial { before, left, .. } = *trial;
        if left.weight.abs() < ANSWER {
            return Answer::Stay;
        }
        self.trial = None;
        if left.weight < 0.0 || left.fate.loss() > MOST {
            return Answer::Stay;
        }
        (self.own, self.until) = (left.fate.loss(), now + GOOD);
        Answer::Restore(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// The windows and the cuts in round trips of 50 ms, where a window doubles up to `most` while nothing is answered,
    /// and `lost` says how many packets of it are.
    fn windows(trips: u64, most: f64, mut lost: impl FnMut(u32) -> u32) -> (Vec<f64>, u32) {
        let (mut drops, mut cwnd, mut windows, mut cuts) = (Drops::default(), 10.0_f64, Vec::new(), 0);
        for nth in 0..trips {
            let lost = lost(cwnd as u32);
            let fate = Fate { delivered: cwnd as u32 - lost, lost };
            let now = Time::ZERO + Span::from_millis(50 * nth);
            match drops.end_round_trip(now, Size { cwnd, slow_start: false }, fate, true) {
                Answer::Stay if drops.asks() => {}
                Answer::Stay => cwnd = (cwnd * 2.0).min(most),
                Answer::Cut(delivered) => (cwnd, cuts) = (delivered.max(2.0), cuts + 1),
                Answer::Restore(before) => cwnd = before.cwnd,
            }
            windows.push(cwnd);
        }
        (windows, cuts)
    }

    /// Each packet is lost with the probability `eps`.
    fn lossy(trips: u64, most: f64, eps: f64) -> (Vec<f64>, u32) {
        let mut rng = Rng::new(1);
        windows(trips, most, |cwnd| (0..cwnd).filter(|_| rng.chance(eps)).count() as u32)
    }

    #[test]
    fn loss_that_stays_with_half_of_the_window_is_the_paths() {
        // It is asked again every ten seconds, and the answer takes a few round trips, be the window small.
        for (most, eps) in [(200.0, 0.4), (200.0, 0.5), (200.0, 0.6), (10.0, 0.5)] {
            let (windows, _) = lossy(10_000, most, eps);
            let whole = windows.iter().filter(|window| **window == most).count();
            assert!(whole > 8_500, "{most}, {eps}: {whole}");
        }
    }

    /// Wald's inequality: of sums that began, at most one in e^5 crosses the bound by chance.
    #[test]
    fn a_few_packets_lost_by_chance_are_not_heavy_loss() {
        let trips = 100_000;
        for (eps, most) in [(0.05, 0.0), (0.15, 1e-3), (LIGHT, libm::exp(-ALARM))] {
            let (_, cuts) = lossy(trips, 10.0, eps);
            assert!(f64::from(cuts) <= most * trips as f64, "{eps}: {cuts}");
        }
    }

    #[test]
    fn a_policers_rate_is_the_window() {
        // It lets 100 through: what is more than half of that again is answered.
        let (windows, cuts) = windows(400, 400.0, |cwnd| cwnd.saturating_sub(100));
        let least = windows[20..].iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least == 100.0 && cuts > 50, "{least}, {cuts}");
    }

    #[test]
    fn what_a_program_does_not_fill_tells_nothing() {
        let mut drops = Drops::default();
        for _ in 0..100 {
            let fate = Fate { delivered: 1, lost: 9 };
            let size = Size { cwnd: 10.0, slow_start: false };
            assert_eq!(drops.end_round_trip(Time::ZERO, size, fate, false), Answer::Stay);
        }
    }
}
