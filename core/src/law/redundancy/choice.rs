//! The registry of the redundancy laws.

use super::dp_fec::DpFec;
use super::fixed::Fixed;
use super::geneva::Geneva;
use super::{Block, LossReport, ParameterError, Redundancy, none};
use crate::law::registry::{Description, Line, Scope, forms, registry};
use crate::probe::{Probe, Visitor};

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

            fn block(&self) -> Option<Block> {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.block(), )+ }
            }

            fn set_block(&mut self, block: Block) -> Result<(), ParameterError> {
                match self { $( $(#[cfg($($cfg)*)])? Law::$variant(law) => law.set_block(block), )+ }
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
    Toy(super::toy::Toy),
}
