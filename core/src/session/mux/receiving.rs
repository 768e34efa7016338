//! The incoming direction: unread data, and the credit of the peer.

use super::buffer::Buffer;
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::mux::{FIRST_CREDIT, Frame};

/// The window of a connection whose peer holds much memory, bytes. Ours: a sixteenth of the first credit. A smaller one
/// holds less memory, and costs a credit frame for every half of it.
const LITTLE: u64 = 16 << 10;
/// The round trips within which half of a window is used if credit is the limit: one, or several if a packet is lost
/// repeatedly. Of 120 packets of which every second is lost, one is lost seven times in a row.
const PROMPT: u64 = 8;
/// The largest window: bytes in flight or unread. Half of it, which is granted again in one go, outlasts three round
/// trips at as many originals each as one combination covers. All windows together grow by at most
/// [`POOL`](super::POOL).
const MAX_WINDOW: u64 = 32 << 20;

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Receiving {
    unread: Buffer,
    /// The limit of bytes in flight or unread, and how many of them the peer may still send.
    window: u64,
    granted: u64,
    /// Bytes that are announced and have not arrived.
    coming: u64,
    /// The time of the last grant.
    granted_at: Time,
    /// Credit that was not yet sent to the peer.
    pending_credit: u64,
    /// Set once the peer has finished; and once the end was read and reported.
    is_ended: bool,
    is_end_reported: bool,
}

impl Receiving {
    pub(super) fn new(now: Time, window: u64) -> Receiving {
        Receiving {
            unread: Buffer::default(),
            window,
            granted: window,
            coming: 0,
            granted_at: now,
            pending_credit: 0,
            is_ended: false,
            is_end_reported: false,
        }
    }

    /// The next bytes to be read, as many as are contiguous.
    pub(super) fn front(&self) -> &[u8] {
        self.unread.front()
    }

    /// Consumes the first `count` bytes. Grants as many again when that is worth a frame; more, out of `pool`, to a
    /// connection that is read fast, and little if `is_memory_short`.
    pub(super) fn consume(&mut self, now: Time, rtt: Span, count: usize, pool: &mut u64, is_memory_short: bool) {
        self.unread.drop(count);
        let most = if is_memory_short { self.window.min(LITTLE) } else { self.window };
        let taken = most.saturating_sub(self.granted + self.coming + self.buffered());
        if taken * 2 < most || self.is_ended {
            return;
        }
        // The peer has used its grant and did not wait for the reader: credit is what limits it.
        let is_short = now.since(self.granted_at) < rtt * PROMPT && self.granted * 2 < self.window;
        let grows = is_short && !is_memory_short && self.window < MAX_WINDOW && self.window <= *pool;
        let more = if grows { self.window } else { 0 };
        *pool -= more;
        self.window += more;
        self.granted += taken + more;
        self.pending_credit += taken + more;
        self.granted_at = now;
    }

    /// Takes the peer's announcement of `len` bytes.
    pub(super) fn expect(&mut self, len: u64) -> Result<(), Error> {
        if self.is_ended {
            return Err(Error::Malformed);
        }
        self.granted = self.granted.checked_sub(len).ok_or(Error::Length)?;
        self.coming += len;
        Ok(())
    }

    /// Takes bytes to be read; returns true if there were none before.
    pub(super) fn put(&mut self, bytes: &[u8]) -> bool {
        let is_first = self.unread.is_empty();
        self.unread.put(bytes);
        self.coming = self.coming.saturating_sub(bytes.len() as u64);
        is_first
    }

    /// Takes the peer's finish.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        if core::mem::replace(&mut self.is_ended, true) { Err(Error::Malformed) } else { Ok(()) }
    }

    pub(super) fn has_pending_credit(&self) -> bool {
        self.pending_credit > 0
    }

    pub(super) fn emit_credit(&mut self, id: u32, out: &mut Vec<u8>) {
        let pending_credit = core::mem::take(&mut self.pending_credit);
        if let Some(more) = u32::try_from(pending_credit).ok().filter(|more| *more > 0) {
            Frame::Credit { id, more }.emit(out);
        }
    }

    /// True if the peer has finished.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Returns true once, when everything was read to the end.
    pub(super) fn poll_end(&mut self) -> bool {
        self.is_ended && self.unread.is_empty() && !core::mem::replace(&mut self.is_end_reported, true)
    }

    /// Bytes of memory that unread data takes.
    pub(super) fn held(&self) -> u64 {
        self.unread.held()
    }

    /// Bytes of memory that `more` further bytes would take in addition.
    pub(super) fn growth(&self, more: usize) -> u64 {
        self.unread.growth(more)
    }

    /// The number of unread bytes.
    pub(super) fn buffered(&self) -> u64 {
        self.unread.len() as u64
    }

    /// The bytes by which the window has grown.
    pub(super) fn grown(&self) -> u64 {
        self.window - u64::from(FIRST_CREDIT)
    }
}
