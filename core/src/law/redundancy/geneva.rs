//! GENEVA: K. Matsuzono, H. Asaeda, O. Nakamura, J. Murai, "GENEVA: Streaming Control Algorithm Using Generalized
//! Multiplicative-Increase/Additive-Decrease", Journal of Information Processing, IPSJ.
//!
//! The media rate never changes; the window of repair packets does. A loss raises it, a delivery lowers it, both
//! through W, the packets in flight, so that a stream keeps its share of a congested link and yields when there is no
//! congestion.
//!
//! | paper | here | |
//! |---|---|---|
//! | Fwnd | `f` | repair packets of a block (§3.1) |
//! | k | [`Parameters::k`] | source packets of a block (§3.2.2) |
//! | SYN | [`Parameters::syn`] | length of a block, interval of reports (§3.2.1) |
//! | IPG | `ipg` | gap between two packets: SYN / (Fwnd + k) (§3.2.2) |
//! | SRTT, ERTT | [`LossReport::srtt`], `ertt` | sample and smoothed round trip (§3.2.2) |
//! | W_tot | `w` | packets sent and not acknowledged, Eq. (1) |
//! | i(W_tot) | [`Parameters::increment`] | Eq. (8) |
//! | a, b, p_max, alpha | [`Parameters`] | §3.2.3, §3.2.4 |
//!
//! `g` = SYN / (ERTT + SYN) is the fraction of W that belongs to one block.
//!
//! Only the law of the paper is here: the bound on a stream whose loss stays above p_max, which the paper leaves to the
//! media rate (§3.2.4), is not.

mod parameters;
#[cfg(test)]
mod tests;

pub use parameters::{Parameters, State};

use super::{Interval, LossReport, ParameterError, Redundancy, smoothed, whole};
use crate::law::registry::Entry;
use crate::probe::{Probe, Visitor};
use crate::units::Seconds;

/// The window control of a GENEVA sender.
#[derive(Clone, PartialEq, Debug)]
pub struct Geneva {
    parameters: Parameters,
    /// The W below which i(W) is constant, computed from the parameters.
    w0: f64,
    /// Fwnd, whole or fractional according to [`State`].
    f: f64,
    /// ERTT in seconds, after the first sample.
    ertt: Option<f64>,
    /// W of Eq. (1) at the last report, before its effect.
    w_before: Option<f64>,
}

impl Geneva {
    /// A sender without reports so far.
    ///
    /// # Errors
    /// The parameters do not pass [`Parameters::check`].
    pub fn new(parameters: Parameters) -> Result<Geneva, ParameterError> {
        parameters.check()?;
        Ok(Geneva { w0: parameters.w0(), f: parameters.start(), ertt: None, w_before: None, parameters })
    }

    /// The parameters in force.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The smoothed round trip, after the first sample.
    pub fn ertt(&self) -> Option<Seconds> {
        self.ertt.map(Seconds)
    }

    /// Fwnd: repair packets of a block, without a fraction in the integer state.
    pub fn f(&self) -> f64 {
        self.f
    }

    /// The fraction of W that belongs to one block.
    fn g(&self) -> Option<f64> {
        let syn = self.parameters.syn.0;
        self.ertt.map(|ertt| syn / (ertt + syn))
    }

    /// W_tot = (Fwnd + k) (ERTT + SYN) / SYN. Eq. (1).
    fn w(&self) -> Option<f64> {
        self.g().map(|g| (self.f + self.parameters.k) / g)
    }

    /// W after `lost` steps of Eq. (4). Stops early once W reaches `enough`, where the caller clamps anyway.
    fn raised(&self, mut w: f64, lost: u32, enough: f64) -> f64 {
        for _ in 0..lost {
            let next = w + self.parameters.increment(w, self.w0);
            // W only grows here, so no later step can take it below `enough`; and a step lost to rounding will be lost
            // every time. Both exits are exact, and no number of losses can make the loop hang.
            if next >= enough || next == w {
                return next;
            }
            w = next;
        }
        w
    }
}

