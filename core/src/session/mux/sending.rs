//! The direction that leaves: what waits, the other end's credit, and the end.

use super::buffer::Buffer;
use crate::wire::Error;
use crate::wire::mux::{DATA_HEADER, Frame};

/// Bytes that wait to be sent at most, and so many of them wherever memory is short.
const MAX_UNSENT: usize = 256 << 10;
const MIN_UNSENT: usize = 4 << 10;

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sending {
    unsent: Buffer,
    /// Bytes that the other end takes.
    credit: u64,
    ending: Ending,
    wants_room: bool,
}

/// Whether this end has finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    Open,
    /// When all has been sent.
    Due,
    Said,
}

impl Sending {
    pub(super) fn new(credit: u64) -> Sending {
        Sending { unsent: Buffer::default(), credit, ending: Ending::Open, wants_room: false }
    }

    /// Takes bytes to be sent, of which `spare` more may wait, and tells how many.
    pub(super) fn write(&mut self, bytes: &[u8], spare: u64) -> usize {
        if self.ending != Ending::Open {
            return 0;
        }
        let count = bytes.len().min(self.left(spare));
        self.unsent.put(&bytes[..count]);
        self.wants_room |= count < bytes.len();
        count
    }

    /// Bytes that it takes, where `spare` more may wait; who finds none waits for room.
    pub(super) fn room(&mut self, spare: u64) -> usize {
        if self.ending != Ending::Open {
            return 0;
        }
        let room = self.left(spare);
        self.wants_room |= room == 0;
        room
    }

    /// A little always waits, since room is told of when some of it leaves.
    fn left(&self, spare: u64) -> usize {
        let waits = self.unsent.len();
        let spare = usize::try_from(spare).unwrap_or(usize::MAX);
        (MAX_UNSENT - waits).min(spare.max(MIN_UNSENT.saturating_sub(waits)))
    }

    pub(super) fn finish(&mut self) {
        if self.ending == Ending::Open {
            self.ending = Ending::Due;
        }
    }

    /// The other end takes more.
    pub(super) fn credit(&mut self, more: u32) -> Result<(), Error> {
        self.credit += u64::from(more);
        if self.credit > u32::MAX.into() { Err(Error::Length) } else { Ok(()) }
    }

    /// Whether there is data to send, or the end.
    pub(super) fn speaks(&self) -> bool {
        if self.unsent.is_empty() { self.ending == Ending::Due } else { self.credit > 0 }
    }

    /// Writes data that makes `room` bytes with its header, and the end behind the last of it. Whether somebody who waits
    /// has room to write again.
    pub(super) fn emit(&mut self, id: u32, room: usize, out: &mut Vec<u8>) -> bool {
        let most = room.saturating_sub(DATA_HEADER).min(u16::MAX.into());
        let count = self.unsent.len().min(most).min(self.credit as usize);
        if let Some(len) = u16::try_from(count).ok().filter(|len| *len > 0) {
            Frame::Data { id, len }.emit(out);
            self.unsent.pour(count, out);
            self.credit -= count as u64;
        }
        if self.ending == Ending::Due && self.unsent.is_empty() {
            self.ending = Ending::Said;
            Frame::Finish { id }.emit(out);
        }
        let has_room = self.unsent.len() <= MAX_UNSENT / 2 && self.ending == Ending::Open;
        has_room && core::mem::take(&mut self.wants_room)
    }

    /// Whether the other end was told that this is all.
    pub(super) fn is_ended(&self) -> bool {
        self.ending == Ending::Said
    }

    /// Bytes of memory that it takes.
    pub(super) fn held(&self) -> u64 {
        self.unsent.held()
    }

    /// Bytes that wait.
    pub(super) fn buffered(&self) -> u64 {
        self.unsent.len() as u64
    }
}
