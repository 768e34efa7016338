//! The send buffer of a socket, emptied at the end of each turn.

use std::fmt;
use std::net::SocketAddr;

use thalweg_core::session::MAX_DATAGRAM;

use super::{Socket, unspecified};

/// The kernel's limit on one call, less space for the headers (a UDP length is 16 bits).
const MAX_TRAIN: usize = 65_000;

/// Joins consecutive datagrams of equal size (the last may be shorter) to the same address into trains that are sent in
/// one call. Nothing waits here: the caller flushes the outbox in the same turn.
pub struct Outbox {
    bytes: Box<[u8]>,
    start: usize,
    end: usize,
    to: SocketAddr,
    segment: usize,
    count: usize,
}

impl Outbox {
    /// An empty outbox.
    pub fn new() -> Outbox {
        let to = unspecified(SocketAddr::from(([0; 4], 0)));
        Outbox { bytes: vec![0; MAX_TRAIN + MAX_DATAGRAM].into(), start: 0, end: 0, to, segment: 0, count: 0 }
    }

    /// Space for the next datagram: at least [`MAX_DATAGRAM`] bytes.
    pub fn space(&mut self) -> &mut [u8] {
        &mut self.bytes[self.end..]
    }

    /// Takes the first `len` bytes of [`Outbox::space`] as a datagram to `to`.
    pub fn push(&mut self, socket: &mut Socket, to: SocketAddr, len: usize) {
        if !self.joins(socket, to, len) {
            self.depart(socket);
        }
        if self.count == 0 {
            (self.to, self.segment) = (to, len);
        }
        self.end += len;
        self.count += 1;
        if self.bytes.len() - self.end < MAX_DATAGRAM {
            self.flush(socket);
        }
    }

    /// Sends all remaining datagrams.
    pub fn flush(&mut self, socket: &mut Socket) {
        self.depart(socket);
        (self.start, self.end) = (0, 0);
    }

    fn joins(&self, socket: &Socket, to: SocketAddr, len: usize) -> bool {
        let train = self.end - self.start;
        // A shorter datagram can only be the last one, an empty one stands alone.
        let open = train == self.count * self.segment && len <= self.segment && len > 0;
        to == self.to && open && self.count < socket.max_segments() && train + len <= MAX_TRAIN
    }

    fn depart(&mut self, socket: &mut Socket) {
        if self.count > 0 {
            socket.send(self.to, &self.bytes[self.start..self.end], self.segment);
        }
        (self.start, self.count) = (self.end, 0);
    }
}

impl Default for Outbox {
    fn default() -> Outbox {
        Outbox::new()
    }
}

impl fmt::Debug for Outbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox").field("waiting", &self.count).finish_non_exhaustive()
    }
}
