//! The keys of one epoch, with all state that must not outlive them: the nonces sealed and opened, and the wear of the
//! keys.

use super::Limits;
use super::noise::Keys;
use super::replay::Window;
use crate::time::Time;
use crate::wire::Error;
use crate::wire::secure::sealed::Sealed;

/// The most forgeries that AES-GCM tolerates (RFC 9001 §6.6).
const FORGERIES: u64 = 1 << 52;

/// One set of keys.
#[derive(Debug)]
pub(super) struct Epoch {
    pub(super) number: u32,
    pub(super) keys: Keys,
    made: Time,
    /// The next nonce that seals.
    next: u64,
    window: Window,
    forgeries: u64,
}

impl Epoch {
    pub(super) fn new(number: u32, keys: Keys, now: Time) -> Epoch {
        Epoch { number, keys, made: now, next: 0, window: Window::new(), forgeries: 0 }
    }

    /// Seals `plain` for `id` into `buf` and returns the datagram's length.
    pub(super) fn seal(&mut self, id: u64, plain: &[u8], buf: &mut [u8]) -> usize {
        let nonce = self.next;
        self.next += 1;
        Sealed { epoch: self.number as u8, id, nonce, body: &[] }.put_header(buf);
        Sealed::HEADER + self.keys.seal(nonce, plain, &mut buf[Sealed::HEADER..])
    }

    /// Opens a datagram into `out`; returns the plaintext's length, and whether its nonce is the highest yet.
    pub(super) fn open(&mut self, sealed: &Sealed<'_>, out: &mut [u8]) -> Result<(usize, bool), Error> {
        self.window.check(sealed.nonce)?;
        match self.keys.open(sealed.nonce, sealed.body, out) {
            Ok(len) => Ok((len, self.window.mark(sealed.nonce))),
            Err(error) => {
                self.forgeries += 1;
                Err(error)
            }
        }
    }

    /// The time at which new keys are due; `Time::ZERO` once `limits.packets` datagrams have used the keys.
    pub(super) fn old_at(&self, limits: &Limits) -> Time {
        if self.uses() >= limits.packets { Time::ZERO } else { self.made + limits.age }
    }

    /// The time from which on nothing more may be sealed; `Time::ZERO` once too many datagrams or forgeries have used
    /// the keys.
    pub(super) fn worn_out_at(&self, limits: &Limits) -> Time {
        let is_worn_out = self.uses() >= limits.packets.saturating_mul(2) || self.forgeries >= FORGERIES;
        if is_worn_out { Time::ZERO } else { self.made + limits.age * 5 }
    }

    fn uses(&self) -> u64 {
        self.next.max(self.window.top())
    }
}
