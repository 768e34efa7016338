//! Memory that a mux may hold.

/// Limits of further bytes that may wait, over all connections; unbounded until they are set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Bounds {
    /// Bytes to be read: if more arrive, connections are reset.
    pub(in super::super) unread: u64,
    /// Bytes to be sent.
    pub(in super::super) unsent: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { unread: u64::MAX, unsent: u64::MAX }
    }
}

/// The memory in which data of all connections waits.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Memory {
    held: u64,
    spare: Bounds,
}

impl Memory {
    /// Sets the limits of further bytes that may wait here from now on.
    pub(super) fn bound(&mut self, bounds: Bounds) {
        self.spare = bounds;
    }

    /// Bytes held, in both directions.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Further bytes that may wait to be sent.
    pub(super) fn unsent(&self) -> u64 {
        self.spare.unsent
    }

    /// True if so much is held that credit is granted in small pieces, and new connections are refused.
    pub(super) fn is_short(&self) -> bool {
        self.spare.unsent == 0
    }

    /// True if `more` bytes may wait to be read.
    pub(super) fn takes(&self, more: u64) -> bool {
        more <= self.spare.unread
    }

    /// Accounts for a connection that holds `after` bytes and held `before`.
    pub(super) fn charge(&mut self, before: u64, after: u64) {
        let Bounds { unread, unsent } = &mut self.spare;
        self.held = self.held + after - before;
        *unread = unread.saturating_add(before).saturating_sub(after);
        // Memory that is freed raises this limit only when limits are set again.
        *unsent = unsent.saturating_sub(after.saturating_sub(before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_memory_takes_more_to_read_at_once_and_more_to_send_after_new_limits() {
        let mut memory = Memory::default();
        memory.bound(Bounds { unread: 100, unsent: 50 });
        memory.charge(0, 60);
        assert_eq!((memory.held(), memory.unsent(), memory.is_short()), (60, 0, true));
        assert!(memory.takes(40) && !memory.takes(41));
        memory.charge(60, 20);
        assert_eq!((memory.held(), memory.is_short()), (20, true));
        assert!(memory.takes(80) && !memory.takes(81));
        memory.bound(Bounds { unread: 100, unsent: 50 });
        assert!(!memory.is_short());
    }
}
