//! The congestion controls that carry the videos.

use crate::figure::Subject;
use crate::page::Tone;

/// A congestion control for a video.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Carrier {
    /// TCP Stream with Eq. (4) as printed.
    Printed,
    /// TCP Stream with the thresholds of Vegas, 2 and 4.
    VegasThresholds,
    /// NewReno: the comparison of the paper's simulation.
    NewReno,
    /// CUBIC: the comparison of the paper's testbed.
    Cubic,
    /// Vegas: controlled by delay only.
    Vegas,
    /// NewReno with a window limited to the playback rate.
    Clamp,
}

impl Carrier {
    /// All carriers.
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

    fn tone(self) -> Tone {
        Tone(match self {
            Carrier::Printed => 2,
            Carrier::VegasThresholds => 3,
            Carrier::NewReno => 1,
            Carrier::Cubic => 0,
            Carrier::Vegas => 5,
            Carrier::Clamp => 4,
        })
    }
}
