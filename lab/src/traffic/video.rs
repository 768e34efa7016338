//! Video as packets: what a recorded film and a modelled one have in common.

use serde::Deserialize;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;

use crate::packet;

/// What a packet has before its payload on the wire: RTP (RFC 3550 §5.1), UDP and IPv4.
pub const HEADERS: Bytes = Bytes(12 + packet::HEADERS.0);

/// No film has frames that follow each other faster than this.
pub const LEAST_FRAME_TIME: Span = Span::from_millis(1);

/// How a frame is coded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// On its own.
    I,
    /// From the I or P before it.
    P,
    /// From the I or P on both sides of it.
    B,
}

impl Kind {
    /// The kind of a letter.
    pub fn of(letter: &str) -> Option<Kind> {
        match letter {
            "I" => Some(Kind::I),
            "P" => Some(Kind::P),
            "B" => Some(Kind::B),
            _ => None,
        }
    }
}

/// One frame of a film.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Frame {
    /// How it is coded, where that is known.
    pub kind: Option<Kind>,
    /// What it takes, without any headers.
    pub size: Bytes,
}

/// When the packets of a frame leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spacing {
    /// Evenly over the time of the frame.
    #[default]
    Even,
    /// All when the frame starts.
    Burst,
}

/// How frames become packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packets {
    /// The most of a frame in one packet; on the wire [`HEADERS`] are added. No packet holds parts of two frames. Zero
    /// counts as one byte.
    pub payload: Bytes,
    /// When the packets of a frame leave.
    pub spacing: Spacing,
}

/// Plays frames, one each `frame_time`; a frame without bytes takes its time and sends nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Player {
    packets: Packets,
    frame_time: Span,
    /// The frame that is being sent: when it started, what is left of it, and its packets.
    starts: Time,
    left: u64,
    sent: u64,
    count: u64,
}

impl Player {
    /// The first frame starts at `starts` and comes, as all of them, from `draw`: one in any number of them has bytes.
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

    /// The size of the next packet on the wire. `draw` gives the frame after this one, if this was its last packet.
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

    /// When the first `count` packets leave in milliseconds, and what they carry, for the frames of `sizes` again and
    /// again, one each 40 ms.
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
