//! What carries the films.

use crate::paper::figure::Subject;

/// A congestion control under a film.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Carrier {
    /// TCP Stream with Eq. (4) as printed.
    Printed,
    /// TCP Stream with the thresholds of Vegas, 2 and 4.
    VegasThresholds,
    /// What the paper's simulation compares with.
    NewReno,
    /// What the paper's testbed compares with.
    Cubic,
    /// Delay alone.
    Vegas,
    /// NewReno below the playback rate.
    Clamp,
}

impl Carrier {
    /// All of them.
    pub const ALL: [Carrier; 6] =
        [Carrier::Printed, Carrier::VegasThresholds, Carrier::NewReno, Carrier::Cubic, Carrier::Vegas, Carrier::Clamp];

    /// Both readings of the paper's thresholds.
    pub const OURS: [Carrier; 2] = [Carrier::Printed, Carrier::VegasThresholds];

    /// The values of the scenarios' parameters `tcp` and `thresholds`.
    pub(super) const fn settings(self) -> (&'static str, &'static str) {
        match self {
            Carrier::Printed => ("tcp-stream", "paper"),
            Carrier::VegasThresholds => ("tcp-stream", "vegas"),
            Carrier::NewReno => ("newreno", "auto"),
            Carrier::Cubic => ("cubic", "auto"),
            Carrier::Vegas => ("vegas", "auto"),
            Carrier::Clamp => ("clamp", "auto"),
        }
    }
}

impl Subject for Carrier {
    fn name(self) -> &'static str {
        match self {
            Carrier::Printed => "TCP Stream, printed",
            Carrier::VegasThresholds => "TCP Stream, Vegas thresholds",
            Carrier::NewReno => "NewReno",
            Carrier::Cubic => "CUBIC",
            Carrier::Vegas => "Vegas",
            Carrier::Clamp => "clamp",
        }
    }
}
