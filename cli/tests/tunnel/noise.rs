//! Pseudorandom bytes that can be generated again (G. Marsaglia, Xorshift RNGs, 2003).

use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// A generator with the same bytes for the same seed.
#[derive(Clone)]
pub(crate) struct Noise(u64);

impl Noise {
    pub(crate) fn new(seed: u64) -> Noise {
        Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// Writes the next `len` bytes.
    pub(crate) fn write(&mut self, to: &mut impl Write, len: u64) -> io::Result<()> {
        let mut chunk = [0; 1 << 14];
        let mut left = len;
        while left > 0 {
            let now = left.min(chunk.len() as u64) as usize;
            self.fill(&mut chunk[..now]);
            to.write_all(&chunk[..now])?;
            left -= now as u64;
        }
        Ok(())
    }

    /// Expects exactly the next `len` bytes, and then the end.
    pub(crate) fn expect(&mut self, from: &mut impl Read, len: u64) {
        self.expect_part(from, len);
        assert_eq!(from.read(&mut [0]).expect("the end"), 0, "more than {len} bytes");
    }

    /// Expects the next `len` bytes; more may follow.
    pub(crate) fn expect_part(&mut self, from: &mut impl Read, len: u64) {
        let (mut got, mut wanted) = ([0; 1 << 14], [0; 1 << 14]);
        let mut left = len;
        while left > 0 {
            let now = left.min(got.len() as u64) as usize;
            from.read_exact(&mut got[..now])
                .unwrap_or_else(|error| panic!("{error}, {left} of {len} bytes before the end"));
            self.fill(&mut wanted[..now]);
            assert!(got[..now] == wanted[..now], "other bytes, {left} before the end");
            left -= now as u64;
        }
    }

    /// Expects the next bytes until the stream ends, and counts them; returns the kind of its end.
    pub(crate) fn recognise(&mut self, from: &mut impl Read, count: &AtomicU64) -> Result<(), ErrorKind> {
        let (mut got, mut wanted) = ([0; 1 << 14], [0; 1 << 14]);
        let mut at = wanted.len();
        loop {
            let len = match from.read(&mut got) {
                Ok(0) => return Ok(()),
                Ok(len) => len,
                Err(error) => return Err(error.kind()),
            };
            for byte in &got[..len] {
                if at == wanted.len() {
                    self.fill(&mut wanted);
                    at = 0;
                }
                assert_eq!(*byte, wanted[at], "another byte behind {}", count.load(Ordering::Relaxed));
                at += 1;
            }
            count.fetch_add(len as u64, Ordering::Relaxed);
        }
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let next = self.next().to_le_bytes();
            chunk.copy_from_slice(&next[..chunk.len()]);
        }
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
