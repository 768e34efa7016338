//! Metrics: the name, kind and description of each value that a session or an endpoint reports.

/// The kind of a metric's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Never decreases.
    Counter,
    /// Goes up and down.
    Gauge,
}

/// A documented metric: the JSON key, and after `thalweg_` the Prometheus name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Name, with the unit as its last word where it has one.
    pub name: &'static str,
    /// Counter or gauge.
    pub kind: Kind,
    /// One-line description.
    pub help: &'static str,
}

/// A metric that never decreases.
pub const fn counter(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Counter, help }
}

/// A metric that goes up and down.
pub const fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Gauge, help }
}
