//! Inputs of the brake, and its demands.

use super::sample::Sample;
use crate::time::Span;

/// Inputs of the brake from one report.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::session::live::sender) struct Pressure {
    /// Packets found lost.
    pub(in crate::session::live::sender) lost: u32,
    /// Packets found delivered.
    pub(in crate::session::live::sender) delivered: u32,
    /// Packets whose outcome is known, in sending order.
    pub(in crate::session::live::sender) passed: Sample,
    /// The round trip of the report, if it has one, and whether it indicates a queue.
    pub(in crate::session::live::sender) round_trip: Option<Span>,
    pub(in crate::session::live::sender) queue: bool,
    /// Time until reports cover packets that leave under another limit.
    pub(in crate::session::live::sender) lag: Span,
    /// The window that the law wants, or the average that is sent if the window is but a bound.
    pub(in crate::session::live::sender) window: f64,
    /// The window that the law wants.
    pub(in crate::session::live::sender) bound: f64,
    /// The least and the greatest window that the law ever wants; the least is 0 if the window is but a bound.
    pub(in crate::session::live::sender) bounds: (f64, f64),
    /// Source packets that these windows are for, and source packets of a block.
    pub(in crate::session::live::sender) k: f64,
    pub(in crate::session::live::sender) block: f64,
}

/// The brake's demand on the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::session::live::sender) enum Demand {
    /// Ask the source for a lower rate.
    Lower,
    /// The brake is off again.
    Restored,
}
