//! Cross traffic, which shares a link with the packets under study.

pub mod cbr;
pub mod on_off;
pub mod poisson;
pub mod transfers;
pub mod video;
pub mod video_model;
pub mod video_trace;

use thalweg_core::time::Time;
use thalweg_core::units::Bytes;

/// A source that sends packets by itself, without any feedback.
pub trait Source {
    /// The time at which the next packet leaves.
    fn next(&self) -> Time;

    /// The size of that packet on the wire; from then on `next` returns the time of the one after it.
    fn emit(&mut self) -> Bytes;
}
