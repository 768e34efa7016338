//! Poisson traffic: independent packets, as of very many users who each send little.

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::Source;

/// Equal packets at exponential distances.
#[derive(Clone, PartialEq, Debug)]
pub struct Poisson {
    packet: Bytes,
    /// Mean distance of two packets.
    gap: Span,
    rng: Rng,
    next: Time,
}

impl Poisson {
    /// Packets of the size `packet`, headers included, at `rate` on average; a source that has been running forever at
    /// time zero.
    pub fn new(rate: Rate, packet: Bytes, rng: Rng) -> Poisson {
        let mut source = Poisson { packet, gap: rate.time_for(packet), rng, next: Time::ZERO };
        // Exponential distances are memoryless: the rest of one is distributed as a whole one.
        source.advance();
        source
    }

    fn advance(&mut self) {
        self.next += Span::from_secs_f64(self.rng.exponential(self.gap.as_secs_f64()));
    }
}

impl Source for Poisson {
    fn next(&self) -> Time {
        self.next
    }

    fn emit(&mut self) -> Bytes {
        self.advance();
        self.packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets in each of `windows` windows of a length that holds ten of them on average.
    fn counts(windows: usize) -> Vec<f64> {
        let mut source = Poisson::new(Rate::from_mbps(12), Bytes(1500), Rng::new(4));
        let mut counts = vec![0.0; windows];
        while let Some(count) = counts.get_mut((source.next().as_nanos() / 10_000_000) as usize) {
            assert_eq!(source.emit(), Bytes(1500));
            *count += 1.0;
        }
        counts
    }

    #[test]
    fn counts_have_the_mean_of_the_rate_and_an_index_of_dispersion_of_one() {
        let windows = 20_000;
        let counts = counts(windows);
        let n = windows as f64;
        let mean = counts.iter().sum::<f64>() / n;
        let variance = counts.iter().map(|count| libm::pow(count - mean, 2.0)).sum::<f64>() / (n - 1.0);
        // A Poisson count of mean 10 has variance 10.
        assert!((mean - 10.0).abs() < 5.0 * (10.0 / n).sqrt(), "{mean}");
        // (n - 1) D is chi-square with n - 1 degrees of freedom, whose variance is 2 (n - 1).
        assert!((variance / mean - 1.0).abs() < 5.0 * (2.0 / (n - 1.0)).sqrt(), "{}", variance / mean);
    }

    #[test]
    fn neighbouring_windows_know_nothing_of_each_other() {
        let counts = counts(20_000);
        let products: f64 = counts.windows(2).map(|pair| (pair[0] - 10.0) * (pair[1] - 10.0)).sum();
        // The correlation of n independent pairs has standard error 1 / sqrt(n).
        let correlation = products / 10.0 / 19_999.0;
        assert!(correlation.abs() < 5.0 / 19_999f64.sqrt(), "{correlation}");
    }

    #[test]
    fn a_rate_of_zero_never_sends_within_a_run() {
        assert!(
            Poisson::new(Rate::from_bps(0), Bytes(1500), Rng::new(1)).next() > Time::ZERO + Span::from_secs(86_400)
        );
    }
}
