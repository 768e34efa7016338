//! The trial of a loss without delay: is the path full, or does it lose at random?
//!
//! The gate of [`R3cp`](crate::law::rate::r3cp::R3cp) takes loss without a queue for random. A full link with a short queue
//! looks the same. Where the loss stays for three seconds, the rate is reduced for a while: congestion falls with it,
//! random loss does not.

use crate::law::rate::r3cp::HEAVY_LOSS;
use crate::time::{Span, Time};

/// The time for which a loss must last before a trial. Also the time without it after which the path has changed.
const LASTING: Span = Span::from_secs(3);
/// The periods of a trial, at the least.
const PERIODS: u32 = 2;
/// The losses that a trial expects if nothing changes.
// Ours: at 130 packets per second and 5 % of loss two periods hold two or three losses, from which nothing follows. Of 30
// expected ones fewer than ten have a probability below 10^-5 (Poisson), and still of 2 in 1000 if the ratio before was too
// high by half. A false verdict costs seconds of pictures.
const EXPECTED: f64 = 30.0;
/// The share of the expected losses below which the loss has fallen with the rate.
const FALLEN: f64 = 1.0 / 3.0;

/// A measured period.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Measured {
    /// Packets sent and received.
    pub(super) packets: (u64, u64),
    /// The round trip above its minimum.
    pub(super) delay: Span,
}

/// The gate: the delay from which on loss counts as congestion, and the loss that matters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Gate {
    pub(super) delay: Span,
    pub(super) p_high: f64,
}

/// Packets and losses of a span.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Count {
    sent: u64,
    lost: u64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// No verdict; the loss has lasted since that time.
    Watching(Option<(Time, Count)>),
    /// The rate is reduced. The loss ratio before, and the periods and packets since.
    Reduced { before: f64, periods: u32, count: Count },
    /// The loss is random, or congestion, until the path changes: it has not been so since that time. The packets since the
    /// last look at the loss.
    Decided { is_congestion: bool, ratio: f64, gone: Option<Time>, count: Count },
}

/// The state of the trial.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Trial(Phase);

impl Default for Trial {
    fn default() -> Trial {
        Trial(Phase::Watching(None))
    }
}

impl Count {
    fn add(&mut self, (sent, received): (u64, u64)) {
        self.sent += sent;
        self.lost += sent.saturating_sub(received);
    }

    fn ratio(self) -> f64 {
        self.lost as f64 / self.sent.max(1) as f64
    }

    /// True if the ratio has fallen from `before`; none while too few losses were to be expected.
    fn has_fallen_from(self, before: f64) -> Option<bool> {
        let expected = before * self.sent as f64;
        (expected >= EXPECTED).then_some((self.lost as f64) < FALLEN * expected)
    }
}

impl Phase {
    fn decided(is_congestion: bool, ratio: f64) -> Phase {
        Phase::Decided { is_congestion, ratio, gone: None, count: Count::default() }
    }
}

impl Trial {
    /// True while the rate is to be reduced.
    pub(super) fn is_reduced(&self) -> bool {
        matches!(self.0, Phase::Reduced { .. })
    }

    /// True if loss without delay is congestion.
    pub(super) fn is_congestion(&self) -> bool {
        matches!(self.0, Phase::Decided { is_congestion: true, .. })
    }

