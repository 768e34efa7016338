//! Packet conservation: in every run, packets are neither invented nor forgotten.

use core::fmt;

use crate::node::{Tallied, Tally};
use crate::path::Path;

/// An account that does not balance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leak {
    /// The element, or "path" for the whole.
    pub name: String,
    /// Packets that entered.
    pub received: u64,
    /// Packets that left.
    pub sent: u64,
    /// The element's own account of the difference.
    pub tally: Tally,
}

impl fmt::Display for Leak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Leak { name, received, sent, tally } = self;
        let Tally { added, dropped, consumed, held, .. } = tally;
        write!(
            f,
            "{name} does not conserve packets: {received} in + {added} added is not {sent} out + {} dropped + \
             {consumed} consumed + {held} queued",
            dropped.total()
        )
    }
}

impl std::error::Error for Leak {}

/// Checks that in + added = out + dropped + consumed + queued, for every element and for the path as a whole.
///
/// # Errors
/// Names the first element whose account does not balance.
pub fn conservation(path: &Path) -> Result<(), Leak> {
    for account in path.accounts() {
        balance(account.name, account.received, account.sent, account.tally)?;
    }
    balance("path", path.accepted(), path.delivered(), path.tally())
}

pub(crate) fn balance(name: &str, received: u64, sent: u64, tally: Tally) -> Result<(), Leak> {
    if received + tally.added == sent + tally.dropped.total() + tally.consumed + tally.held {
        Ok(())
    } else {
        Err(Leak { name: name.to_owned(), received, sent, tally })
    }
}
