//! One connection: two directions, and what the other end has yet to hear of them.

use super::receiving::Receiving;
use super::sending::Sending;
use crate::time::Time;
use crate::wire::mux::{FIRST_CREDIT, Frame};

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Connection {
    pub(super) sending: Sending,
    pub(super) receiving: Receiving,
    /// Whether the other end has not heard of it.
    owes_open: bool,
    /// Whether it waits to say that, or to grant credit.
    is_owing: bool,
    /// Whether it is in the turns.
    pub(super) is_listed: bool,
}

impl Connection {
    pub(super) fn new(now: Time, owes_open: bool) -> Connection {
        let credit = FIRST_CREDIT.into();
        Connection {
            sending: Sending::new(credit),
            receiving: Receiving::new(now, credit),
            owes_open,
            is_owing: owes_open,
            is_listed: false,
        }
    }

    /// Whether it owes a frame without data that it did not owe before.
    pub(super) fn owes_news(&mut self) -> bool {
        self.receiving.owes_credit() && !core::mem::replace(&mut self.is_owing, true)
    }

    /// Whether the other end has not heard of it.
    pub(super) fn is_news(&self) -> bool {
        self.owes_open
    }

    /// Writes the frames without data.
    pub(super) fn emit_news(&mut self, id: u32, out: &mut Vec<u8>) {
        self.is_owing = false;
        if core::mem::take(&mut self.owes_open) {
            Frame::Open { id }.emit(out);
        }
        self.receiving.emit_credit(id, out);
    }

    /// Bytes of memory in which something waits, either way.
    pub(super) fn held(&self) -> u64 {
        self.sending.held() + self.receiving.held()
    }

    /// Whether both ends have finished.
    pub(super) fn is_complete(&self) -> bool {
        self.receiving.is_ended() && self.sending.is_ended()
    }
}
