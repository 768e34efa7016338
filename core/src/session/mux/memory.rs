//! Memory that a mux may hold.

use super::{Event, Mux, Reason};

/// Further bytes that may wait, of all kinds; unbounded until a limit is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) struct Bounds {
    /// To be read: what comes beyond that breaks connections off.
    pub(in super::super) unread: u64,
    /// To be sent.
    pub(in super::super) unsent: u64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { unread: u64::MAX, unsent: u64::MAX }
    }
}

impl Mux {
    /// Sets how many more bytes may wait here from now on.
    pub(in super::super) fn bound(&mut self, bounds: Bounds) {
        self.spare = bounds;
    }

    /// Bytes of memory in which something waits, either way.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Returns whether so much is held that credit comes in small pieces, and no connection is taken.
    pub(super) fn is_thrifty(&self) -> bool {
        self.spare.unsent == 0
    }

    /// A connection holds `after` bytes where it held `before`.
    pub(super) fn charge(&mut self, before: u64, after: u64) {
        let Bounds { unread, unsent } = &mut self.spare;
        self.held = self.held + after - before;
        *unread = unread.saturating_add(before).saturating_sub(after);
        // That there is more room for what is to be sent the next bounds say.
        *unsent = unsent.saturating_sub(after.saturating_sub(before));
    }

    /// Makes room for `more` bytes of `id`: where there is too little, the connection goes that has most to be read, and `id` itself
    /// where there is none.
    pub(super) fn make_room(&mut self, id: u32, more: u64) {
        while self.spare.unread < more && self.connections.contains_key(&id) {
            let unread = |id: &u32| self.connections[id].receiving.buffered();
            let most = self.connections.keys().copied().max_by_key(unread).filter(|most| unread(most) > 0);
            let broken = most.unwrap_or(id);
            self.forget(broken);
            self.resets.push_back((broken, Reason::Memory));
            self.events.push_back(Event::Reset(broken, Reason::Memory));
        }
    }
}
