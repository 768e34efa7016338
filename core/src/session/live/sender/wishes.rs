//! What the sender would have its source do.

use super::{Event, Sender};
use crate::time::{Span, Time};
use crate::units::Rate;

/// Between two words of media beyond the greatest rate.
const INTERVAL: Span = Span::from_secs(1);

/// What was asked of the source, and what is yet to be said.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Wishes {
    /// The rate that it should come down to, until it is told that it need not.
    pub(super) rate: Option<Rate>,
    /// Media beyond the greatest rate, of which nothing was said yet.
    unsent: u64,
    /// When something was.
    told: Option<Time>,
}

impl Sender {
    /// Counts `unsent` media datagrams for which the greatest rate had no room, and says so once a second.
    pub(super) fn tell_unsent(&mut self, now: Time, unsent: u64) {
        let (Some(greatest), 1..) = (self.config.max_rate, unsent) else { return };
        self.counts.unsent += unsent;
        self.wishes.unsent += unsent;
        if self.wishes.told.is_none_or(|told| now.since(told) >= INTERVAL) {
            self.wishes.told = Some(now);
            let unsent = core::mem::take(&mut self.wishes.unsent);
            self.events.push_back(Event::OverRate { greatest, unsent });
        }
    }
}
