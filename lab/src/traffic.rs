//! Traffic of others, which shares a link with the packets that matter.

pub mod cbr;
pub mod on_off;
pub mod poisson;
pub mod transfers;
pub mod video;
pub mod video_model;
pub mod video_trace;

use thalweg_core::time::Time;
use thalweg_core::units::Bytes;

/// Something that sends packets by itself, without ever listening.
pub trait Source {
    /// When the next packet leaves.
    fn next(&self) -> Time;

    /// The size of that packet on the wire; from then on `next` speaks of the one after it.
    fn emit(&mut self) -> Bytes;
}
