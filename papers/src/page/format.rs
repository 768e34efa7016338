//! Numbers and intervals as text.

use thalweg_lab::statistics::Estimate;

/// A mean and half its interval, to the same decimal: `0.0264 ± 0.0011`.
pub fn interval(estimate: &Estimate) -> String {
    match estimate {
        estimate if estimate.mean.is_nan() => "-".to_owned(),
        estimate if estimate.half_width.is_finite() => {
            let decimals = decimals(estimate.mean.abs().max(estimate.half_width));
            format!("{:.decimals$} ± {:.decimals$}", estimate.mean, estimate.half_width)
        }
        estimate => number(estimate.mean),
    }
}

/// Four significant digits, and no exponent: loss rates and counts of packets stand in one table.
pub fn number(value: f64) -> String {
    format!("{value:.*}", decimals(value.abs()))
}

fn decimals(size: f64) -> usize {
    match size {
        _ if size == 0.0 || size >= 1e4 => 0,
        _ if size >= 100.0 => 1,
        _ if size >= 10.0 => 2,
        _ if size >= 1.0 => 3,
        _ if size >= 0.1 => 4,
        _ if size >= 0.01 => 5,
        _ => 6,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_significant_digits() {
        let seen = [0.0, 0.000_21, 0.026_4, 593.0, 8.5, 39_600.4, -0.5].map(number);
        assert_eq!(seen, ["0", "0.000210", "0.02640", "593.0", "8.500", "39600", "-0.5000"]);
    }

    #[test]
    fn a_mean_and_its_interval_end_at_the_same_decimal() {
        let seen = |mean, half_width| interval(&Estimate { mean, half_width, count: 5 });
        assert_eq!(seen(58.81, 0.017_36), "58.81 ± 0.02");
        assert_eq!(seen(0.0, 0.25), "0.0000 ± 0.2500");
    }

    #[test]
    fn interval_needs_two_seeds_and_mean_needs_one() {
        assert_eq!(interval(&Estimate::of([2.0])), "2.000");
        assert_eq!(interval(&Estimate::of([])), "-");
        // t for one degree of freedom is 12.706, the standard error 1.
        assert_eq!(interval(&Estimate::of([1.0, 3.0])), "2.00 ± 12.71");
    }
}