impl Redundancy for Geneva {
    fn on_report(&mut self, report: &LossReport) {
        let Parameters { k, b, alpha, fwnd_min, fwnd_max, state, .. } = self.parameters;
        self.ertt = smoothed(self.ertt, report.srtt, alpha);
        self.w_before = self.w();
        let (Some(g), Some(w)) = (self.g(), self.w_before) else { return };
        if report.lost == 0 && report.delivered == 0 {
            return;
        }
        // Losses first, then deliveries, as §3.2.3 orders them. Eqs. (4) and (5).
        let taken_off = b * f64::from(report.delivered);
        let beyond_the_clamp = (fwnd_max + 1.0 + k) / g + taken_off;
        let w = self.raised(w, report.lost, beyond_the_clamp) - taken_off;
        // Fwnd = floor(W g - k). Eq. (3).
        let f = w * g - k;
        let f = match state {
            State::Integer => whole(f),
            State::Real => f,
        };
        self.f = f.clamp(fwnd_min, fwnd_max);
    }

    fn repair(&self) -> u32 {
        whole(self.f) as u32
    }

    fn window(&self) -> f64 {
        f64::from(self.repair()).max(self.parameters.fwnd_min)
    }

    fn bounds(&self) -> (f64, f64) {
        (self.parameters.fwnd_min, self.parameters.fwnd_max)
    }

    fn p_max(&self) -> f64 {
        self.parameters.p_max
    }

    fn interval(&self) -> Option<Interval> {
        let Parameters { k, syn, .. } = self.parameters;
        Some(Interval { k, syn, bounds: self.bounds() })
    }

    /// ERTT stays, and so does F, in packets per interval. F is clamped to new bounds at the next report, as in the paper,
    /// so that a single odd interval does not discard its value; but an F that stands at its minimum moves to the new
    /// minimum at once.
    fn set_interval(&mut self, interval: Interval) -> Result<(), ParameterError> {
        let Interval { k, syn, bounds: (fwnd_min, fwnd_max) } = interval;
        let parameters = Parameters { k, syn, fwnd_min, fwnd_max, ..self.parameters.clone() };
        parameters.check()?;
        if self.f <= self.parameters.fwnd_min {
            self.f = fwnd_min;
        }
        self.parameters = parameters;
        Ok(())
    }

    /// Eq. (1) as printed. `Geneva::w` divides by the rounded `g` instead, which Eq. (3) then multiplies by, and may
    /// differ in the last bit.
    fn w_tot(&self) -> Option<f64> {
        let Parameters { k, syn, .. } = self.parameters;
        self.ertt.map(|ertt| (self.f + k) * (ertt + syn.0) / syn.0)
    }
}

impl Entry<()> for Geneva {
    const NAME: &'static str = "geneva";
    const ABOUT: &'static str = "as many packets as the path needs and can carry";
    type Parameters = Parameters;

    fn start(parameters: &Parameters, _config: &()) -> Result<Geneva, ParameterError> {
        Geneva::new(parameters.clone())
    }
}

impl Probe for Geneva {
    /// Shows `ertt`, `w_before` (W before the last report), `w` (W with the resulting window), `f`, `repair`, `ipg` and
    /// `g`; times in seconds.
    fn probe(&self, visit: &mut Visitor<'_>) {
        let repair = f64::from(self.repair());
        visit("ertt", self.ertt.unwrap_or(f64::NAN));
        visit("w_before", self.w_before.unwrap_or(f64::NAN));
        visit("w", self.w().unwrap_or(f64::NAN));
        visit("f", self.f);
        visit("repair", repair);
        visit("ipg", self.parameters.syn.0 / (repair + self.parameters.k));
        visit("g", self.g().unwrap_or(f64::NAN));
    }
}
