//! Delays of in-order delivery: the time until bytes and all that was written before them have arrived.

use core::fmt;

use hdrhistogram::Histogram;

use crate::time::Span;

/// The longest delay that the histogram distinguishes. Ours: as long as a tunnel's stream may be without an
/// association.
const LONGEST: Span = Span::from_secs(60);

/// Delays of in-order delivery, one for each original: from the write of its first byte until all originals up to it
/// are known to have arrived, less half a round trip for the acknowledgement.
#[derive(Clone, PartialEq, Default)]
pub struct Delays {
    histogram: Option<Box<Histogram<u32>>>,
    steps: Steps,
}

/// A histogram in fixed steps: the number of delays above one bound and not above the next, and their sum.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Steps {
    /// The counts by [`Steps::BOUNDS`]; the last is that of delays above all bounds.
    pub counts: [u64; Steps::BOUNDS.len() + 1],
    /// The sum of all delays, not capped.
    pub sum: Span,
}

impl Steps {
    /// The bounds of the steps, ascending: from half a round trip within a town, 1, 2 and 5 of each decade up to ten
    /// seconds, then a minute.
    pub const BOUNDS: [Span; 14] = [
        Span::from_millis(1),
        Span::from_millis(2),
        Span::from_millis(5),
        Span::from_millis(10),
        Span::from_millis(20),
        Span::from_millis(50),
        Span::from_millis(100),
        Span::from_millis(200),
        Span::from_millis(500),
        Span::from_secs(1),
        Span::from_secs(2),
        Span::from_secs(5),
        Span::from_secs(10),
        Span::from_secs(60),
    ];

    fn record(&mut self, delay: Span) {
        let step = Steps::BOUNDS.partition_point(|bound| *bound < delay);
        self.counts[step] += 1;
        self.sum += delay;
    }

    /// The sum of two histograms.
    #[must_use]
    pub fn plus(self, more: &Steps) -> Steps {
        let counts = core::array::from_fn(|step| self.counts[step] + more.counts[step]);
        Steps { counts, sum: self.sum + more.sum }
    }
}

impl Delays {
    pub(super) fn record(&mut self, delay: Span) {
        self.steps.record(delay);
        if self.histogram.is_none() {
            let most = LONGEST.as_micros();
            // Two significant figures, in some 10 kB.
            self.histogram = Histogram::new_with_bounds(1, most, 2).ok().map(Box::new);
        }
        if let Some(histogram) = &mut self.histogram {
            histogram.saturating_record(delay.as_micros().max(1));
        }
    }

    /// The number of delays.
    pub fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// The exact counts in fixed steps.
    pub fn steps(&self) -> &Steps {
        &self.steps
    }

    /// The delay that a share `quantile`, from 0 to 1, of all delays does not exceed; none before the first delay.
    pub fn quantile(&self, quantile: f64) -> Option<Span> {
        let histogram = self.histogram.as_ref()?;
        Some(Span::from_micros(histogram.value_at_quantile(quantile.clamp(0.0, 1.0))))
    }
}

impl fmt::Debug for Delays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delays").field("count", &self.count()).field("median", &self.quantile(0.5)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_accurate_to_one_percent() {
        let mut delays = Delays::default();
        assert_eq!((delays.count(), delays.quantile(0.5)), (0, None));
        (1..=100).for_each(|millis| delays.record(Span::from_millis(millis)));
        delays.record(LONGEST * 10);
        let near = |quantile, millis: f64| {
            let found = delays.quantile(quantile).expect("some").as_millis_f64();
            assert!((found - millis).abs() <= millis / 100.0, "{found}");
        };
        near(0.5, 51.0);
        near(0.99, 100.0);
        assert_eq!(delays.count(), 101);
    }

    #[test]
    fn histogram_steps_are_exact_and_include_their_upper_bound() {
        let mut delays = Delays::default();
        (1..=100).for_each(|millis| delays.record(Span::from_millis(millis)));
        delays.record(LONGEST * 10);
        let steps = *delays.steps();
        // In milliseconds: 1; 2; 3 to 5; 6 to 10; 11 to 20; 21 to 50; 51 to 100; and one of ten minutes.
        assert_eq!(steps.counts, [1, 1, 3, 5, 10, 30, 50, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(steps.sum, Span::from_millis(5050) + LONGEST * 10);
        assert_eq!(steps.plus(&steps).counts.iter().sum::<u64>(), 2 * delays.count());
        assert!(Steps::BOUNDS.is_sorted());
    }
}
