//! How a stream is protected: GENEVA and its baselines (§2.2, §4.1).

use thalweg_core::law::redundancy::dp_fec::{self, DpFec};
use thalweg_core::law::redundancy::fixed::Fixed;
use thalweg_core::law::redundancy::geneva::{self, Geneva};
use thalweg_core::law::redundancy::{LossReport, ParameterError, Redundancy, none::None as Unprotected};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::units::{Rate, Seconds};

/// What a stream is told to do.
#[derive(Clone, PartialEq, Debug)]
pub enum Scheme {
    /// The law of the paper; `k` and `syn` of these parameters follow from the stream.
    Geneva(geneva::Parameters),
    /// This number of repair packets for every block.
    Static(u32),
    /// The stand-in, of which no result says anything about DP-FEC itself.
    DpFec(dp_fec::Parameters),
    /// Blocks without repair.
    None,
    /// Plain UDP: each source packet leaves when it is produced.
    Udp,
    /// Packets at this rate on the wire instead of the media's, each as it is produced.
    Cbr(Rate),
}

/// A law at work.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Law {
    Geneva(Geneva),
    Static(Fixed),
    DpFec(DpFec),
    None(Unprotected),
}

impl Scheme {
    /// Whether packets leave in blocks, rather than one by one.
    pub fn has_blocks(&self) -> bool {
        !matches!(self, Scheme::Udp | Scheme::Cbr(_))
    }

    /// The law for blocks of `k` packets every `syn`.
    pub(super) fn law(&self, k: f64, syn: Seconds) -> Result<Law, ParameterError> {
        Ok(match self {
            Scheme::Geneva(given) => Law::Geneva(Geneva::new(geneva::Parameters { k, syn, ..given.clone() })?),
            Scheme::Static(repair) => Law::Static(Fixed::new(*repair)),
            Scheme::DpFec(given) => Law::DpFec(DpFec::new(given.clone())?),
            Scheme::None | Scheme::Udp | Scheme::Cbr(_) => Law::None(Unprotected),
        })
    }

    /// The largest window that its law may open, if windows differ at all.
    pub(super) fn widest(&self) -> Option<u32> {
        match self {
            Scheme::Geneva(given) => Some(given.fwnd_max as u32),
            Scheme::DpFec(given) => Some(given.fwnd_max as u32),
            Scheme::Static(_) | Scheme::None | Scheme::Udp | Scheme::Cbr(_) => None,
        }
    }

    /// Least repair packets of a block.
    pub(crate) fn least(&self) -> u32 {
        match self {
            Scheme::Geneva(given) => given.fwnd_min as u32,
            Scheme::Static(repair) => *repair,
            Scheme::DpFec(_) | Scheme::None | Scheme::Udp | Scheme::Cbr(_) => 0,
        }
    }

    /// Most repair packets of a block.
    pub(crate) fn most(&self) -> u32 {
        if let Scheme::Static(repair) = self { *repair } else { self.widest().unwrap_or(0) }
    }
}

impl Law {
    /// W_tot of GENEVA's Eq. (1), where there is one.
    pub(super) fn w(&self) -> Option<f64> {
        let Law::Geneva(law) = self else { return None };
        let ertt = law.ertt()?.0;
        let geneva::Parameters { k, syn, .. } = law.parameters();
        Some((law.f() + k) * (ertt + syn.0) / syn.0)
    }
}

impl Redundancy for Law {
    fn on_report(&mut self, report: &LossReport) {
        match self {
            Law::Geneva(law) => law.on_report(report),
            Law::Static(law) => law.on_report(report),
            Law::DpFec(law) => law.on_report(report),
            Law::None(law) => law.on_report(report),
        }
    }

    fn repair(&self) -> u32 {
        match self {
            Law::Geneva(law) => law.repair(),
            Law::Static(law) => law.repair(),
            Law::DpFec(law) => law.repair(),
            Law::None(law) => law.repair(),
        }
    }
}

impl Probe for Law {
    fn probe(&self, visit: &mut Visitor<'_>) {
        match self {
            Law::Geneva(law) => law.probe(visit),
            Law::Static(law) => law.probe(visit),
            Law::DpFec(law) => law.probe(visit),
            Law::None(law) => law.probe(visit),
        }
    }
}
