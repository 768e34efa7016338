//! What the sender would have its source do.

use super::{Event, Sender};
use crate::time::{Span, Time};

/// Between two words of media beyond the greatest rate.
const INTERVAL: Span = Span::from_secs(1);

/// Media beyond the greatest rate, of which nothing was said yet.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Beyond {
    unsent: u64,
    told: Option<Time>,
}

impl Sender {
    /// Counts `unsent` media datagrams for which the greatest rate had no room, and says so once a second.
    pub(super) fn tell_unsent(&mut self, now: Time, unsent: u64) {
        let (Some(greatest), 1..) = (self.config.max_rate, unsent) else { return };
        self.counts.unsent += unsent;
        self.beyond.unsent += unsent;
        if self.beyond.told.is_none_or(|told| now.since(told) >= INTERVAL) {
            let Beyond { unsent, .. } = core::mem::replace(&mut self.beyond, Beyond { unsent: 0, told: Some(now) });
            self.events.push_back(Event::OverRate { greatest, unsent });
        }
    }
}
