//! What a sender has measured, and what it only believes.

use super::{Allowance, Schedule, Sender, Span};
use crate::law::schedule::Overhead;
use crate::law::schedule::gilbert_elliott::GilbertElliott;

/// What was measured of a path; none of it before there was enough to measure.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Measured {
    /// Loss rate, as decisions are made with it.
    pub eps: Option<f64>,
    /// Loss rate by Gilbert's model, which knows bursts.
    pub gilbert_eps: Option<f64>,
    /// Packets in a burst of losses by the same model, on average; none before a loss.
    pub burst: Option<f64>,
    /// Smoothed round trip.
    pub rtt: Option<Span>,
    /// u of FEC-ARQ's Eq. (9): packets sent that told nothing new for each one that did.
    pub u: Option<f64>,
}

impl<S: Schedule, A: Allowance> Sender<S, A> {
    /// What was measured of the path; decisions are made with [`Sender::path`], where nothing was yet with what is believed.
    pub fn measured(&self) -> Measured {
        let bursts = Some(self.losses.bursts()).filter(|_| self.losses.is_known());
        Measured {
            eps: bursts.map(|_| self.losses.eps()),
            gilbert_eps: bursts.map(GilbertElliott::eps),
            burst: bursts.filter(|_| self.losses.has_lost()).map(GilbertElliott::burst),
            rtt: self.rtt.smoothed(),
            u: Some(self.queue.overhead()).filter(|overhead| overhead.received > 0).map(Overhead::u),
        }
    }
}
