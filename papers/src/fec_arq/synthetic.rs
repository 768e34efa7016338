//! Five synthetic paths that were used to choose no parameter of any law: they are drawn from a seed by rules that were
//! written down before a law ran on them, and not changed since.
//!
//! Each has 15 000 packets, one every 20 ms, for five minutes. A path alternates between good and bad states of
//! exponentially distributed durations; the function of each path has the rest of its rule.
//!
//! | path | round trip | good, mean | bad, mean | lost in good | lost in bad |
//! |---|---|--:|--:|--:|--:|
//! | bursty | 80 ms, + 0 to 10 ms | 4 s | 160 ms | .1 % | 90 % |
//! | jittery | 60 ms, + exponential, mean 120 ms, at most 1 s more | - | - | 1 % | - |
//! | handover | 50 ms, + 0 to 15 ms; if bad, + the time until it ends + 40 ms | 10 s | 500 ms | .2 % | 20 % |
//! | policed | 100 ms | 6 s | 1 s | 0 | every third |
//! | satellite | 30 to 70 ms, redrawn every 15 s, + exponential, mean 4 ms | 12 s | 400 ms | .3 % | all |

use thalweg_core::rng::Rng;

use super::channel::Trip;
use super::recording::Recording;
use super::ticks::{SLOT, nearest, seconds};

/// The number of packets of a path.
const SLOTS: usize = 15_000;
/// The seed of the five paths.
const SEED: u64 = 20;

/// The good and bad states of a path.
struct Spells {
    rng: Rng,
    /// The mean durations of good and of bad states, in seconds.
    means: [f64; 2],
    is_bad: bool,
    until: f64,
}

impl Spells {
    fn new(rng: &Rng, good: f64, bad: f64) -> Spells {
        let mut rng = rng.fork("spells");
        let until = rng.exponential(good);
        Spells { rng, means: [good, bad], is_bad: false, until }
    }

    /// The end of the bad state at time `at`, if the state is bad. Times must not decrease.
    fn bad_until(&mut self, at: f64) -> Option<f64> {
        while self.until <= at {
            self.is_bad ^= true;
            self.until += self.rng.exponential(self.means[usize::from(self.is_bad)]);
        }
        self.is_bad.then_some(self.until)
    }
}

/// The five paths.
pub fn all() -> Vec<Recording> {
    drawn(SEED)
}

/// Draws the outcomes of a path's packets: lost or not, and the round-trip time in seconds.
type Rule = fn(Rng) -> Vec<(bool, f64)>;

/// The five paths drawn from `seed`.
fn drawn(seed: u64) -> Vec<Recording> {
    let root = Rng::new(seed).fork("synthetic");
    let rules: [(&str, Rule); 5] = [
        ("bursty", bursty),
        ("jittery", jittery),
        ("handover", handover),
        ("policed", policed),
        ("satellite", satellite),
    ];
    let recording = |(name, rule): (&str, Rule)| Recording {
        name: name.to_owned(),
        trips: rule(root.fork(name)).into_iter().map(|(lost, rtt)| Trip { lost, rtt: nearest(rtt) }).collect(),
    };
    rules.into_iter().map(recording).collect()
}

/// The time at which each packet is sent, in seconds.
fn departures() -> impl Iterator<Item = f64> {
    (0..SLOTS as u64).map(|slot| seconds(slot * SLOT))
}

fn bursty(mut rng: Rng) -> Vec<(bool, f64)> {
    let mut spells = Spells::new(&rng, 4.0, 0.16);
    let packet = |at| {
        let loss = if spells.bad_until(at).is_some() { 0.9 } else { 0.001 };
        (rng.chance(loss), 0.08 + 0.01 * rng.unit())
    };
    departures().map(packet).collect()
}

/// Packets are reordered.
fn jittery(mut rng: Rng) -> Vec<(bool, f64)> {
    departures().map(|_| (rng.chance(0.01), 0.06 + rng.exponential(0.12).min(1.0))).collect()
}

/// Packets sent during a handover are delayed until it is over, or lost.
fn handover(mut rng: Rng) -> Vec<(bool, f64)> {
    let mut spells = Spells::new(&rng, 10.0, 0.5);
    let packet = |at| {
        let end = spells.bad_until(at);
        let loss = if end.is_some() { 0.2 } else { 0.002 };
        let kept = end.map_or(0.0, |end| end - at + 0.04);
        (rng.chance(loss), 0.05 + 0.015 * rng.unit() + kept)
    };
    departures().map(packet).collect()
}

/// While there is other traffic, a policer passes two packets of three.
fn policed(rng: Rng) -> Vec<(bool, f64)> {
    let mut spells = Spells::new(&rng, 6.0, 1.0);
    let packet = |(nth, at): (usize, f64)| (spells.bad_until(at).is_some() && nth % 3 == 2, 0.1);
    departures().enumerate().map(packet).collect()
}

/// A different satellite every fifteen seconds, and at times none.
fn satellite(mut rng: Rng) -> Vec<(bool, f64)> {
    let mut spells = Spells::new(&rng, 12.0, 0.4);
    let (mut least, mut next) = (0.0, 0.0);
    let packet = |at| {
        if at >= next {
            (least, next) = (0.03 + 0.04 * rng.unit(), next + 15.0);
        }
        let loss = if spells.bad_until(at).is_some() { 1.0 } else { 0.003 };
        (rng.chance(loss), least + rng.exponential(0.004))
    };
    departures().map(packet).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loss of a path follows from the mean durations of its states. Standard errors follow from the number of
    /// state changes in five minutes, some 20 to 70, whose durations vary as much as their mean: 100 seeds bring them
    /// to a few hundredths.
    #[test]
    fn paths_lose_what_their_rules_say() {
        let expected = [
            0.001 + 0.899 * 0.16 / 4.16,
            0.01,
            0.002 + 0.198 * 0.5 / 10.5,
            1.0 / 7.0 / 3.0,
            0.003 + 0.997 * 0.4 / 12.4,
        ];
        let mut losses = [0.0; 5];
        for seed in 0..100 {
            for (loss, path) in losses.iter_mut().zip(drawn(seed)) {
                assert_eq!(path.trips.len(), SLOTS);
                *loss += path.loss() / 100.0;
            }
        }
        for (loss, expected) in losses.iter().zip(expected) {
            assert!((loss / expected - 1.0).abs() < 0.1, "{loss} for {expected}");
        }
    }

    #[test]
    fn the_same_seed_draws_the_same_paths() {
        assert_eq!(all(), all());
        assert_ne!(all(), drawn(SEED + 1));
    }
}
