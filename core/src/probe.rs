//! Internal values under the papers' names, as read by traces, plots, the dashboard and Prometheus.

/// Receives one named value.
pub type Visitor<'a> = dyn FnMut(&'static str, f64) + 'a;

/// An object whose internal values can be observed.
pub trait Probe {
    /// Visits every internal value under the name that its paper gives it; NaN where it is not known yet.
    fn probe(&self, visit: &mut Visitor<'_>);
}
