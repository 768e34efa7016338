//! Turns of connections (RFC 8290 §4.1): one that was idle goes first, once; then all in a circle.

use std::collections::VecDeque;

use super::connection::Connection;

#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct RoundRobin {
    /// Connections that have had no turn since they were idle.
    fresh: VecDeque<u32>,
    circle: VecDeque<u32>,
}

impl RoundRobin {
    /// Adds a connection that is not listed, if it has something to send.
    pub(super) fn put(&mut self, id: u32, connection: &mut Connection) {
        if !connection.is_listed && connection.sending.has_data() {
            connection.is_listed = true;
            self.fresh.push_back(id);
        }
    }

    /// Takes out the connection whose turn it is; it is to be put back or dropped.
    pub(super) fn next(&mut self) -> Option<u32> {
        self.fresh.pop_front().or_else(|| self.circle.pop_front())
    }

    /// Puts a connection back after its turn.
    pub(super) fn again(&mut self, id: u32) {
        self.circle.push_back(id);
    }

    /// Drops a connection that has nothing to send: it is idle from now on.
    pub(super) fn drop(&mut self, connection: &mut Connection) {
        connection.is_listed = false;
    }
}
