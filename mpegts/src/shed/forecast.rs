//! The bytes by which a picture will lengthen the queue, from those before it.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;

use super::queue::Queue;
use crate::PACKET;

/// Weight of the newest picture in the averages.
const GAIN: f64 = 0.25;

/// The size of the pictures of one kind, and the time over which one arrives.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Forecast {
    bytes: f64,
    seconds: f64,
    is_known: bool,
}

impl Forecast {
    /// Adds a picture.
    pub(super) fn add(&mut self, bytes: u64, from: Time, to: Time) {
        let (bytes, seconds) = (bytes as f64, to.since(from).as_secs_f64());
        let gain = if self.is_known { GAIN } else { 1.0 };
        // A larger one may be the first of several.
        self.bytes = (self.bytes + gain * (bytes - self.bytes)).max(bytes * 0.75);
        self.seconds += gain * (seconds - self.seconds);
        self.is_known = true;
    }

    /// The bytes of the next picture that will not have left when its last packet arrives.
    pub(super) fn growth(&self, queue: &Queue) -> Bytes {
        let leaving = queue.leaving(Span::from_secs_f64(self.seconds));
        Bytes((self.bytes as u64).saturating_sub(leaving.0).max(PACKET as u64))
    }
}
