//! Delays of one flow: their mean and their quantiles, in memory that does not grow.

use core::fmt;

use hdrhistogram::Histogram;
use thalweg_core::time::Span;

/// The longest delay that the histogram distinguishes.
const LONGEST: Span = Span::from_secs(60);
/// Quantiles are accurate to three significant figures.
const FIGURES: u8 = 3;

/// A histogram of delays, with their exact sum.
#[derive(Clone, PartialEq, Default)]
pub struct Delays {
    histogram: Option<Box<Histogram<u32>>>,
    sum: Span,
}

impl Delays {
    /// Counts one more delay.
    pub fn record(&mut self, delay: Span) {
        self.sum += delay;
        if self.histogram.is_none() {
            self.histogram = Histogram::new_with_bounds(1, LONGEST.as_micros(), FIGURES).ok().map(Box::new);
        }
        if let Some(histogram) = &mut self.histogram {
            histogram.saturating_record(delay.as_micros().max(1));
        }
    }

    /// Subtracts an `earlier` state of the same histogram.
    pub fn subtract(&mut self, earlier: &Delays) {
        self.sum = self.sum.saturating_sub(earlier.sum);
        if let (Some(histogram), Some(earlier)) = (&mut self.histogram, &earlier.histogram) {
            // Both have the same bounds, and an earlier state has no larger counts.
            let _ = histogram.subtract(&**earlier);
        }
    }

    /// The number of delays.
    pub fn count(&self) -> u64 {
        self.histogram.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// The different delays, in ascending order, with the number of each; accurate to three significant figures.
    pub fn counts(&self) -> impl Iterator<Item = (Span, u64)> {
        let recorded = self.histogram.iter().flat_map(|histogram| histogram.iter_recorded());
        recorded.map(|step| (Span::from_micros(step.value_iterated_to()), step.count_at_value().into()))
    }

    /// The mean in seconds; NaN without delays.
    pub fn mean(&self) -> f64 {
        self.sum.as_secs_f64() / self.count() as f64
    }

    /// The delay in seconds that a share `quantile` of all delays does not exceed; NaN without delays.
    pub fn quantile(&self, quantile: f64) -> f64 {
        let histogram = self.histogram.as_ref().filter(|histogram| !histogram.is_empty());
        histogram.map_or(f64::NAN, |it| Span::from_micros(it.value_at_quantile(quantile.clamp(0.0, 1.0))).as_secs_f64())
    }
}

impl fmt::Debug for Delays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delays").field("count", &self.count()).field("mean", &self.mean()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_has_the_mean_and_the_quantiles_of_its_own_delays() {
        let mut delays = Delays::default();
        assert!(delays.mean().is_nan() && delays.quantile(0.5).is_nan());
        (1..=50).for_each(|millis| delays.record(Span::from_millis(1_000 + millis)));
        let earlier = delays.clone();
        (1..=100).for_each(|millis| delays.record(Span::from_millis(millis)));
        delays.subtract(&earlier);
        assert_eq!(delays.count(), 100);
        // The mean of 1 to 100 is 50.5.
        assert!((delays.mean() - 0.050_5).abs() < 1e-9, "{}", delays.mean());
        for (quantile, seconds) in [(0.5, 0.050), (0.95, 0.095), (0.99, 0.099)] {
            let found = delays.quantile(quantile);
            assert!((found / seconds - 1.0).abs() < 1e-3, "{quantile}: {found}");
        }
    }
}
