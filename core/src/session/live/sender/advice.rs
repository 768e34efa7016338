//! Advice to the user about the latency. A piece of advice is given once, and not again while it holds.

use super::Event;
use super::protection::Protection;
use crate::time::Span;

/// The advice that was given.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Advice {
    /// True while repair is reported to come too late.
    is_late: bool,
    /// True once it was reported that blocks have few packets.
    is_few: bool,
}

impl Advice {
    /// The event of repair that comes too late from now on, or in time again.
    pub(super) fn lateness(&mut self, protection: &Protection, round_trip: Span) -> Option<Event> {
        let is_late = protection.is_hopeless();
        if core::mem::replace(&mut self.is_late, is_late) == is_late {
            return None;
        }
        Some(match is_late {
            true => Event::TooShort { round_trip, needed: protection.needed(round_trip) },
            false => Event::InTime,
        })
    }

    /// The event of blocks that the latency keeps too short for their repair.
    pub(super) fn few_packets(&mut self, protection: &Protection, round_trip: Span) -> Option<Event> {
        let (packets, needed) = protection.few_packets(round_trip).filter(|_| !self.is_few)?;
        self.is_few = true;
        Some(Event::FewPackets { packets, needed })
    }
}
