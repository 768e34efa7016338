//! Video as packets: the common part of recorded and modeled videos.

use serde::Deserialize;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
pub use thalweg_core::video::Kind;

use crate::packet;

/// The size of a packet's headers on the wire: RTP (RFC 3550 §5.1), UDP and IPv4.
pub const HEADERS: Bytes = Bytes(12 + packet::HEADERS.0);

/// The minimum time of a frame: no video has a higher frame rate.
pub const LEAST_FRAME_TIME: Span = Span::from_millis(1);

/// One frame of a video.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its coding, if that is known.
    pub kind: Option<Kind>,
    /// Its size, without any headers.
    pub size: Bytes,
}

/// The departure times of a frame's packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Evenly over the time of the frame.
    #[default]
    Even,
    /// All when the frame starts.
    Burst,
}

/// The packetization of frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packets {
    /// The maximum part of a frame in one packet; [`HEADERS`] are added on the wire. No packet holds parts of two
    /// frames. Zero counts as one byte.
    pub payload: Bytes,
    /// The departure times of a frame's packets.
    pub spacing: Spacing,
}

/// Plays frames, one each `frame_time`; a frame without bytes takes its time and sends nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Player {
    packets: Packets,
    frame_time: Span,
    /// The frame that is being sent: its start, the bytes that are left, its packets sent, and the number of its
    /// packets.
    starts: Time,
    left: u64,
    sent: u64,
    count: u64,
}

impl Player {
    /// A player whose first frame starts at `starts`. `draw` supplies every frame, and must at some point supply one
    /// with bytes.
    pub(super) fn new(packets: Packets, frame_time: Span, starts: Time, draw: impl FnMut() -> Frame) -> Player {
        let packets = Packets { payload: packets.payload.max(Bytes(1)), ..packets };
        let mut player = Player { packets, frame_time, starts, left: 0, sent: 0, count: 0 };
        player.load(draw);
        player
    }

    pub(super) fn next(&self) -> Time {
        match self.packets.spacing {
            Spacing::Even => self.starts + self.frame_time.mul_div(self.sent, self.count),
            Spacing::Burst => self.starts,
        }
    }

    /// The size of the next packet on the wire. `draw` supplies the frame after this one, if this was its last packet.
    pub(super) fn emit(&mut self, draw: impl FnMut() -> Frame) -> Bytes {
        let size = self.left.min(self.packets.payload.0);
        self.left -= size;
        self.sent += 1;
        if self.left == 0 {
            self.starts += self.frame_time;
            self.load(draw);
        }
        Bytes(size) + HEADERS
    }

    fn load(&mut self, mut draw: impl FnMut() -> Frame) {
        self.left = draw().size.0;
        while self.left == 0 {
            self.starts += self.frame_time;
            self.left = draw().size.0;
        }
        self.sent = 0;
        self.count = self.left.div_ceil(self.packets.payload.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The departure times in milliseconds and the payloads of the first `count` packets, for the frames of `sizes`
    /// again and again, one each 40 ms.
    fn played(sizes: &[u64], spacing: Spacing, count: usize) -> Vec<(u64, u64)> {
        let mut sizes = sizes.iter().cycle();
        let mut draw = || Frame { kind: None, size: Bytes(*sizes.next().expect("frames without end")) };
        let packets = Packets { payload: Bytes(1000), spacing };
        let mut player = Player::new(packets, Span::from_millis(40), Time::ZERO, &mut draw);
        let mut step = || (player.next().as_nanos() / 1_000_000, player.emit(&mut draw).0 - HEADERS.0);
        (0..count).map(|_| step()).collect()
    }

    #[test]
    fn packets_are_spread_over_the_time_of_their_frame() {
        let expected = [(0, 1000), (10, 1000), (20, 1000), (30, 1), (40, 1000), (60, 1000), (80, 7), (120, 1000)];
        assert_eq!(played(&[3001, 2000, 7], Spacing::Even, 8), expected);
    }

    #[test]
    fn or_leave_as_a_burst() {
        let expected = [(0, 1000), (0, 1000), (0, 1000), (0, 1), (40, 1000), (40, 1000), (80, 7), (120, 1000)];
        assert_eq!(played(&[3001, 2000, 7], Spacing::Burst, 8), expected);
    }

    #[test]
    fn a_frame_without_bytes_takes_its_time() {
        assert_eq!(played(&[0, 500, 0, 0, 400], Spacing::Even, 4), [(40, 500), (160, 400), (240, 500), (360, 400)]);
    }
}
