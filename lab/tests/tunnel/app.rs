//! A program at one end of a connection.

use thalweg_core::session::tunnel::{Id, Reason, Tunnel};
use thalweg_core::time::Time;

/// A program at one end of a connection: it writes `total` bytes that follow from the connection's number, then
/// finishes, and compares the bytes that it reads with those that the other one writes.
#[derive(Debug)]
pub(crate) struct App {
    pub(crate) total: usize,
    pub(crate) written: usize,
    pub(crate) read: usize,
    pub(crate) reads: bool,
    pub(crate) finishes: bool,
    /// The time of each read, with the number of bytes read by then.
    pub(crate) arrivals: Vec<(Time, usize)>,
    pub(crate) finished: Option<Time>,
    pub(crate) closed: Option<Time>,
    pub(crate) reset: Option<(Time, Reason)>,
}

impl App {
    pub(crate) fn new(total: usize, finishes: bool) -> App {
        App {
            total,
            written: 0,
            read: 0,
            reads: true,
            finishes,
            arrivals: Vec::new(),
            finished: None,
            closed: None,
            reset: None,
        }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.closed.is_some() || self.reset.is_some()
    }

    /// Writes and reads as much as possible.
    pub(crate) fn work(&mut self, end: &mut Tunnel, now: Time, side: usize, id: Id) {
        let seed = |side: usize| u64::from(id.connection) * 2 + side as u64;
        let (mut bytes, mut expected) = ([0; 4096], [0; 4096]);
        while self.written < self.total {
            let part = &mut bytes[..(self.total - self.written).min(4096)];
            script(seed(side), self.written, part);
            let count = end.write(id, part);
            self.written += count;
            if count < part.len() {
                break;
            }
        }
        if self.finishes && self.written == self.total {
            end.finish(id);
        }
        while self.reads {
            let count = end.read(now, id, &mut bytes);
            if count == 0 {
                break;
            }
            script(seed(1 - side), self.read, &mut expected[..count]);
            assert_eq!(bytes[..count], expected[..count], "{id:?} from byte {}", self.read);
            self.read += count;
            self.arrivals.push((now, self.read));
        }
    }
}

/// The bytes that a program writes, from the `offset`-th on.
fn script(seed: u64, offset: usize, buf: &mut [u8]) {
    for (place, byte) in (offset as u64..).zip(buf) {
        // SplitMix64's finalizer.
        let mut z = (seed << 40 ^ place).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        *byte = (z ^ z >> 27) as u8;
    }
}
