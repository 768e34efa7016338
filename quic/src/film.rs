//! The rate of a film, told to a controller that others hold.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use thalweg_core::units::{Bytes, Rate};

/// What a packet spends on other things than the film: first byte, connection ID of 8 bytes and a packet number of at most 4
/// (RFC 9000 §17.3.1), the tag of 16 (RFC 9001 §5.3), and a STREAM frame's type, ID, offset and length, which are 1, 4, 8
/// and 2 bytes where a film is long (RFC 9000 §19.8).
const OVERHEAD: u64 = 1 + 8 + 4 + 16 + 1 + 4 + 8 + 2;

/// How fast the film is read; all copies have the same.
#[derive(Clone, Debug)]
pub(crate) struct Film(Arc<AtomicU64>);

impl Film {
    pub(crate) fn new(rate: Rate) -> Film {
        Film(Arc::new(AtomicU64::new(rate.as_bps())))
    }

    pub(crate) fn play(&self, rate: Rate) {
        self.0.store(rate.as_bps(), Ordering::Relaxed);
    }

    pub(crate) fn rate(&self) -> Rate {
        Rate::from_bps(self.0.load(Ordering::Relaxed))
    }
}

/// What a UDP payload of `mtu` bytes carries of a film.
pub(crate) fn payload(mtu: u16) -> Bytes {
    Bytes(u64::from(mtu).saturating_sub(OVERHEAD).max(1))
}
