//! Streams that share a link: the state of a stream's GCA law, and changes of its parameters while it runs.
//!
//! The owner of several streams passes the states to a [`Group`](crate::law::rate::share::Group), and its events back.

use super::Sender;
use crate::law::rate::Choice;
use crate::law::rate::gca::Greediness;
use crate::law::rate::one_sided::OneSided;
use crate::law::rate::tfrc::LEAST_P;
use crate::time::Span;
use crate::units::Rate;

/// The state of a GCA law after its first report.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GcaState {
    /// R: the smoothed round trip.
    pub rtt: Span,
    /// p: the loss event rate, 0 to 1.
    pub p: f64,
    /// X: the rate that the path allows, headers included.
    pub allowed: Rate,
    /// α and β.
    pub greediness: Greediness,
}

impl GcaState {
    /// The law's rate as a multiple of a TCP's with the same losses and round trip.
    pub fn multiplier(&self) -> f64 {
        self.greediness.multiplier(self.p.max(LEAST_P))
    }
}

impl Sender {
    /// The state of the stream's law; none unless that is GCA and has had a report on this path.
    pub fn gca(&self) -> Option<GcaState> {
        let law = self.rate_limit.as_ref()?.law().gca()?;
        let Some(Choice::Gca(greediness)) = self.config.rate else { return None };
        let (rtt, p) = law.path()?;
        Some(GcaState { rtt, p, allowed: law.allowed_rate(), greediness })
    }

    /// Changes the parameters of GCA, now and for the paths that follow. A stream with another law, or with none, stays as
    /// it is.
    pub fn set_greediness(&mut self, greediness: Greediness) {
        if let Some(Choice::Gca(configured)) = &mut self.config.rate {
            *configured = greediness;
        }
        if let Some(law) = self.gca_mut() {
            law.set_equation(greediness);
        }
    }

    /// Replaces the rate that GCA's path allows, headers included, until its next report (RFC 8699 §6.2). A stream with
    /// another law, or with none, stays as it is.
    pub fn set_allowed_rate(&mut self, rate: Rate) {
        if let Some(law) = self.gca_mut() {
            law.set_allowed_rate(rate);
        }
    }

    fn gca_mut(&mut self) -> Option<&mut OneSided<Greediness>> {
        self.rate_limit.as_mut()?.law_mut().gca_mut()
    }
}
