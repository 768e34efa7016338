//! RTP/MP2T (RFC 2250) as an output.

use thalweg_core::rng::Rng;
use thalweg_core::time::Time;
use thalweg_core::units::Bytes;
use thalweg_core::wire::rtp::{self, HEADER_LEN, Header};
use thalweg_mpegts::is_whole_packets;

/// Generates the RTP headers of one stream.
#[derive(Debug)]
pub(super) struct Wrap {
    next: Header,
    /// Timestamp at the zero of the clock.
    epoch: u32,
    skipped: Bytes,
}

impl Wrap {
    /// A stream with random first sequence number and timestamp (RFC 3550 §5.1).
    pub(super) fn new(mut rng: Rng) -> Wrap {
        let (sequence, ssrc, epoch) = (rng.u32() as u16, rng.u32(), rng.u32());
        Wrap { next: Header { payload_type: rtp::MP2T, sequence, ssrc, ..Header::default() }, epoch, skipped: Bytes(0) }
    }

    /// The header of the packet that carries `payload` at `now`; none if the payload is not whole MPEG-TS packets.
    pub(super) fn header(&mut self, now: Time, payload: &[u8]) -> Option<[u8; HEADER_LEN]> {
        if !is_whole_packets(payload) {
            self.skipped += Bytes(payload.len() as u64);
            return None;
        }
        let mut bytes = [0; HEADER_LEN];
        self.next.timestamp = self.epoch.wrapping_add(rtp::timestamp(now));
        self.next.emit(&[], &mut bytes);
        self.next.sequence = self.next.sequence.wrapping_add(1);
        Some(bytes)
    }

    /// Bytes that belong to no packet.
    pub(super) fn skipped(&self) -> Bytes {
        self.skipped
    }
}
