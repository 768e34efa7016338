//! Means over seeds, and verdicts on claims about them.

pub mod delays;
pub mod transit;

/// A mean over seeds with its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The mean; NaN without values.
    pub mean: f64,
    /// Half the width of the interval by Student's t; infinite for a single value.
    pub half_width: f64,
    /// The number of values.
    pub count: usize,
}

/// The verdict of paired seeds on a claim, such as that one value is above another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The whole interval lies on the claimed side.
    Holds,
    /// The whole interval lies on the other side.
    Contradicted,
    /// The interval contains the boundary.
    Undecided,
}

impl Verdict {
    /// The name of the verdict.
    pub const fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Contradicted => "contradicted",
            Verdict::Undecided => "undecided",
        }
    }

    /// The verdict on several claims that must all hold.
    pub fn and(self, other: Verdict) -> Verdict {
        match (self, other) {
            (Verdict::Contradicted, _) | (_, Verdict::Contradicted) => Verdict::Contradicted,
            (Verdict::Undecided, _) | (_, Verdict::Undecided) => Verdict::Undecided,
            _ => Verdict::Holds,
        }
    }
}

impl Estimate {
    /// The estimate of the mean that `values` were drawn around; NaN values do not count.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Estimate {
        let values: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
        let count = values.len();
        let n = count as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let half_width = match count {
            0 => f64::NAN,
            1 => f64::INFINITY,
            _ => student_95(count - 1) * (squares / (n - 1.0) / n).sqrt(),
        };
        Estimate { mean, half_width, count }
    }

    /// The estimate of the difference `first - second` of paired values, seed by seed.
    pub fn of_difference(first: &[f64], second: &[f64]) -> Estimate {
        Estimate::of(first.iter().zip(second).map(|(first, second)| first - second))
    }

    /// The verdict on the claim that the mean is below `bound`.
    pub fn below(&self, bound: f64) -> Verdict {
        if self.mean + self.half_width < bound {
            Verdict::Holds
        } else if self.mean - self.half_width > bound {
            Verdict::Contradicted
        } else {
            Verdict::Undecided
        }
    }

    /// The verdict on the claim that the mean is above `bound`.
    pub fn above(&self, bound: f64) -> Verdict {
        Estimate { mean: -self.mean, ..*self }.below(-bound)
    }
}

/// Jain's fairness index of several shares: 1 if all are equal, 1/n if one has everything (R. Jain, D. Chiu, W. Hawe,
/// DEC-TR-301, 1984). NaN if all shares are zero.
pub fn jain(shares: impl Iterator<Item = f64> + Clone) -> f64 {
    let (sum, squares) = (shares.clone().sum::<f64>(), shares.clone().map(|share| share * share).sum::<f64>());
    sum * sum / (shares.count() as f64 * squares)
}

/// The 97.5 % quantile of Student's t, by degrees of freedom (any table of it, to three digits); from 30 on by the
/// Cornish-Fisher expansion around the normal quantile, which agrees with the tables to three digits there.
fn student_95(freedom: usize) -> f64 {
    const TABLE: [f64; 29] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045,
    ];
    const NORMAL: f64 = 1.959_964;
    TABLE.get(freedom.wrapping_sub(1)).copied().unwrap_or_else(|| {
        let (z, n) = (NORMAL, freedom as f64);
        let (square, cube) = (z * z, z * z * z);
        let first = cube + z;
        let second = 5.0 * cube * square + 16.0 * cube + 3.0 * z;
        z + first / (4.0 * n) + second / (96.0 * n * n)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_students() {
        // Student, Biometrika 6 (1908): ten paired differences of sleep with a mean of 1.58 and a t of 4.06.
        let differences = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let estimate = Estimate::of(differences);
        assert!((estimate.mean - 1.58).abs() < 1e-9);
        let t = estimate.mean / (estimate.half_width / 2.262);
        assert!((t - 4.06).abs() < 0.005, "{t}");
        assert_eq!(estimate.above(0.0), Verdict::Holds);
        assert_eq!(estimate.below(0.0), Verdict::Contradicted);
        assert_eq!(estimate.above(1.5), Verdict::Undecided);
    }

    /// The report's §3: if k of n users have the same share and the others nothing, the index is k/n; for 1, 2 and 3,
    /// 36 / 42.
    #[test]
    fn an_index_of_fairness_is_jains() {
        assert_eq!(jain([5.0, 5.0, 0.0, 0.0].into_iter()), 0.5);
        assert!((jain([1.0, 2.0, 3.0].into_iter()) - 36.0 / 42.0).abs() < 1e-12);
        assert_eq!(jain([7.0].into_iter()), 1.0);
        assert!(jain([0.0; 3].into_iter()).is_nan());
    }

    #[test]
    fn one_value_proves_nothing_and_none_even_less() {
        assert_eq!(Estimate::of([3.0]).above(0.0), Verdict::Undecided);
        assert_eq!(Estimate::of([f64::NAN]).above(0.0), Verdict::Undecided);
        assert_eq!(Estimate::of([3.0, 3.0]).above(0.0), Verdict::Holds);
    }

    #[test]
    fn quantiles_agree_with_the_tables_beyond_the_table() {
        for (freedom, quantile) in [(30, 2.042), (60, 2.000), (120, 1.980)] {
            assert!((student_95(freedom) - quantile).abs() < 1e-3, "{freedom}");
        }
    }
}
