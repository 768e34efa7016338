//! Order statistics.

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
