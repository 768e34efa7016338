//! Order statistics.

/// The middle one; of an even number the upper of the two. Not a number if there is none.
pub fn median(all: impl IntoIterator<Item = f64>) -> f64 {
    let mut all: Vec<f64> = all.into_iter().collect();
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The smallest value that a share `q` of all values does not exceed. Not a number if there is none.
pub fn quantile(all: impl IntoIterator<Item = f64>, q: f64) -> f64 {
    let mut all: Vec<f64> = all.into_iter().collect();
    all.sort_by(f64::total_cmp);
    let rank = (q * all.len() as f64).ceil() as usize;
    all.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
