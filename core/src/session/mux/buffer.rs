//! Bytes in order, in memory only while there are any.

use std::collections::VecDeque;

/// So much stays allocated when there is nothing in it, bytes.
const IDLE: usize = 1024;
/// Memory is that of the bytes, and of one in so many of them.
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

    /// Bytes of memory that it takes.
    pub(super) fn held(&self) -> u64 {
        self.0.capacity() as u64
    }

    /// Memory in bytes that `more` bytes would take in addition.
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

    /// The first bytes, as many as lie in one piece.
    pub(super) fn front(&self) -> &[u8] {
        self.0.as_slices().0
    }

    /// Moves the first `count` behind what is in `out`.
    pub(super) fn pour(&mut self, count: usize, out: &mut Vec<u8>) {
        let (front, back) = self.0.as_slices();
        let split = count.min(front.len());
        out.extend_from_slice(&front[..split]);
        out.extend_from_slice(&back[..count - split]);
        self.drop(count);
    }

    /// Forgets the first `count`.
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
    fn memory_follows_the_bytes_up_and_down() {
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
