//! A byte queue whose memory follows its length.

use std::collections::VecDeque;

/// The capacity that an empty buffer keeps, bytes. Ours: space for keystrokes, so that a connection of them does not
/// allocate for each.
const IDLE: usize = 1024;
/// Limits of the capacity: it grows by at least the length divided by this, and shrinks when it exceeds the length
/// times this. Ours: a growing buffer leaves at most a fifth of its memory unused and moves each byte four times on
/// average; a greater divisor wastes less and moves more.
const ROUNDING: usize = 4;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Buffer(VecDeque<u8>);

impl Buffer {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of memory that the buffer takes.
    pub(super) fn held(&self) -> u64 {
        self.0.capacity() as u64
    }

    /// Bytes of memory that `more` further bytes would take in addition.
    pub(super) fn growth(&self, more: usize) -> u64 {
        let missing = (self.len() + more).saturating_sub(self.0.capacity());
        if missing == 0 { 0 } else { missing.max(self.len() / ROUNDING) as u64 }
    }

    pub(super) fn put(&mut self, bytes: &[u8]) {
        let growth = self.growth(bytes.len()) as usize;
        if growth > 0 {
            self.0.reserve_exact(self.0.capacity() - self.len() + growth);
        }
        self.0.extend(bytes);
    }

    /// The first bytes, as many as are contiguous.
    pub(super) fn front(&self) -> &[u8] {
        self.0.as_slices().0
    }

    /// Moves the first `count` bytes to the end of `out`.
    pub(super) fn pour(&mut self, count: usize, out: &mut Vec<u8>) {
        let (front, back) = self.0.as_slices();
        let split = count.min(front.len());
        out.extend_from_slice(&front[..split]);
        out.extend_from_slice(&back[..count - split]);
        self.drop(count);
    }

    /// Discards the first `count` bytes.
    pub(super) fn drop(&mut self, count: usize) {
        self.0.drain(..count);
        if self.0.capacity() > IDLE.max(self.len() * ROUNDING) {
            self.0.shrink_to(self.len() * 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_grows_and_shrinks_with_the_buffered_bytes() {
        let mut buffer = Buffer::default();
        for _ in 0..1_000 {
            let (before, growth) = (buffer.held(), buffer.growth(1_000));
            buffer.put(&[7; 1_000]);
            assert_eq!(buffer.held(), before + growth);
            assert!(buffer.held() <= (buffer.len() + buffer.len() / ROUNDING) as u64);
        }
        while !buffer.is_empty() {
            buffer.drop(500);
            assert!(buffer.held() <= IDLE.max(buffer.len() * ROUNDING) as u64);
        }
        assert!(buffer.held() <= IDLE as u64);
    }
}
