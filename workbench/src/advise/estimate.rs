//! Intervals of predicted values.

use thalweg_lab::statistics::Estimate;

/// The number of losses below which no rate is stated.
const FEW: u64 = 20;
/// The widest interval of a rate, as a factor.
const WIDEST: f64 = 10.0;

/// A value, and the interval in which a second measurement of the same length finds it, 95 % of the time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// The value.
    pub value: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
}

/// A share of the packets that are lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// The share, if there were enough losses for one.
    Rate(Interval),
    /// An upper bound, as there were too few losses for a rate.
    FewerThan(Interval),
}

impl Interval {
    /// The interval around `value`, of which `parts` are the values of equal parts of the time.
    pub fn of(value: f64, parts: impl IntoIterator<Item = f64>) -> Interval {
        // The mean of a second measurement varies as much as that of the first.
        let half = Estimate::of(parts).half_width * core::f64::consts::SQRT_2;
        Interval { value, low: value - half, high: value + half }
    }

    /// True if `value` is within the interval.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

impl Loss {
    /// The loss of `packets` packets, from the losses of equal parts of the time.
    ///
    /// Losses come in groups. A sum S of variance V is as exact as S^2 / V single losses by chance, as if all groups had V / S
    /// packets; and the square root of such a number has nearly the variance 1/4 (M. S. Bartlett, Supplement to the Journal
    /// of the Royal Statistical Society 3, 1936). Too few losses do not show their groups: these have at least `group` packets.
    pub fn of(packets: u64, losses: &[u64], group: f64) -> Loss {
        let total: u64 = losses.iter().sum();
        let mean = total as f64 / losses.len().max(1) as f64;
        let variance: f64 = losses.iter().map(|loss| (*loss as f64 - mean) * (*loss as f64 - mean)).sum();
        let share = |losses: f64| (losses / packets.max(1) as f64).min(1.0);
        let least = if total < FEW { group } else { 1.0 };
        let size = (variance / total.max(1) as f64).max(least);
        let groups = total as f64 / size;
        // 1.96 standard deviations of the difference of two such roots.
        let (root, half) = ((groups + 0.375).sqrt(), 1.96 * 0.5_f64.sqrt());
        let bound = |root: f64| (root.max(0.0) * root.max(0.0) - 0.375).max(0.0) * size;
        let (low, high) = (share(bound(root - half)), share(bound(root + half)));
        let interval = Interval { value: share(total as f64), low, high };
        let is_rate = total >= FEW && high <= WIDEST * low;
        if is_rate { Loss::Rate(interval) } else { Loss::FewerThan(interval) }
    }

    /// The share that was seen, with its interval.
    pub fn interval(&self) -> Interval {
        let (Loss::Rate(interval) | Loss::FewerThan(interval)) = self;
        *interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use thalweg_core::rng::Rng;

    /// The losses of a hundred parts, in groups of `size` that come by chance, `groups` on average.
    fn groups(rng: &mut Rng, groups: f64, size: u64) -> Vec<u64> {
        (0..100).map(|_| size * (0..10).filter(|_| rng.unit() < groups / 1000.0).count() as u64).collect()
    }

    #[test]
    fn few_losses_have_a_bound_and_no_rate() {
        // Of no loss: (0.612 + 1.386)^2 - 3/8 losses, a little more than the 3.0 of the rule of three.
        let Loss::FewerThan(none) = Loss::of(1000, &[0; 50], 1.0) else { panic!("a rate of nothing") };
        assert!((none.high - 0.0036).abs() < 1e-4 && none.low == 0.0 && none.value == 0.0, "{none:?}");
        // In groups of three, three times as many.
        assert!((Loss::of(1000, &[0; 50], 3.0).interval().high - 0.0108).abs() < 3e-4);
        // Half a group of four: ((0.5 + 3/8)^(1/2) + 1.386)^2 - 3/8 groups.
        assert!((Loss::of(1000, &[1, 1, 0, 0], 4.0).interval().high - 0.0201).abs() < 1e-4);
        assert!(matches!(Loss::of(1000, &[1; 19], 1.0), Loss::FewerThan(_)));
        assert!(matches!(Loss::of(1000, &[1; 20], 1.0), Loss::Rate(_)));
        // A single group of a hundred losses says little.
        assert!(matches!(Loss::of(1000, &[0, 100, 0], 1.0), Loss::FewerThan(_)));
    }

    #[test]
    fn a_second_measurement_is_within_the_interval_19_times_in_20() {
        let mut rng = Rng::new(1).fork("losses");
        for (number, size) in [(30.0, 1), (30.0, 5), (100.0, 3)] {
            let inside = (0..2000).filter(|_| {
                let interval = Loss::of(100_000, &groups(&mut rng, number, size), 1.0).interval();
                interval.contains(groups(&mut rng, number, size).iter().sum::<u64>() as f64 / 1e5)
            });
            let share = inside.count() as f64 / 2000.0;
            assert!((0.92..=0.98).contains(&share), "{number} groups of {size}: {share}");
        }
    }

    proptest! {
        #[test]
        fn bounds_enclose_what_was_seen(losses in proptest::collection::vec(0u64..50, 1..60), more in 1u64..10_000) {
            let packets = losses.iter().sum::<u64>() + more;
            let interval = Loss::of(packets, &losses, 1.0).interval();
            prop_assert!(interval.contains(interval.value) && interval.high <= 1.0, "{interval:?}");
        }
    }
}
