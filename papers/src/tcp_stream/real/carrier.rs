//! The congestion controls under a video: TCP Stream, loaded for the occasion, and those that the kernel has by itself.

use std::process;

use thalweg_core::law::window::tcp_stream::Thresholds;
use thalweg_kernel::{Error, Name, Settings};

use crate::figure::Subject;
use crate::page::Tone;
use crate::tcp_stream::Carrier as LabCarrier;

/// A congestion control of the kernel under a video.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Carrier {
    /// TCP Stream with Eq. (4) as printed.
    Printed,
    /// TCP Stream with the thresholds of Vegas.
    VegasThresholds,
    /// The control that the paper compares with.
    Cubic,
    /// The control with which much of the web sends today.
    Bbr,
}

impl Carrier {
    pub(super) const ALL: [Carrier; 4] = [Carrier::Printed, Carrier::VegasThresholds, Carrier::Cubic, Carrier::Bbr];

    /// TCP Stream with both readings of its thresholds.
    pub(super) const OURS: [Carrier; 2] = [Carrier::Printed, Carrier::VegasThresholds];

    /// The same control in the lab, which has no BBR.
    pub(super) fn in_the_lab(self) -> Option<LabCarrier> {
        match self {
            Carrier::Printed => Some(LabCarrier::Printed),
            Carrier::VegasThresholds => Some(LabCarrier::VegasThresholds),
            Carrier::Cubic => Some(LabCarrier::Cubic),
            Carrier::Bbr => None,
        }
    }
}

impl Subject for Carrier {
    fn name(self) -> &'static str {
        match self {
            Carrier::Printed => "TCP Stream, printed",
            Carrier::VegasThresholds => "TCP Stream, Vegas thresholds",
            Carrier::Cubic => "CUBIC",
            Carrier::Bbr => "BBR",
        }
    }

    fn tone(self) -> Tone {
        self.in_the_lab().map_or(Tone(5), Subject::tone)
    }
}

/// TCP Stream under two names of this process's own, which are unloaded when this is dropped.
pub(super) struct Controls {
    printed: Name,
    vegas: Name,
}

impl Controls {
    pub(super) fn load() -> Result<Controls, Error> {
        let name = |kind: &str| format!("r{}{kind}", process::id()).parse().expect("letters and digits");
        let controls = Controls { printed: name("p"), vegas: name("v") };
        for (name, thresholds) in [(&controls.printed, Thresholds::Paper), (&controls.vegas, Thresholds::Vegas)] {
            thalweg_kernel::load(name, &Settings { thresholds, ..Settings::default() })?;
        }
        Ok(controls)
    }

    /// The kernel's name of a carrier.
    pub(super) fn name(&self, carrier: Carrier) -> &str {
        match carrier {
            Carrier::Printed => self.printed.as_str(),
            Carrier::VegasThresholds => self.vegas.as_str(),
            Carrier::Cubic => "cubic",
            Carrier::Bbr => "bbr",
        }
    }

    /// The carriers that this kernel has, and the names of those that it has not.
    pub(super) fn found(&self) -> Result<(Vec<Carrier>, Vec<&'static str>), String> {
        let available = super::available()?;
        let has = |carrier: &Carrier| available.iter().any(|name| name == self.name(*carrier));
        let (found, missing): (Vec<Carrier>, Vec<Carrier>) = Carrier::ALL.into_iter().partition(has);
        Ok((found, missing.into_iter().map(Carrier::name).collect()))
    }
}

impl Drop for Controls {
    fn drop(&mut self) {
        for name in [&self.printed, &self.vegas] {
            // One of them may not have been loaded; a control that is left over is seen in `sysctl net.ipv4`.
            let _ = thalweg_kernel::unload(name);
        }
    }
}
