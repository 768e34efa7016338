//! The direction that comes in: what is unread, and what the other end may still send.

use super::buffer::Buffer;
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::mux::{FIRST_CREDIT, Frame};

/// Bytes that a connection of a peer that holds much may have in flight or unread.
const LITTLE: u64 = 16 << 10;
/// Round trips in which half of a window is used where credit is the limit: one, or several where a packet is lost again and again.
/// Of 120 packets of which each second is lost, one is lost seven times in a row.
const PROMPT: u64 = 8;
/// What may be under way or unread at most, bytes: half of it, which is granted again in one go, outlasts three round trips at
/// as many originals each as one combination covers. All connections together have no more for it.
const MAX_WINDOW: u64 = 32 << 20;

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Receiving {
    unread: Buffer,
    /// What may be under way or unread, and how much of it the other end may still send.
    window: u64,
    granted: u64,
    /// Bytes that are announced and have not come.
    coming: u64,
    /// When some was granted last.
    granted_at: Time,
    /// Credit that the other end has not heard of.
    owed: u64,
    /// The other end has finished; and that this is read and told.
    is_ended: bool,
    told_ended: bool,
}

impl Receiving {
    pub(super) fn new(now: Time, window: u64) -> Receiving {
        Receiving {
            unread: Buffer::default(),
            window,
            granted: window,
            coming: 0,
            granted_at: now,
            owed: 0,
            is_ended: false,
            told_ended: false,
        }
    }

    /// The next bytes to be read, as many as lie in one piece.
    pub(super) fn front(&self) -> &[u8] {
        self.unread.front()
    }

    /// The first `count` bytes were read. Grants as many again when that is worth a frame; more, out of `pool`, to one who reads fast,
    /// and little to one who `is_thrifty`.
    pub(super) fn consume(&mut self, now: Time, rtt: Span, count: usize, pool: &mut u64, is_thrifty: bool) {
        self.unread.drop(count);
        let most = if is_thrifty { self.window.min(LITTLE) } else { self.window };
        let taken = most.saturating_sub(self.granted + self.coming + self.buffered());
        if taken * 2 < most || self.is_ended {
            return;
        }
        // The other end has used what it was granted, and it did not wait for the reader: credit is what limits it.
        let is_short = now.since(self.granted_at) < rtt * PROMPT && self.granted * 2 < self.window;
        let grows = is_short && !is_thrifty && self.window < MAX_WINDOW && self.window <= *pool;
        let more = if grows { self.window } else { 0 };
        *pool -= more;
        self.window += more;
        self.granted += taken + more;
        self.owed += taken + more;
        self.granted_at = now;
    }

    /// The other end announces `len` bytes.
    pub(super) fn expect(&mut self, len: u64) -> Result<(), Error> {
        if self.is_ended {
            return Err(Error::Malformed);
        }
        self.granted = self.granted.checked_sub(len).ok_or(Error::Length)?;
        self.coming += len;
        Ok(())
    }

    /// Takes bytes to be read; whether there were none before.
    pub(super) fn put(&mut self, bytes: &[u8]) -> bool {
        let is_first = self.unread.is_empty();
        self.unread.put(bytes);
        self.coming = self.coming.saturating_sub(bytes.len() as u64);
        is_first
    }

    /// The other end has finished.
    pub(super) fn end(&mut self) -> Result<(), Error> {
        if core::mem::replace(&mut self.is_ended, true) { Err(Error::Malformed) } else { Ok(()) }
    }

    pub(super) fn owes_credit(&self) -> bool {
        self.owed > 0
    }

    pub(super) fn emit_credit(&mut self, id: u32, out: &mut Vec<u8>) {
        let owed = core::mem::take(&mut self.owed);
        if let Some(more) = u32::try_from(owed).ok().filter(|more| *more > 0) {
            Frame::Credit { id, more }.emit(out);
        }
    }

    /// Whether the other end has finished.
    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }

    /// Whether all was read to the end, and it has not been told.
    pub(super) fn tell_ended(&mut self) -> bool {
        self.is_ended && self.unread.is_empty() && !core::mem::replace(&mut self.told_ended, true)
    }

    /// Bytes of memory that it takes.
    pub(super) fn held(&self) -> u64 {
        self.unread.held()
    }

    /// Memory in bytes that `more` bytes would take in addition.
    pub(super) fn growth(&self, more: usize) -> u64 {
        self.unread.growth(more)
    }

    /// Bytes that are unread.
    pub(super) fn buffered(&self) -> u64 {
        self.unread.len() as u64
    }

    /// By how much its credit has grown.
    pub(super) fn grown(&self) -> u64 {
        self.window - u64::from(FIRST_CREDIT)
    }
}
