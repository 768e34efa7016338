//! The RTP streams of a session, source and repair: identifiers, sequence numbers and timestamps.

use super::history::Stream;
use crate::rng::Rng;
use crate::session::live::{Media, OPAQUE, REPAIR};
use crate::time::Time;
use crate::wire::rtp;

/// One outgoing RTP stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RtpStream {
    pub(super) ssrc: u32,
    pub(super) payload_type: u8,
    /// Sequence number of the next packet.
    pub(super) next: u64,
}

/// The streams of source and repair packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Streams {
    pub(super) source: RtpStream,
    pub(super) repair: RtpStream,
    /// Under a rate law, the sequence number of the next source packet to be scheduled: media that is too late is
    /// dropped before it gets a number.
    pub(super) scheduled: u64,
    timestamp_base: u32,
}

impl RtpStream {
    fn new(payload_type: u8, rng: &mut Rng) -> RtpStream {
        // Numbers begin within the lower half, so that the first packets do not wrap (RFC 3711 asks for the same).
        RtpStream { ssrc: rng.u32(), payload_type, next: (1 << 16) + rng.below(1 << 15) }
    }
}

impl Streams {
    pub(super) fn new(media: Media, rng: &mut Rng) -> Streams {
        let media_type = match media {
            Media::Mp2t => rtp::MP2T,
            Media::Opaque => OPAQUE,
        };
        let source = RtpStream::new(media_type, rng);
        let repair = RtpStream::new(REPAIR, rng);
        Streams { source, repair, scheduled: source.next, timestamp_base: rng.u32() }
    }

    /// The stream with this SSRC.
    pub(super) fn of(&self, ssrc: u32) -> Option<Stream> {
        match ssrc {
            ssrc if ssrc == self.source.ssrc => Some(Stream::Source),
            ssrc if ssrc == self.repair.ssrc => Some(Stream::Repair),
            _ => None,
        }
    }

    /// The RTP timestamp of `now`.
    pub(super) fn timestamp(&self, now: Time) -> u32 {
        rtp::timestamp(now).wrapping_add(self.timestamp_base)
    }

    /// The header of the next packet of `stream`, which is one of these.
    pub(super) fn header(&self, stream: RtpStream, now: Time) -> rtp::Header {
        rtp::Header {
            marker: false,
            payload_type: stream.payload_type,
            sequence: stream.next as u16,
            timestamp: self.timestamp(now),
            ssrc: stream.ssrc,
        }
    }
}
