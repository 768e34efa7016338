//! Finite transfers, as the short-lived TCP of GENEVA's evaluation: Poisson arrivals, Pareto sizes.
//!
//! | GENEVA §4 | here |
//! |---|---|
//! | new transfers a second | [`Load::arrivals`] |
//! | Pareto shape, 1.5 | [`Load::shape`] |
//! | mean transfer size in packets | [`Load::mean`] |
//!
//! The scale of the Pareto distribution, its minimum, follows from the mean: mean (shape - 1) / shape.

use core::fmt;

use thalweg_core::rng::Rng;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

/// The load that transfers make.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Load {
    /// New transfers a second on average, above 0 and at most [`MOST_ARRIVALS`].
    pub arrivals: f64,
    /// Shape of the Pareto distribution of the sizes, above 1, as otherwise there is no mean.
    pub shape: f64,
    /// Mean size in packets before the cap, 1 to [`MOST_PACKETS`].
    pub mean: f64,
    /// The maximum number of packets of a transfer, at least 1; larger ones are cut, which lowers the mean.
    pub most: Option<u64>,
}

/// The maximum arrival rate, more than any published scenario has.
pub const MOST_ARRIVALS: f64 = 1e6;
/// The maximum mean size, more than any published scenario has: 1.5 TB of full packets.
pub const MOST_PACKETS: f64 = 1e9;

/// A value of a [`Load`] that is impossible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unfit {
    /// The name of the value.
    pub name: &'static str,
    why: String,
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Unfit {}

impl Load {
    /// GENEVA's Fig. 2: 30 transfers a second of 40 packets each, a scale of 13.33 packets; 14.4 Mb/s at 1500 bytes.
    pub const GENEVA_FIG_2: Load = Load { arrivals: 30.0, shape: 1.5, mean: 40.0, most: None };

    /// GENEVA's Table 1 and Fig. 11: 500 Mb/s in packets of 1500 bytes, in `arrivals` transfers a second. The paper has
    /// 12.5 and 25, which makes 3333.3 and 1666.7 packets each.
    pub fn geneva_table_1(arrivals: f64) -> Load {
        Load::of(Rate::from_mbps(500), Bytes(1500), arrivals)
    }

    /// Transfers of the shape 1.5 that make up `rate` in packets of the size `packet`.
    pub fn of(rate: Rate, packet: Bytes, arrivals: f64) -> Load {
        let packets_a_second = rate.as_bps() as f64 / (8.0 * packet.0 as f64);
        Load { arrivals, shape: 1.5, mean: packets_a_second / arrivals, most: None }
    }

    /// The minimum size in packets before rounding.
    pub fn scale(&self) -> f64 {
        self.mean * (self.shape - 1.0) / self.shape
    }

    /// Checks that such transfers are possible.
    ///
    /// # Errors
    /// Names the value that is impossible, and its range.
    pub fn check(&self) -> Result<(), Unfit> {
        let Load { arrivals, shape, mean, most } = *self;
        let within = |name, what: &str, value: f64, range: &str, good: bool| match good {
            true => Ok(()),
            // A value with hundreds of digits is shortened.
            false if value >= 1e16 => Err(Unfit { name, why: format!("{what} is {value:e}, expected {range}") }),
            false => Err(Unfit { name, why: format!("{what} is {value}, expected {range}") }),
        };
        let come = arrivals > 0.0 && arrivals <= MOST_ARRIVALS;
        within("arrivals", "arrivals a second", arrivals, "above 0 and at most 1e6", come)?;
        within("shape", "shape", shape, "above 1 and finite", shape > 1.0 && shape.is_finite())?;
        within("mean", "mean size", mean, "1 to 1e9 packets", (1.0..=MOST_PACKETS).contains(&mean))?;
        within("most", "most", most.unwrap_or(1) as f64, "at least 1 packet", most != Some(0))
    }
}

/// One transfer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// The time at which it starts.
    pub start: Time,
    /// Its length in packets, at least 1.
    pub segments: u64,
}

/// The transfers that start before an end, in the order of their starts, drawn one at a time.
#[derive(Clone, PartialEq, Debug)]
pub struct Transfers {
    load: Load,
    /// Starts and sizes have random streams of their own, so that a cap or another shape moves no start.
    starts: Rng,
    sizes: Rng,
    last: Time,
    end: Time,
}

impl Transfers {
    /// Arrivals from time zero to `end`.
    ///
    /// # Errors
    /// The load does not pass [`Load::check`].
    pub fn new(load: Load, end: Time, rng: &Rng) -> Result<Transfers, Unfit> {
        load.check()?;
        Ok(Transfers { load, starts: rng.fork("starts"), sizes: rng.fork("sizes"), last: Time::ZERO, end })
    }
}

impl Iterator for Transfers {
    type Item = Transfer;

