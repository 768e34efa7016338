//! The receive buffer of a socket.

use std::array;
use std::fmt;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;

use quinn_udp::{BATCH_SIZE, RecvMeta};

/// The longest UDP payload, and the longest train that the kernel joins on receipt.
const SLOT: usize = 1 << 16;

/// One batch of received datagrams. The kernel hands over whole trains of equal datagrams from one sender, each in a
/// slot of its own.
pub struct Inbox {
    bytes: Box<[u8]>,
    meta: Box<[RecvMeta]>,
    filled: usize,
}

impl Inbox {
    /// An empty inbox.
    pub fn new() -> Inbox {
        // Zeroed pages cost memory only once they are written to.
        let bytes = vec![0; SLOT * BATCH_SIZE].into_boxed_slice();
        Inbox { bytes, meta: vec![RecvMeta::default(); BATCH_SIZE].into(), filled: 0 }
    }

    /// All datagrams with their senders, in order of arrival.
    pub fn datagrams(&self) -> impl Iterator<Item = (SocketAddr, &[u8])> {
        self.meta[..self.filled].iter().zip(self.bytes.chunks_exact(SLOT)).flat_map(|(meta, slot)| {
            let train = &slot[..meta.len];
            // An empty datagram is one datagram, too.
            let count = if meta.len == 0 { 1 } else { meta.len.div_ceil(meta.stride.max(1)) };
            (0..count).map(|nth| {
                let start = nth * meta.stride;
                (meta.addr, &train[start..meta.len.min(start + meta.stride)])
            })
        })
    }

    /// Replaces the contents with those that `receive` gets; returns true if more may be waiting. Errors are ICMP's
    /// answers to earlier datagrams, and are ignored here.
    pub(super) fn fill(
        &mut self,
        receive: impl FnOnce(&mut [IoSliceMut<'_>], &mut [RecvMeta]) -> io::Result<usize>,
    ) -> bool {
        let mut slots = self.bytes.chunks_exact_mut(SLOT);
        let mut buffers: [_; BATCH_SIZE] = array::from_fn(|_| IoSliceMut::new(slots.next().unwrap_or_default()));
        let outcome = receive(&mut buffers, &mut self.meta);
        self.filled = *outcome.as_ref().unwrap_or(&0);
        match outcome {
            Ok(count) => count == BATCH_SIZE,
            Err(error) => error.kind() != io::ErrorKind::WouldBlock,
        }
    }
}

impl Default for Inbox {
    fn default() -> Inbox {
        Inbox::new()
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("filled", &self.filled).finish_non_exhaustive()
    }
}
