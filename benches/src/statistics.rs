//! Order statistics and tests of counts.

/// The median; for an even number of values, the upper of the two middle ones. NaN if there are no values.
pub fn median(all: impl IntoIterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = all.into_iter().collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The smallest value that a share `q` of all values does not exceed. NaN if there are no values.
pub fn quantile(all: impl IntoIterator<Item = f64>, q: f64) -> f64 {
    let mut all: Vec<f64> = all.into_iter().collect();
    all.sort_by(f64::total_cmp);
    let rank = (q * all.len() as f64).ceil() as usize;
    all.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// The smallest count that a Poisson variable with this expectation does not exceed with a probability of `q`.
pub fn poisson_limit(expectation: f64, q: f64) -> u64 {
    let mut term = (-expectation).exp();
    let (mut sum, mut count) = (term, 0);
    // The bound is for expectations whose first term is zero as an f64.
    while sum < q && count < 10_000 {
        count += 1;
        term *= expectation / count as f64;
        sum += term;
    }
    count
}

/// The probability of at least `least` successes in `tries` independent tries that succeed with probability `p`.
pub fn binomial_tail(least: u64, tries: u64, p: f64) -> f64 {
    if least == 0 || p >= 1.0 {
        return 1.0;
    }
    if least > tries || p <= 0.0 {
        return 0.0;
    }
    let log_odds = p.ln() - (-p).ln_1p();
    let mut log_term = tries as f64 * (-p).ln_1p();
    let mut sum = 0.0;
    for count in 1..=tries {
        log_term += ((tries - count + 1) as f64 / count as f64).ln() + log_odds;
        if count >= least {
            sum += log_term.exp();
        }
    }
    sum.min(1.0)
}

/// The largest of the p-values that Holm's step-down procedure rejects at a family-wise error rate of `alpha` (Holm,
/// 1979); negative if it rejects none.
pub fn holm(values: &[f64], alpha: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rejected = sorted.iter().enumerate().take_while(|&(nth, &p)| p <= alpha / (sorted.len() - nth) as f64);
    rejected.last().map_or(-1.0, |(_, &p)| p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_limits_are_those_of_its_table() {
        // P(X <= 2) = .920 and P(X <= 3) = .981 at 1; P(X <= 14) = .917 and P(X <= 15) = .951 at 10.
        assert_eq!([0.0, 1.0, 10.0].map(|expectation| poisson_limit(expectation, 0.95)), [0, 3, 15]);
    }

    #[test]
    fn binomial_tails_are_those_of_coins_and_of_the_closed_form() {
        let close = |value: f64, wanted: f64| (value / wanted - 1.0).abs() < 1e-9;
        assert!(close(binomial_tail(10, 10, 0.5), 1.0 / 1024.0));
        assert!(close(binomial_tail(2, 3, 0.25), 3.0 * 0.0625 * 0.75 + 0.015625));
        assert!(close(binomial_tail(1, 20_000, 1e-4), 1.0 - 0.9999_f64.powi(20_000)));
        assert_eq!((binomial_tail(0, 0, 0.5), binomial_tail(1, 0, 0.5)), (1.0, 0.0));
        // Half of the mass is on each side, however small each term is.
        assert!(close(binomial_tail(5_000, 9_999, 0.5), 0.5));
    }

    #[test]
    fn holm_stops_at_the_first_value_that_is_too_large() {
        // The example of four hypotheses at .05 on Wikipedia: .005 and .01 are rejected, .03 is above .05 / 2.
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005], 0.05), 0.01);
        assert!(holm(&[0.2, 0.9], 0.05) < 0.0 && holm(&[], 0.05) < 0.0);
    }
}
