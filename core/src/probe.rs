//! Inner values by the papers' names: what traces, plots, the dashboard and Prometheus read.

/// Takes one named value.
pub type Visitor<'a> = dyn FnMut(&'static str, f64) + 'a;

/// Something whose inner values can be watched.
pub trait Probe {
    /// Shows every inner value under the name its paper gives it; NaN where it is not known yet.
    fn probe(&self, visit: &mut Visitor<'_>);
}
