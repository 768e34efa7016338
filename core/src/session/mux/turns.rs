//! Whose turn it is (RFC 8290 §4.1): a connection that was quiet goes first, once; then all in a circle.

use std::collections::VecDeque;

use super::connection::Connection;

#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Turns {
    /// That have had no turn since they were quiet.
    fresh: VecDeque<u32>,
    circle: VecDeque<u32>,
}

impl Turns {
    /// A connection may have something to say.
    pub(super) fn put(&mut self, id: u32, connection: &mut Connection) {
        if !connection.is_listed && connection.sending.speaks() {
            connection.is_listed = true;
            self.fresh.push_back(id);
        }
    }

    /// Whose turn it is; it is to be put back or dropped.
    pub(super) fn next(&mut self) -> Option<u32> {
        self.fresh.pop_front().or_else(|| self.circle.pop_front())
    }

    /// It has had its turn.
    pub(super) fn again(&mut self, id: u32) {
        self.circle.push_back(id);
    }

    /// It has nothing to say: it is quiet from now on.
    pub(super) fn drop(&mut self, connection: &mut Connection) {
        connection.is_listed = false;
    }
}