    /// Takes a measured period of a path with `gate`.
    pub(super) fn measure(&mut self, now: Time, measured: &Measured, gate: Gate) {
        let mut period = Count::default();
        period.add(measured.packets);
        let is_shut = measured.delay < gate.delay;
        self.0 = match self.0 {
            Phase::Watching(_) if !is_shut => Phase::Watching(None),
            Phase::Watching(watched) => {
                let (since, mut count) = watched.unwrap_or((now, Count::default()));
                count.add(measured.packets);
                match count.ratio() {
                    ratio if ratio <= gate.p_high || ratio > HEAVY_LOSS => Phase::Watching(None),
                    // So many losses are needed for a ratio that is not a matter of chance.
                    before if now.since(since) >= LASTING && count.lost as f64 >= EXPECTED => {
                        Phase::Reduced { before, periods: 0, count: Count::default() }
                    }
                    _ => Phase::Watching(Some((since, count))),
                }
            }
            Phase::Reduced { before, periods, mut count } => {
                // The first period still measures what was sent before.
                if periods > 0 {
                    count.add(measured.packets);
                }
                match count.has_fallen_from(before).filter(|_| periods >= PERIODS) {
                    Some(is_congestion) => Phase::decided(is_congestion, before),
                    None => Phase::Reduced { before, periods: periods + 1, count },
                }
            }
            Phase::Decided { is_congestion, ratio, gone, mut count } => {
                // Random loss has another cause once it has doubled, congestion is over once nothing is lost.
                let has_changed = match is_congestion {
                    true => period.lost == 0,
                    false => period.ratio() > (2.0 * ratio).max(gate.p_high) && is_shut,
                };
                let gone = if has_changed { gone.or(Some(now)) } else { None };
                count.add(measured.packets);
                match count.has_fallen_from(ratio) {
                    _ if gone.is_some_and(|since| now.since(since) >= LASTING) => Phase::Watching(None),
                    // The rate has fallen further, and the loss has not: the trial was in error.
                    Some(false) if is_congestion => Phase::decided(false, ratio),
                    Some(_) => Phase::Decided { is_congestion, ratio, gone, count: Count::default() },
                    None => Phase::Decided { is_congestion, ratio, gone, count },
                }
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::*;

    const GATE: Gate = Gate { delay: Span::from_millis(30), p_high: 0.04 };

    /// Runs ten periods per second of 20 packets for `seconds` from `start`; each loses what `lost` says.
    fn run(trial: &mut Trial, start: u64, seconds: u64, delay: Span, lost: impl Fn(&Trial, u64) -> u64) {
        for nth in start * 10..(start + seconds) * 10 {
            let now = Time::ZERO + Span::from_millis(100) * nth;
            let measured = Measured { packets: (20, 20 - lost(trial, nth)), delay };
            trial.measure(now, &measured, GATE);
        }
    }

    #[test]
    fn loss_that_falls_with_the_rate_is_congestion_until_it_ends() {
        let mut trial = Trial::default();
        let full = |trial: &Trial, _| u64::from(!trial.is_reduced() && !trial.is_congestion());
        run(&mut trial, 0, 3, Span::ZERO, full);
        assert!(!trial.is_reduced() && !trial.is_congestion(), "not yet three seconds");
        run(&mut trial, 3, 4, Span::ZERO, full);
        // At a loss of 1/20 thirty losses are expected in 600 packets, which take three seconds.
        assert!(trial.is_congestion());
        run(&mut trial, 7, 9, Span::ZERO, |_, nth| u64::from(nth % 8 == 0));
        assert!(trial.is_congestion(), "as long as anything is lost");
        run(&mut trial, 16, 4, Span::ZERO, |_, _| 0);
        assert!(!trial.is_congestion());
    }

    #[test]
    fn loss_that_stays_at_the_lower_rate_was_random_after_all() {
        let mut trial = Trial::default();
        // By chance nothing is lost during the trial.
        run(&mut trial, 0, 7, Span::ZERO, |trial, _| u64::from(!trial.is_reduced()));
        assert!(trial.is_congestion());
        run(&mut trial, 7, 4, Span::ZERO, |_, _| 1);
        assert!(!trial.is_congestion() && !trial.is_reduced());
    }

    #[test]
    fn loss_that_stays_is_random_until_it_doubles() {
        let mut trial = Trial::default();
        run(&mut trial, 0, 7, Span::ZERO, |_, _| 1);
        assert!(!trial.is_congestion() && !trial.is_reduced());
        run(&mut trial, 7, 58, Span::ZERO, |_, _| 1);
        assert!(!trial.is_reduced(), "one trial suffices");
        let tried = Cell::new(false);
        run(&mut trial, 65, 8, Span::ZERO, |trial, _| {
            tried.set(tried.get() || trial.is_reduced());
            4
        });
        assert!(tried.get(), "another loss, another trial");
    }

    #[test]
    fn no_trial_is_made_with_a_queue_or_below_the_threshold() {
        let mut trial = Trial::default();
        run(&mut trial, 0, 20, Span::from_millis(40), |_, _| 2);
        run(&mut trial, 20, 20, Span::ZERO, |_, nth| u64::from(nth % 2 == 0));
        assert!(matches!(trial.0, Phase::Watching(_)), "{trial:?}");
    }
}
