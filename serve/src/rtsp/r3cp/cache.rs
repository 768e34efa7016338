//! Frames that were read, for one viewer.

use std::collections::VecDeque;

use thalweg_core::session::stored::Payload;
use thalweg_core::wire::payload;

/// Limit in bytes on the frames that are kept, unless one frame alone exceeds it.
const LIMIT: usize = 16 << 10;

/// A frame with its packets.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) index: u32,
    pub(super) bytes: Box<[u8]>,
    pub(super) payloads: Box<[payload::Payload]>,
}

/// The frames that were used or read last.
#[derive(Debug, Default)]
pub(super) struct Cache {
    /// The last used is the last.
    frames: VecDeque<Read>,
    /// Bytes of the frames.
    len: usize,
}

impl Read {
    /// Writes the payload of a packet. A frame without bytes has one packet, which is empty.
    pub(super) fn write(&self, packet: u16, buf: &mut [u8]) -> Payload {
        match self.payloads.get(usize::from(packet)) {
            Some(payload) => Payload { len: payload.emit(&self.bytes, buf), marker: payload.marker },
            None => Payload { len: 0, marker: true },
        }
    }
}

impl Cache {
    /// The frame with this index.
    pub(super) fn get(&mut self, index: u32) -> Option<&Read> {
        // Mostly that of the packet before.
        let nth = self.frames.iter().rposition(|read| read.index == index)?;
        if nth + 1 < self.frames.len() {
            let read = self.frames.remove(nth)?;
            self.frames.push_back(read);
        }
        self.frames.back()
    }

    pub(super) fn contains(&self, index: u32) -> bool {
        self.frames.iter().any(|read| read.index == index)
    }

    /// Adds a frame, in place of those that were not used for longest.
    pub(super) fn insert(&mut self, read: Read) {
        self.len += read.bytes.len();
        while self.len > LIMIT
            && let Some(oldest) = self.frames.pop_front()
        {
            self.len -= oldest.bytes.len();
        }
        self.frames.push_back(read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(index: u32, len: usize) -> Read {
        Read { index, bytes: vec![0; len].into(), payloads: Box::new([]) }
    }

    #[test]
    fn frames_that_were_not_used_for_longest_are_dropped() {
        let mut cache = Cache::default();
        (0..4).for_each(|index| cache.insert(read(index, LIMIT / 4)));
        assert!(cache.get(0).is_some());
        cache.insert(read(4, LIMIT / 4));
        assert_eq!([0, 1, 2, 3, 4].map(|index| cache.contains(index)), [true, false, true, true, true]);
        cache.insert(read(5, 2 * LIMIT));
        assert_eq!([0, 2, 3, 4, 5].map(|index| cache.contains(index)), [false, false, false, false, true]);
        cache.insert(read(6, 1));
        assert_eq!([5, 6].map(|index| cache.contains(index)), [false, true]);
    }
}
