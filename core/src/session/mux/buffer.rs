//! Bytes in order, in memory only while there are any.

use std::collections::VecDeque;

/// So much stays allocated when there is nothing in it, bytes.
const IDLE: usize = 1024;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Buffer(VecDeque<u8>);

impl Buffer {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    /// Takes over the first bytes of `buf`, and tells how many.
    pub(super) fn read(&mut self, buf: &mut [u8]) -> usize {
        let count = buf.len().min(self.0.len());
        let (front, back) = self.0.as_slices();
        let split = count.min(front.len());
        buf[..split].copy_from_slice(&front[..split]);
        buf[split..count].copy_from_slice(&back[..count - split]);
        self.drop(count);
        count
    }

    /// Moves the first `count` behind what is in `out`.
    pub(super) fn pour(&mut self, count: usize, out: &mut Vec<u8>) {
        let (front, back) = self.0.as_slices();
        let split = count.min(front.len());
        out.extend_from_slice(&front[..split]);
        out.extend_from_slice(&back[..count - split]);
        self.drop(count);
    }

    fn drop(&mut self, count: usize) {
        self.0.drain(..count);
        if self.0.is_empty() && self.0.capacity() > IDLE {
            self.0 = VecDeque::new();
        }
    }
}
