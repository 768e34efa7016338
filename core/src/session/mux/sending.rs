//! The outgoing direction: waiting data, credit of the peer, and the end.

use super::buffer::Buffer;
use crate::wire::Error;
use crate::wire::mux::{DATA_HEADER, Frame};

/// The limit of bytes that wait to be sent, and the number of them that is accepted even if memory is short. Ours: as
/// much as a new connection has credit for ([`FIRST_CREDIT`](crate::wire::mux::FIRST_CREDIT)), and some keystrokes.
/// More holds memory for data that cannot leave, less wakes the writer more often.
const MAX_UNSENT: usize = 256 << 10;
const MIN_UNSENT: usize = 4 << 10;

#[derive(Clone, PartialEq, Debug)]
pub(super) struct Sending {
    unsent: Buffer,
    /// Bytes that the peer still accepts.
    credit: u64,
    ending: Ending,
    is_writer_blocked: bool,
}

/// The state of this end's finish.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    Open,
    /// Finish to be sent after all data.
    Due,
    Sent,
}

impl Sending {
    pub(super) fn new(credit: u64) -> Sending {
        Sending { unsent: Buffer::default(), credit, ending: Ending::Open, is_writer_blocked: false }
    }

    /// Accepts a prefix of `bytes`, of which `spare` more may wait, and returns its length.
    pub(super) fn write(&mut self, bytes: &[u8], spare: u64) -> usize {
        if self.ending != Ending::Open {
            return 0;
        }
        let count = bytes.len().min(self.left(spare));
        self.unsent.put(&bytes[..count]);
        self.is_writer_blocked |= count < bytes.len();
        count
    }

    /// The number of bytes that [`Sending::write`] accepts if `spare` more may wait. If it is 0, free space is reported
    /// later.
    pub(super) fn capacity(&mut self, spare: u64) -> usize {
        if self.ending != Ending::Open {
            return 0;
        }
        let capacity = self.left(spare);
        self.is_writer_blocked |= capacity == 0;
        capacity
    }

    /// The free space. A little is always accepted, since free space is reported only when data leaves.
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

    /// Takes credit from the peer.
    pub(super) fn credit(&mut self, more: u32) -> Result<(), Error> {
        self.credit += u64::from(more);
        if self.credit > u32::MAX.into() { Err(Error::Length) } else { Ok(()) }
    }

    /// True if there is data to send that has credit, or the end.
    pub(super) fn has_data(&self) -> bool {
        if self.unsent.is_empty() { self.ending == Ending::Due } else { self.credit > 0 }
    }

    /// Writes a data frame of at most `capacity` bytes with its header, and the finish behind the last data. Returns true
    /// if a writer that waits has free space again.
    pub(super) fn emit(&mut self, id: u32, capacity: usize, out: &mut Vec<u8>) -> bool {
        let most = capacity.saturating_sub(DATA_HEADER).min(u16::MAX.into());
        let count = self.unsent.len().min(most).min(self.credit as usize);
        if let Some(len) = u16::try_from(count).ok().filter(|len| *len > 0) {
            Frame::Data { id, len }.emit(out);
            self.unsent.pour(count, out);
            self.credit -= count as u64;
        }
        if self.ending == Ending::Due && self.unsent.is_empty() {
            self.ending = Ending::Sent;
            Frame::Finish { id }.emit(out);
        }
        let has_space = self.unsent.len() <= MAX_UNSENT / 2 && self.ending == Ending::Open;
        has_space && core::mem::take(&mut self.is_writer_blocked)
    }

    /// True if the finish was sent to the peer.
    pub(super) fn is_ended(&self) -> bool {
        self.ending == Ending::Sent
    }

    /// Bytes of memory that waiting data takes.
    pub(super) fn held(&self) -> u64 {
        self.unsent.held()
    }

    /// The number of bytes that wait.
    pub(super) fn buffered(&self) -> u64 {
        self.unsent.len() as u64
    }
}
