//! The rate of a video, shared by the copies of a controller.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use thalweg_core::units::{Bytes, Rate};

/// The bytes of a packet that carry no video: first byte, connection ID of 8 bytes and a packet number of at most 4
/// (RFC 9000 §17.3.1), the tag of 16 (RFC 9001 §5.3), and a STREAM frame's type, ID, offset and length, which are 1, 4,
/// 8 and 2 bytes in a long video (RFC 9000 §19.8).
const OVERHEAD: u64 = 1 + 8 + 4 + 16 + 1 + 4 + 8 + 2;

/// The rate at which the video is played, shared by all copies.
#[derive(Clone, Debug)]
pub(crate) struct VideoRate(Arc<AtomicU64>);

impl VideoRate {
    pub(crate) fn new(rate: Rate) -> VideoRate {
        VideoRate(Arc::new(AtomicU64::new(rate.as_bps())))
    }

    pub(crate) fn set(&self, rate: Rate) {
        self.0.store(rate.as_bps(), Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Rate {
        Rate::from_bps(self.0.load(Ordering::Relaxed))
    }
}

/// The bytes of video that a UDP payload of `mtu` bytes carries.
pub(crate) fn payload(mtu: u16) -> Bytes {
    Bytes(u64::from(mtu).saturating_sub(OVERHEAD).max(1))
}
