//! Metrics: the name, kind and description of each value that a session or an endpoint reports.

/// The kind of a metric's value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Never decreases.
    Counter,
    /// Goes up and down.
    Gauge,
    /// One of these states: the value is the number of the present one in the list, or NaN if there is none.
    States(&'static [&'static str]),
}

/// A documented metric: the JSON key, and after `thalweg_` the Prometheus name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric {
    /// Name, with the unit as its last word where it has one.
    pub name: &'static str,
    /// Counter, gauge or states.
    pub kind: Kind,
    /// One-line description.
    pub help: &'static str,
}

impl Metric {
    /// The state that `value` stands for; none if the metric has no states, or is in none of them.
    pub fn state(&self, value: f64) -> Option<&'static str> {
        let Kind::States(states) = self.kind else { return None };
        states.iter().zip(0u8..).find(|(_, nth)| f64::from(*nth) == value).map(|(state, _)| *state)
    }
}

/// A metric that never decreases.
pub const fn counter(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Counter, help }
}

/// A metric that goes up and down.
pub const fn gauge(name: &'static str, help: &'static str) -> Metric {
    Metric { name, kind: Kind::Gauge, help }
}

/// A metric that is one of several states.
pub const fn states(name: &'static str, states: &'static [&'static str], help: &'static str) -> Metric {
    Metric { name, kind: Kind::States(states), help }
}
