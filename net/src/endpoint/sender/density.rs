//! The density of datagrams in time.

use thalweg_core::time::{Span, Time};

/// Datagrams per [`PERIOD`] from which on waking for each one would cost more than all else.
const DENSE: u32 = 60;
/// The period over which density is measured.
const PERIOD: Span = Span::from_millis(10);

/// The density of an input's datagrams.
#[derive(Debug, Default)]
pub(super) struct Density {
    since: Time,
    count: u32,
    is_dense: bool,
}

impl Density {
    pub(super) fn tick(&mut self, now: Time) {
        if now.since(self.since) >= PERIOD {
            *self = Density { since: now, count: 0, is_dense: self.count >= DENSE };
        }
    }

    pub(super) fn on_datagram(&mut self) {
        self.count += 1;
    }

    pub(super) fn is_dense(&self) -> bool {
        self.is_dense
    }
}
