//! The middle layer: one published algorithm per file.
//!
//! | question of a sender | module |
//! |---|---|
//! | How fast may I send? | [`rate`], [`window`] |
//! | How much do I protect? | [`redundancy`] |
//! | What goes into the next packet? | [`schedule`] |
//! | When must I stop? | [`breaker`] |
//!
//! The receiver of a stored video asks one more question: "what is the next value of this series?" ([`predict`]).
//! [`playback`] is no law: it accounts for the frames that are played.
//!
//! [`registry`] lists the laws of each family by name.

pub mod breaker;
mod packet_report;
mod parameter;
pub mod playback;
pub mod predict;
pub mod rate;
pub mod redundancy;
pub mod registry;
pub mod schedule;
pub mod window;

pub use packet_report::PacketReport;
pub use parameter::ParameterError;
pub(crate) use parameter::within;
