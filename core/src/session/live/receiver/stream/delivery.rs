//! Delivery of packets to the application: order and time.

use super::super::window::{Head, Window};
use super::Stream;
use crate::session::live::Playout;
use crate::session::path::packet_threshold::PACKET_THRESHOLD;
use crate::time::{Span, Time};

impl Stream {
    /// If a packet may be delivered at `now`: the number of missing packets that are given up for it, and whether it is
    /// early.
    pub(in crate::session::live::receiver) fn deliverable(
        &self,
        now: Time,
        latency: Span,
        playout: Playout,
    ) -> Option<(u64, bool)> {
        let head = self.window.as_ref()?.head()?;
        let is_early = self.due(&head, latency, playout) > now;
        (!is_early || self.is_full()).then_some((head.missing, is_early))
    }

    /// True if the window is full, so that packets must not wait for their time.
    pub(super) fn is_full(&self) -> bool {
        self.window.as_ref().is_some_and(Window::is_full)
    }

    /// Sequence number of the packet to deliver next.
    pub(in crate::session::live::receiver) fn turn(&self) -> Option<u64> {
        self.window.as_ref().map(Window::turn)
    }

    /// Delivers the next packet after the `missing` ones, with the time of its production.
    pub(in crate::session::live::receiver) fn take(&mut self, missing: u64) -> Option<(&[u8], Time)> {
        let window = self.window.as_mut()?;
        window.skip(missing);
        window.take()
    }

    /// The time at which the waiting packet may be delivered.
    pub(super) fn due(&self, head: &Head, latency: Span, playout: Playout) -> Time {
        let bound = head.produced + latency;
        match playout {
            Playout::Constant => bound,
            Playout::Asap if head.missing == 0 => Time::ZERO,
            Playout::Asap => {
                let reordering_delay = self.reordering_delay();
                let spread = if self.hello.repair { self.hello.spread } else { Span::ZERO };
                // By then the last repair packet for anything produced before this packet has arrived.
                let last_repair = head.produced + spread + self.timeline.round_trip() / 2;
                let hopeless = last_repair.max(head.missed) + reordering_delay;
                let no_more = self.presence.goodbye().map(|goodbye| goodbye + reordering_delay);
                let later = head.span.saturating_sub(head.missing);
                let given_up = if later >= PACKET_THRESHOLD as u64 { hopeless } else { bound };
                bound.min(given_up).min(no_more.unwrap_or(bound))
            }
        }
    }
}
