//! Redundancy control: the answers to "how much do I protect?", one law per file.
//!
//! The list of the laws, from which [`Choice`] and [`Law`] follow, is the call of `registry!` in this file.

pub mod auto;
pub mod dp_fec;
pub mod fixed;
pub mod geneva;
pub mod none;
#[cfg(feature = "toy")]
pub mod toy;

pub use super::ParameterError;

use auto::Auto;
use dp_fec::DpFec;
use fixed::Fixed;
use geneva::Geneva;

use super::{parameter, rate};
use crate::law::registry::{Description, Line, Scope, forms, registry};
use crate::law::schedule::deadline;
use crate::probe::{Probe, Visitor};
use crate::units::Seconds;

/// The content of one report, as GENEVA §3.2.1 counts it: source and repair packets alike.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LossReport {
    /// Packets declared lost since the last report.
    pub lost: u32,
    /// Packets reported delivered since the last report.
    pub delivered: u32,
    /// A round-trip sample, where the report carries one.
    pub srtt: Option<Seconds>,
    /// The time of the report, on any clock that does not step; for laws that need it ([`Redundancy::needs_time`]).
    pub at: Seconds,
}

impl From<&rate::Report> for LossReport {
    /// The part of `report` that these laws use.
    fn from(report: &rate::Report) -> LossReport {
        LossReport {
            lost: report.lost,
            delivered: report.delivered,
            srtt: report.rtt.map(Seconds::from),
            at: Seconds(report.now.as_secs_f64()),
        }
    }
}

/// The interval for which a law gives repair windows: SYN of GENEVA (§3.2.1), from one report to the next. A block of the
/// paper is one interval; a block of a session is one or more.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// Source packets of an interval, with their fraction. Above 0, at most 65535.
    pub k: f64,
    /// Length of the interval. 0.1 ms to 10 s.
    pub syn: Seconds,
    /// The least and the greatest window, in packets. 0 to 65535, in this order.
    pub bounds: (f64, f64),
}

/// The loss rate at which the media rate has to fall, unless a law has one of its own: the p_max of GENEVA (§3.2.3).
pub const P_MAX: f64 = 0.03;

/// A law that answers each report with the number of repair packets of the next interval.
pub trait Redundancy: Probe {
    /// Takes one report into account.
    fn on_report(&mut self, report: &LossReport);

    /// The number of repair packets for an interval that ends now.
    fn repair(&self) -> u32;

    /// [`Redundancy::repair`] as a real number, never below the first of [`Redundancy::bounds`]: 0.4, for example, if
    /// `repair` is 0.
    fn window(&self) -> f64 {
        f64::from(self.repair())
    }

    /// The least and the greatest repair window that the law ever gives, whatever the reports are. A session refuses a law
    /// whose greatest window is 0 or above what its blocks can have.
    fn bounds(&self) -> (f64, f64);

    /// The loss rate at which more repair no longer helps and the media rate has to fall.
    fn p_max(&self) -> f64 {
        P_MAX
    }

    /// The interval that the window depends on; none for a law whose window is the same for any interval.
    fn interval(&self) -> Option<Interval> {
        None
    }

    /// Sets later intervals. Without effect on a law whose window is the same for any interval.
    ///
    /// # Errors
    /// A value is out of its range; the old ones stay.
    fn set_interval(&mut self, _interval: Interval) -> Result<(), ParameterError> {
        Ok(())
    }

    /// W_tot, the packets sent and not acknowledged that the law assumes (GENEVA Eq. (1)), if it has such a value.
    fn w_tot(&self) -> Option<f64> {
        None
    }

    /// True if the law uses the times of reports.
    fn needs_time(&self) -> bool {
        false
    }

    /// True if there is never any repair, so that packets need no blocks.
    fn is_none(&self) -> bool {
        false
    }

    /// The parameters of the schedule that decides about each packet, if the window is but its bound. Such a law runs in
    /// live sessions alone.
    fn deadline(&self) -> Option<deadline::Parameters> {
        None
    }
}

/// The longest round trip that a law accepts, an hour; samples outside 0 ..= `MAX_RTT` are ignored.
pub const MAX_RTT: Seconds = Seconds(3600.0);

/// `ERTT <- alpha ERTT + (1 - alpha) SRTT`, starting with the first sample; unchanged without a sample.
fn smoothed(ertt: Option<f64>, srtt: Option<Seconds>, alpha: f64) -> Option<f64> {
    match (ertt, srtt.filter(|sample| (0.0..=MAX_RTT.0).contains(&sample.0))) {
        (known, None) => known,
        (None, Some(Seconds(first))) => Some(first),
        (Some(ertt), Some(Seconds(sample))) => Some(alpha * ertt + (1.0 - alpha) * sample),
    }
}

/// The whole packets of a fractional window, tolerating a rounding error just below a whole number.
fn whole(window: f64) -> f64 {
    libm::floor(window + 1e-9)
}

/// Implements [`Redundancy`] for the running law.
macro_rules! delegate {
    ($($(#[cfg($($cfg:tt)*)])? $variant:ident)+) => {
        impl Redundancy for Law {
            fn on_report(&mut self, report: &LossReport) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.on_report(report), )+ }
            }

            fn repair(&self) -> u32 {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.repair(), )+ }
            }

            fn window(&self) -> f64 {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.window(), )+ }
            }

            fn bounds(&self) -> (f64, f64) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.bounds(), )+ }
            }

            fn p_max(&self) -> f64 {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.p_max(), )+ }
            }

            fn interval(&self) -> Option<Interval> {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.interval(), )+ }
            }

            fn set_interval(&mut self, interval: Interval) -> Result<(), ParameterError> {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.set_interval(interval), )+ }
            }

            fn w_tot(&self) -> Option<f64> {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.w_tot(), )+ }
            }

            fn needs_time(&self) -> bool {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.needs_time(), )+ }
            }

            fn is_none(&self) -> bool {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.is_none(), )+ }
            }

            fn deadline(&self) -> Option<deadline::Parameters> {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.deadline(), )+ }
            }
        }

        impl Probe for Law {
            fn probe(&self, visit: &mut Visitor<'_>) {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.probe(visit), )+ }
            }
        }
    };
}

registry! {
    config: (), delegate: delegate;
    /// Repair by its worth.
    Auto(Auto),
    /// No repair.
    None(none::None),
    /// A fixed number of packets for each block.
    Static(Fixed),
    /// The law of the GENEVA paper.
    Geneva(Geneva),
    /// The stand-in for DP-FEC.
    DpFec(DpFec),
    /// The example of `docs/design.md`, in tests alone.
    #[cfg(feature = "toy")]
    Toy(toy::Toy),
}
