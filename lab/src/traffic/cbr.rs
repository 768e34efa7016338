//! Constant bit rate.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::Source;

/// Equal packets at equal distances, from time zero on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cbr {
    packet: Bytes,
    gap: Span,
    next: Time,
}

impl Cbr {
    /// Packets of the size `packet`, headers included, at `rate` in total.
    pub fn new(rate: Rate, packet: Bytes) -> Cbr {
        Cbr { packet, gap: rate.time_for(packet), next: Time::ZERO }
    }
}

impl Source for Cbr {
    fn next(&self) -> Time {
        self.next
    }

    fn emit(&mut self) -> Bytes {
        self.next += self.gap;
        self.packet
    }
}