    fn next(&mut self) -> Option<Transfer> {
        if self.last >= self.end {
            return None;
        }
        self.last += Span::from_secs_f64(self.starts.exponential(1.0 / self.load.arrivals));
        let drawn = self.sizes.pareto(self.load.shape, self.load.scale());
        // `as` saturates.
        let segments = ((drawn + 0.5) as u64).clamp(1, self.load.most.unwrap_or(u64::MAX));
        (self.last < self.end).then_some(Transfer { start: self.last, segments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transfers(load: Load, seconds: u64) -> Vec<Transfer> {
        let end = Time::ZERO + Span::from_secs(seconds);
        Transfers::new(load, end, &Rng::new(5)).expect("a load").collect()
    }

    #[test]
    fn the_papers_loads_are_those_of_the_paper() {
        assert!((Load::GENEVA_FIG_2.scale() - 13.333).abs() < 0.001);
        assert!((Load::geneva_table_1(12.5).mean - 3333.3).abs() < 0.1);
        assert!((Load::geneva_table_1(25.0).mean - 1666.7).abs() < 0.1);
    }

    #[test]
    fn starts_are_in_order_within_the_time_and_as_many_as_the_rate_says() {
        let seen = transfers(Load::GENEVA_FIG_2, 2_000);
        assert!(seen.is_sorted_by_key(|transfer| transfer.start));
        assert!(seen.iter().all(|transfer| transfer.start < Time::ZERO + Span::from_secs(2_000)));
        // The count is Poisson with mean 60 000.
        assert!((seen.len() as f64 - 60_000.0).abs() < 5.0 * 60_000f64.sqrt(), "{}", seen.len());
    }

    #[test]
    fn starts_are_as_irregular_as_a_poisson_process() {
        let mut counts = vec![0.0f64; 2_000];
        for transfer in transfers(Load::GENEVA_FIG_2, 2_000) {
            counts[transfer.start.as_secs_f64() as usize] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / 2_000.0;
        let variance = counts.iter().map(|count| libm::pow(count - mean, 2.0)).sum::<f64>() / 1_999.0;
        // The index of dispersion is 1, with the variance of chi-square / degrees of freedom: 2 / 1999.
        assert!((variance / mean - 1.0).abs() < 5.0 * (2.0 / 1_999.0f64).sqrt(), "{}", variance / mean);
    }

    #[test]
    fn sizes_have_paretos_tail() {
        let seen = transfers(Load::GENEVA_FIG_2, 4_000);
        let n = seen.len() as f64;
        assert_eq!(seen.iter().map(|transfer| transfer.segments).min(), Some(13));
        for over in [20u64, 100, 1_000] {
            // Sizes are rounded: above `over` packets is from `over` + 0.5 on.
            let below = 40.0 / 3.0 / (over as f64 + 0.5);
            let share = below * below.sqrt();
            let seen = seen.iter().filter(|transfer| transfer.segments > over).count() as f64 / n;
            assert!((seen - share).abs() < 5.0 * (share * (1.0 - share) / n).sqrt(), "{over}: {seen}, {share}");
        }
    }

    #[test]
    fn capped_sizes_have_the_mean_of_the_capped_distribution() {
        // Without a cap the variance is infinite, and no number of transfers is enough to estimate the mean.
        let load = Load { most: Some(10_000), ..Load::GENEVA_FIG_2 };
        let sizes: Vec<f64> = transfers(load, 4_000).iter().map(|transfer| transfer.segments as f64).collect();
        let (n, scale, cap) = (sizes.len() as f64, 40.0f64 / 3.0, 10_000f64);
        // With c the cap and s the scale: E[min(X, c)] = 3 s - 2 s^1.5 c^-0.5, E[min(X, c)^2] = 4 s^1.5 c^0.5 - 3 s^2.
        let mean = 3.0 * scale - 2.0 * scale * (scale / cap).sqrt();
        let second = 4.0 * scale * (scale * cap).sqrt() - 3.0 * scale * scale;
        let seen = sizes.iter().sum::<f64>() / n;
        assert!((seen - mean).abs() < 5.0 * ((second - mean * mean) / n).sqrt(), "{seen}, {mean}");
        assert!(sizes.iter().all(|size| *size <= cap));
    }

    #[test]
    fn another_size_moves_no_start() {
        let starts = |load| transfers(load, 100).iter().map(|transfer| transfer.start).collect::<Vec<_>>();
        let other = Load { shape: 3.0, mean: 7.0, most: Some(20), ..Load::GENEVA_FIG_2 };
        assert_eq!(starts(Load::GENEVA_FIG_2), starts(other));
    }

    #[test]
    fn impossible_loads_are_refused_by_name() {
        let base = Load::GENEVA_FIG_2;
        for (load, why) in [
            (Load { arrivals: 0.0, ..base }, "arrivals a second is 0, expected above 0 and at most 1e6"),
            (Load { arrivals: f64::INFINITY, ..base }, "arrivals a second is inf, expected above 0 and at most 1e6"),
            (Load { shape: 1.0, ..base }, "shape is 1, expected above 1 and finite"),
            (Load { mean: f64::NAN, ..base }, "mean size is NaN, expected 1 to 1e9 packets"),
            (Load { mean: 1e10, ..base }, "mean size is 10000000000, expected 1 to 1e9 packets"),
            (Load { mean: 1e300, ..base }, "mean size is 1e300, expected 1 to 1e9 packets"),
            (Load { most: Some(0), ..base }, "most is 0, expected at least 1 packet"),
        ] {
            assert_eq!(Transfers::new(load, Time::ZERO, &Rng::new(1)).expect_err(why).to_string(), why);
        }
    }
}
