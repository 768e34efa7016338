//! The values that the paper does not publish.

/// Thresholds of loss, and the store of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Setting {
    /// p_low .02, p_high .04, and the paper's target of the buffer.
    #[default]
    Paper,
    /// The same thresholds, and two seconds more in the target.
    Store,
    /// .05 and .10, with the store.
    Middle,
    /// .15 and .30, with the store.
    High,
    /// .02 and .04 with the store, and the gate: loss counts only while the round trip is 30 ms above its minimum.
    Gate,
}

impl Setting {
    /// All settings.
    pub const ALL: [Setting; 5] = [Setting::Paper, Setting::Store, Setting::Middle, Setting::High, Setting::Gate];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Setting::Paper => ".02/.04, no store",
            Setting::Store => ".02/.04, store 2 s",
            Setting::Middle => ".05/.10, store 2 s",
            Setting::High => ".15/.30, store 2 s",
            Setting::Gate => ".02/.04, store 2 s, gate",
        }
    }

    /// The parameters of the scenarios.
    pub(super) const fn settings(self) -> [(&'static str, &'static str); 4] {
        let (low, high) = match self {
            Setting::Paper | Setting::Store | Setting::Gate => ("0.02", "0.04"),
            Setting::Middle => ("0.05", "0.10"),
            Setting::High => ("0.15", "0.30"),
        };
        let store = if matches!(self, Setting::Paper) { "0" } else { "2" };
        let gate = if matches!(self, Setting::Gate) { "30" } else { "0" };
        [("p_low", low), ("p_high", high), ("store_s", store), ("gate", gate)]
    }
}
