//! Heavy loss without a queue: a link that drops what is more than its rate, or a path that loses whatever is sent.
//!
//! A policer lets its rate through, so that of less it drops next to nothing. A path that loses by itself loses the same part of less. So
//! the window is taken down to what was let through, and the loss of the smaller one says which it is.

use crate::time::{Span, Time};

/// Loss that is answered, of what the path does not lose by itself.
const HEAVY: f64 = 1.0 / 3.0;
/// Of the loss of a window that a policer let through this is too much: the path's own.
const OWN: f64 = 1.0 / 4.0;
/// More than this no path loses by itself: many senders may fill a policer, and none of them alone empties it.
const MOST: f64 = 3.0 / 4.0;
/// This part of the loss before is the same loss.
const SAME: f64 = 3.0 / 4.0;
/// Packets that make an answer.
const ENOUGH: u32 = 32;
/// Round trips after which what is acknowledged was sent with the smaller window, its losses included.
const LAG: u32 = 2;
/// For how long an answer is good: the path may have changed.
const GOOD: Span = Span::from_secs(10);

/// What is known of a path's loss.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Drops {
    trial: Option<Trial>,
    /// The loss that is the path's own, and until when that is believed.
    own: f64,
    until: Time,
}

/// A window that was taken down.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Trial {
    cwnd: f64,
    slow_start: bool,
    loss: f64,
    lag: u32,
    delivered: u32,
    lost: u32,
}

/// What becomes of the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Answer {
    /// Nothing.
    Stay,
    /// It is what was let through.
    Cut,
    /// It is again what it was: the cut was in vain.
    Restore {
        /// The window.
        cwnd: f64,
        /// Whether it was in slow start.
        slow_start: bool,
    },
}

fn share(delivered: u32, lost: u32) -> f64 {
    f64::from(lost) / f64::from(delivered + lost).max(1.0)
}

impl Drops {
    /// Whether the window was taken down and there is no answer yet: it stays as it is.
    pub(super) fn asks(&self) -> bool {
        self.trial.is_some()
    }

    /// Takes the end of a round trip under `cwnd`, in which so many packets were delivered and lost.
    pub(super) fn end_round_trip(&mut self, now: Time, cwnd: f64, slow_start: bool, fate: (u32, u32)) -> Answer {
        let (delivered, lost) = fate;
        if now >= self.until {
            self.own = 0.0;
        }
        let Some(trial) = &mut self.trial else {
            let loss = share(delivered, lost);
            if loss <= self.own + (1.0 - self.own) * HEAVY {
                return Answer::Stay;
            }
            self.trial = Some(Trial { cwnd, slow_start, loss, lag: LAG, delivered: 0, lost: 0 });
            return Answer::Cut;
        };
        if trial.lag > 0 {
            trial.lag -= 1;
            return Answer::Stay;
        }
        (trial.delivered, trial.lost) = (trial.delivered + delivered, trial.lost + lost);
        if trial.delivered + trial.lost < ENOUGH {
            return Answer::Stay;
        }
        let (Trial { cwnd, slow_start, loss, .. }, left) = (*trial, share(trial.delivered, trial.lost));
        self.trial = None;
        if left <= OWN || left > MOST {
            return Answer::Stay;
        }
        (self.own, self.until) = (left, now + GOOD);
        if left >= loss * SAME { Answer::Restore { cwnd, slow_start } } else { Answer::Stay }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Round trips of 50 ms of a window that doubles while nothing is answered, up to `most`; `lost` says how many of it are. The least
    /// window after the twentieth.
    fn least(most: f64, lost: impl Fn(f64) -> f64) -> f64 {
        let (mut drops, mut cwnd, mut least) = (Drops::default(), 10.0, f64::INFINITY);
        for nth in 0..400 {
            let gone = lost(cwnd);
            let fate = ((cwnd - gone) as u32, gone as u32);
            match drops.end_round_trip(Time::ZERO + Span::from_millis(50 * nth), cwnd, false, fate) {
                Answer::Stay if drops.asks() => {}
                Answer::Stay => cwnd = (cwnd * 2.0).min(most),
                Answer::Cut => cwnd = f64::from(fate.0),
                Answer::Restore { cwnd: before, .. } => cwnd = before,
            }
            least = if nth < 20 { f64::INFINITY } else { least.min(cwnd) };
        }
        least
    }

    #[test]
    fn loss_that_stays_with_half_of_the_window_is_the_paths() {
        // It is asked again now and then.
        for eps in [0.4, 0.5, 0.6] {
            assert!(least(200.0, |cwnd| cwnd * eps) >= 200.0 * (1.0 - eps) - 1.0, "{eps}");
        }
    }

    #[test]
    fn a_policers_rate_is_the_window() {
        // It lets 100 through: what is more than half of that again is answered.
        assert_eq!(least(400.0, |cwnd| (cwnd - 100.0).max(0.0)), 100.0);
    }
}
