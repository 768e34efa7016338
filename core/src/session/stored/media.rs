//! A stored video as its sender reads it.

use crate::session::MAX_DATAGRAM;
use crate::session::stored::WINDOW;
use crate::time::Span;
use crate::units::Rate;
use crate::video::{Class, Kind};

/// A frame of pictures or sound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its class.
    pub class: Class,
    /// The index of its track.
    pub track: u8,
    /// The packets that carry it, at least 1.
    pub packets: u16,
    /// The bytes of their payloads.
    pub bytes: u32,
    /// The time at which a decoder needs it, from the start of the video.
    pub decode: Span,
    /// The time at which it is displayed, from the start of the video; not before `decode`.
    pub display: Span,
}

/// The headers of a packet in bytes: IPv4, UDP, RTP, and the extension with group and place (RFC 8285 §4.2).
pub const HEADERS: u32 = LOWER_HEADERS + 12 + 24;
/// Of these IPv4 and UDP.
const LOWER_HEADERS: u32 = 20 + 8;

/// The unit in which rates are packets per second.
// Reading(R3CP+ §3): the packets of the paper's video are alike. Those of sound are small and many: where each counts as
// one, they take the whole of a rate far below the video's mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A packet, whatever its length. The paper's.
    Packet,
    /// The mean packet of the video, with this payload in bytes. A packet counts by its length, headers included.
    Mean(u32),
}

impl Unit {
    /// The amount of `packets` with payloads of `bytes` together, of which [`Unit::one`] is that of one unit.
    pub(super) fn amount(self, packets: u32, bytes: u32) -> u32 {
        match self {
            Unit::Packet => packets,
            Unit::Mean(_) => bytes + packets * HEADERS,
        }
    }

    /// The rate in units per second with which no second carries more than `rate`, headers included.
    ///
    /// A second may begin with a packet, and have another one that was late before. A rate of less than four packets per
    /// second may be exceeded.
    pub fn at_most(self, rate: Rate) -> f64 {
        let bits = rate.as_bps() as f64;
        let packets = 2.0 * 8.0 * (MAX_DATAGRAM as f64 + f64::from(LOWER_HEADERS));
        (bits - packets).max(0.5 * bits) / (8.0 * self.one())
    }

    /// The units of a datagram of `len` bytes, UDP and IP headers excluded.
    pub(super) fn of_datagram(self, len: usize) -> f64 {
        match self {
            Unit::Packet => 1.0,
            Unit::Mean(_) => (len as f64 + f64::from(LOWER_HEADERS)) / self.one(),
        }
    }

    /// The amount of one unit.
    pub(super) fn one(self) -> f64 {
        match self {
            Unit::Packet => 1.0,
            Unit::Mean(bytes) => f64::from(bytes + HEADERS),
        }
    }
}

/// An RTP stream of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Track {
    /// The payload type of its packets.
    pub payload_type: u8,
    /// The payload type of its retransmitted packets (RFC 4588).
    pub rtx_payload_type: u8,
    /// Ticks per second of its timestamps.
    pub clock_rate: u32,
}

/// The first frame of a session, which depends on none before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct First {
    /// Its index.
    pub index: u32,
    /// Its decode time.
    pub decode: Span,
    /// The media time from which on frames are sent, by the time of their display.
    pub from: Span,
}

impl First {
    /// The frame `index`, displayed at `display`. Within a video, the frames displayed before it are not sent: they follow
    /// it in decoding order, and refer to frames before it.
    pub fn new(index: u32, decode: Span, display: Span) -> First {
        First { index, decode, from: if index == 0 { Span::ZERO } else { display } }
    }
}

/// The payload of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Payload {
    /// Its length.
    pub len: usize,
    /// The marker bit of its header.
    pub marker: bool,
}

/// A stored video.
pub trait Media {
    /// A frame, by its index in decoding order over all tracks; none after the last.
    ///
    /// References follow from the order: a P needs the I or P before it, a B the two before it.
    fn frame(&self, index: u32) -> Option<Frame>;

    /// Writes the payload of a packet into `buf`; none while its bytes are still read from their file.
    fn payload(&mut self, frame: u32, packet: u16, buf: &mut [u8]) -> Option<Payload>;
}

/// Media time at positions in a video. It is linear in packets from one I frame to the next, and within half a second at
/// most: a large frame takes long to send, and stands for little time.
// Reading(R3CP+ Eq. (9)): the paper counts the queue in packets. Frames are unequal, and mu d packets are not the
// playback time d: on an idle path 77 % of the frames were skipped.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct MediaTime {
    /// The first frame of the span, and its decode time.
    first: u32,
    start: Span,
    /// The first frame after the span.
    end: u32,
    length: Span,
    packets: u32,
    /// The packets of frames before the position.
    passed: u32,
}

impl MediaTime {
    /// The media time at the frame `first`.
    pub(super) fn at(media: &impl Media, first: u32) -> MediaTime {
        let start = media.frame(first).map_or(Span::ZERO, |frame| frame.decode);
        let (mut end, mut packets, mut last) = (first, 0, start);
        // A picture has a time of its own; the span ends with one.
        let mut until = None;
        while let Some(frame) = media.frame(end) {
            let is_next = end > first && frame.class == Class::Picture(Kind::I);
            if is_next || frame.decode >= start + WINDOW {
                until = Some(frame.decode);
                break;
            }
            (packets, end, last) = (packets + u32::from(frame.packets), end + 1, last.max(frame.decode));
        }
        // The last span of a video ends with its last frame.
        let length = until.unwrap_or(last).saturating_sub(start);
        MediaTime { first, start, end, length, packets, passed: 0 }
    }

    /// Moves past the frame `index`, which has `packets`.
    pub(super) fn pass(&mut self, media: &impl Media, index: u32, packets: u16) {
        self.passed += u32::from(packets);
        if index + 1 >= self.end {
            let start = self.start + self.length;
            *self = MediaTime::at(media, index + 1);
            self.start = self.start.max(start);
        }
    }

    /// The media time of the position, less `unsent` packets.
    pub(super) fn before(&self, unsent: u32) -> Span {
        let time_of = |packets: u32| self.length.mul_div(packets.into(), self.packets.max(1).into());
        (self.start + time_of(self.passed)).saturating_sub(time_of(unsent))
    }
}
