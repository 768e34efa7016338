//! How long bytes take until they have arrived with all that was written before them.

use core::fmt;

use hdrhistogram::Histogram;

use crate::time::Span;

/// The longest that is told apart.
const LONGEST: Span = Span::from_secs(60);

/// Delays of in-order delivery, one for each original: from when its first byte was written to when all up to it is known
/// to have arrived, less half the round trip that the news of it takes.
#[derive(Clone, PartialEq, Default)]
pub struct Delays(Option<Box<Histogram<u32>>>);

impl Delays {
    pub(super) fn record(&mut self, delay: Span) {
        if self.0.is_none() {
            let most = LONGEST.as_micros();
            // Two figures of it, in some 10 kB.
            self.0 = Histogram::new_with_bounds(1, most, 2).ok().map(Box::new);
        }
        if let Some(histogram) = &mut self.0 {
            histogram.saturating_record(delay.as_micros().max(1));
        }
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.0.as_ref().map_or(0, |histogram| histogram.len())
    }

    /// The delay that a share of `quantile`, from 0 to 1, does not exceed; none before there was any.
    pub fn quantile(&self, quantile: f64) -> Option<Span> {
        let histogram = self.0.as_ref()?;
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
    fn quantiles_are_told_with_two_figures() {
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
}
