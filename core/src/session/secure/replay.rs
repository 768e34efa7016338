//! Replay protection: a sliding bitmap of received nonces (RFC 6479), so that no datagram is accepted twice.
//!
//! The bitmap is a ring of blocks of 64 nonces; it moves by whole blocks, so nothing is ever shifted.

use crate::wire::Error;

/// The blocks of the ring (RFC 6479), of which one is being filled: a power of two. Ours: 1 KiB for each association.
const BLOCKS: u64 = 128;

/// Distance below the highest nonce up to which a nonce is distinguished from its repetition. At 2 Gb/s in packets of
/// 1200 bytes that is 39 ms of reordering; later packets count as lost.
pub const WINDOW: u64 = (BLOCKS - 1) * 64;

/// The nonces received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Window {
    /// One above the highest nonce received.
    top: u64,
    blocks: [u64; BLOCKS as usize],
}

impl Window {
    pub(super) fn new() -> Window {
        Window { top: 0, blocks: [0; BLOCKS as usize] }
    }

    /// One above the highest nonce received; zero before the first.
    pub(super) fn top(&self) -> u64 {
        self.top
    }

    /// Checks that `nonce` may be accepted; it is marked only once the datagram is authenticated.
    pub(super) fn check(&self, nonce: u64) -> Result<(), Error> {
        if nonce >= self.top {
            return Ok(());
        }
        if self.top - nonce > WINDOW || self.blocks[block(nonce)] & bit(nonce) != 0 {
            return Err(Error::Repeated);
        }
        Ok(())
    }

    /// Marks `nonce` as received, and returns whether it is the highest.
    pub(super) fn mark(&mut self, nonce: u64) -> bool {
        let is_highest = nonce >= self.top;
        if is_highest {
            let last = self.top.saturating_sub(1) / 64;
            let steps = (nonce / 64 - last).min(BLOCKS);
            for step in 1..=steps {
                self.blocks[((last + step) % BLOCKS) as usize] = 0;
            }
            self.top = nonce.saturating_add(1);
        }
        self.blocks[block(nonce)] |= bit(nonce);
        is_highest
    }
}

fn block(nonce: u64) -> usize {
    (nonce / 64 % BLOCKS) as usize
}

fn bit(nonce: u64) -> u64 {
    1 << (nonce % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn late_nonce_is_accepted_once_and_one_below_the_window_never() {
        let mut window = Window::new();
        assert!(window.mark(10_000));
        assert_eq!(window.check(10_001 - WINDOW), Ok(()));
        assert_eq!(window.check(10_000 - WINDOW), Err(Error::Repeated));
        assert!(!window.mark(9_000));
        assert_eq!(window.check(9_000), Err(Error::Repeated));
        assert_eq!(window.check(10_000), Err(Error::Repeated));
        assert_eq!(window.check(8_999), Ok(()));
    }

    proptest! {
        #[test]
        fn no_nonce_is_accepted_twice(steps in prop::collection::vec((0..3u8, 0..20_000u64), 1..400)) {
            let mut window = Window::new();
            let mut taken = BTreeSet::new();
            for (kind, step) in steps {
                let nonce = match kind {
                    0 => window.top() + step % 70,
                    1 => window.top() + step,
                    _ => window.top().saturating_sub(step),
                };
                let is_in_reach = nonce + WINDOW >= window.top();
                let is_fresh = !taken.contains(&nonce);
                prop_assert_eq!(window.check(nonce).is_ok(), is_in_reach && is_fresh);
                if window.check(nonce).is_ok() {
                    window.mark(nonce);
                    taken.insert(nonce);
                }
            }
        }
    }
}
