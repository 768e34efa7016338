//! One connection: two directions, and the frames without data that it owes the peer.

use super::receiving::Receiving;
use super::sending::Sending;
use crate::time::Time;
use crate::wire::mux::{FIRST_CREDIT, Frame};

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Connection {
    pub(super) sending: Sending,
    pub(super) receiving: Receiving,
    /// True until the open frame was sent to the peer.
    is_open_pending: bool,
    /// True while the open frame or credit waits to be sent.
    is_frame_pending: bool,
    /// True if the connection is in the turns.
    pub(super) is_listed: bool,
}

impl Connection {
    pub(super) fn new(now: Time, is_open_pending: bool) -> Connection {
        let credit = FIRST_CREDIT.into();
        Connection {
            sending: Sending::new(credit),
            receiving: Receiving::new(now, credit),
            is_open_pending,
            is_frame_pending: is_open_pending,
            is_listed: false,
        }
    }

    /// Returns true if the connection owes a frame without data that it did not owe before.
    pub(super) fn adds_pending_frame(&mut self) -> bool {
        self.receiving.has_pending_credit() && !core::mem::replace(&mut self.is_frame_pending, true)
    }

    /// True if the open frame was not sent to the peer.
    pub(super) fn is_unopened(&self) -> bool {
        self.is_open_pending
    }

    /// Writes the frames without data that are owed.
    pub(super) fn emit_frames(&mut self, id: u32, out: &mut Vec<u8>) {
        self.is_frame_pending = false;
        if core::mem::take(&mut self.is_open_pending) {
            Frame::Open { id }.emit(out);
        }
        self.receiving.emit_credit(id, out);
    }

    /// Bytes of memory that both directions take.
    pub(super) fn held(&self) -> u64 {
        self.sending.held() + self.receiving.held()
    }

    /// True if both ends have finished.
    pub(super) fn is_complete(&self) -> bool {
        self.receiving.is_ended() && self.sending.is_ended()
    }
}
