//! Whose turn it is to be handed out, and when.

use super::super::window::{Head, Window};
use super::Stream;
use crate::session::live::Playout;
use crate::time::{Span, Time};

/// Packets that come after a missing one before it is given up for lost.
const LATER: u64 = 3;

impl Stream {
    /// If a packet may be handed out at `now`: how many missing ones are given up for it, and whether it is early.
    pub(in crate::session::live::receiver) fn ripe(
        &self,
        now: Time,
        latency: Span,
        playout: Playout,
    ) -> Option<(u64, bool)> {
        let head = self.window.as_ref()?.head()?;
        let is_early = self.due(&head, latency, playout) > now;
        (!is_early || self.is_full()).then_some((head.missing, is_early))
    }

    /// Whether so much waits that it must not wait for its time.
    pub(super) fn is_full(&self) -> bool {
        self.window.as_ref().is_some_and(Window::is_full)
    }

    /// Sequence number of the packet whose turn is next.
    pub(in crate::session::live::receiver) fn turn(&self) -> Option<u64> {
        self.window.as_ref().map(Window::turn)
    }

    /// Hands out the next packet after the `missing` ones.
    pub(in crate::session::live::receiver) fn take(&mut self, missing: u64) -> Option<(&[u8], Time)> {
        let window = self.window.as_mut()?;
        window.skip(missing);
        window.take()
    }

    /// When the packet that waits may be handed out.
    pub(super) fn due(&self, head: &Head, latency: Span, playout: Playout) -> Time {
        let bound = head.produced + latency;
        match playout {
            Playout::Constant => bound,
            Playout::Asap if head.missing == 0 => Time::ZERO,
            Playout::Asap => {
                let patience = self.patience();
                let spread = if self.hello.repair { self.hello.spread } else { Span::ZERO };
                // By then the last repair packet for anything produced before this packet has come.
                let last_repair = head.produced + spread + self.timeline.round_trip() / 2;
                let hopeless = last_repair.max(head.missed) + patience;
                let no_more = self.goodbye.map(|goodbye| goodbye + patience);
                let later = head.span.saturating_sub(head.missing);
                let given_up = if later >= LATER { hopeless } else { bound };
                bound.min(given_up).min(no_more.unwrap_or(bound))
            }
        }
    }
}
