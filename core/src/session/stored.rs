//! Stored video: a sender that skips frames instead of falling behind, and a receiver that decides how fast it sends.
//! After Y. S. Sun, F.-M. Tsou, M. C. Chen, "Predictive flow control for TCP-friendly end-to-end real-time video on the
//! Internet" (R3CP+), 2001, §3.
//!
//! Once per flow control period, about a round trip, the [`receiver`] measures loss and round trip, predicts both, and
//! sends a flow control message: the rate rho that it requests, the rate lambda that it desires, and the packets that
//! it misses. The [`sender`] applies the rates at once, marks the packets that follow with the number of the message,
//! their group, and skips what lies between the two rates: B frames before P before I.
//!
//! ```text
//! receiver                                sender
//!    | probes ------------------------------> |   address validation, round trip, loss
//!    | <-------------------------------- echo |
//!    | message n: rho, lambda, d, NACKs ----> |   takes on lambda d packets, skips (lambda - rho) d
//!    | <------ report n, frames of group n -- |
//! ```
//!
//! Point n is the start of period n, at which message n leaves. Packets of group n begin to arrive one round trip later.
//! At point n + 1 group n - 1 has arrived, and its loss is measured.

pub mod control;
mod media;
pub mod receiver;
pub mod sender;
#[cfg(test)]
mod tests;

pub use media::{First, Frame, HEADERS, Media, Payload, Track, Unit};

use crate::time::Span;

/// P_L in media time: the retransmission window, and the longest span within which media time is linear.
// Reading(R3CP+ §3.1): one I-distance of the paper's video, 12 frames at 24 per second; the paper gives no other length.
pub const WINDOW: Span = Span::from_millis(500);
