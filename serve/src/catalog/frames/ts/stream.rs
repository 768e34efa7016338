//! An elementary stream while it is read: its bytes from the current frame on, with the packets that carried them and
//! the time stamps that apply to them.

use std::collections::VecDeque;

use thalweg_core::video::Kind;
use thalweg_mpegts::packet::Packet;
use thalweg_mpegts::pes::Header;
use thalweg_mpegts::stamp::Timestamp;

use super::pes::Elementary;
use crate::catalog::frames::Frame;
use crate::rate::FormatError;

/// Limit in bytes on a frame, and on bytes without one: level 6.2 of H.264 allows less.
const MAX_FRAME: usize = 32 << 20;
/// The number of values of a time stamp.
const CYCLE: i64 = 1 << 33;

/// A position in an elementary stream: the number of its bytes before.
pub(super) type Position = u64;

/// The bytes of a stream, and the frames found in it.
pub(super) struct Stream {
    pub(super) pid: u16,
    elementary: Elementary,
    bytes: Vec<u8>,
    /// The position of the first of these bytes.
    start: Position,
    pieces: VecDeque<Piece>,
    stamps: VecDeque<Stamp>,
    pub(super) frames: Vec<Frame>,
    most_frames: usize,
}

/// The payload of a packet.
struct Piece {
    at: Position,
    /// The position of the packet in the file.
    offset: u64,
    /// Bytes of its payload before, without a header.
    skip: u8,
}

/// The time stamps of a PES packet, for the first frame that begins in it; none if it states none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stamp {
    pub(super) at: Position,
    /// Display and decode time in ticks of 90 kHz.
    pub(super) times: Option<(i64, i64)>,
}

impl Stream {
    pub(super) fn new(pid: u16, most_frames: usize) -> Stream {
        Stream {
            pid,
            elementary: Elementary::default(),
            bytes: Vec::new(),
            start: 0,
            pieces: VecDeque::new(),
            stamps: VecDeque::new(),
            frames: Vec::new(),
            most_frames,
        }
    }

    /// Adds a packet, which is at `offset` in the file. Time stamps, of which only 33 bits are stated, are those nearest
    /// to `now`, which is that of the last one of any stream.
    pub(super) fn push(&mut self, packet: &Packet, offset: u64, now: &mut Option<i64>) -> Result<(), FormatError> {
        if packet.is_scrambled() {
            return Err(FormatError::new(format!("it is encrypted: PID {:#x}", self.pid)));
        }
        let (bytes, skip) = self.elementary.take(packet);
        let at = self.end();
        if packet.starts_unit() && !bytes.is_empty() {
            let times = Header::parse(packet).map(|header| {
                let decode = header.decoding_time();
                let decode = near(decode, now.unwrap_or(decode.value() as i64));
                *now = Some(decode);
                (near(header.pts, decode), decode)
            });
            self.stamps.push_back(Stamp { at, times });
        }
        if bytes.is_empty() {
            return Ok(());
        }
        if self.bytes.len() + bytes.len() > MAX_FRAME {
            return Err(FormatError::new(format!("a frame of more than 32 MiB in PID {:#x}", self.pid)));
        }
        self.bytes.extend_from_slice(bytes);
        self.pieces.push_back(Piece { at, offset, skip });
        Ok(())
    }

    /// The bytes from a position on.
    pub(super) fn from(&self, at: Position) -> &[u8] {
        self.bytes.get((at - self.start) as usize..).unwrap_or_default()
    }

    /// The bytes between two positions.
    pub(super) fn between(&self, from: Position, to: Position) -> &[u8] {
        &self.from(from)[..(to - from) as usize]
    }

    /// The position of the first byte that is kept.
    pub(super) fn start(&self) -> Position {
        self.start
    }

    /// The fault of a picture without a time stamp.
    pub(super) fn without_time(&self, at: Position) -> FormatError {
        let Piece { offset, .. } = self.pieces[self.pieces.partition_point(|piece| piece.at <= at) - 1];
        FormatError::new(format!(
            "the picture at byte {offset} has no time stamp; give it one with `ffmpeg -i video.ts -c copy new.ts`"
        ))
    }

    /// The position after the last byte.
    pub(super) fn end(&self) -> Position {
        self.start + self.bytes.len() as u64
    }

    /// The stamps of the PES packet that contains a position, unless an earlier frame took them.
    pub(super) fn stamp(&mut self, at: Position) -> Option<Stamp> {
        let mut found = None;
        while self.stamps.front().is_some_and(|stamp| stamp.at <= at) {
            found = self.stamps.pop_front();
        }
        found
    }

    /// Adds the frame between two positions.
    pub(super) fn add(
        &mut self,
        (from, to): (Position, Position),
        (display, decode): (i64, i64),
        kind: Kind,
        packets: [u16; 2],
    ) -> Result<(), FormatError> {
        let piece = &self.pieces[self.pieces.partition_point(|piece| piece.at <= from) - 1];
        let (offset, before) = (piece.offset, (from - piece.at) as u8);
        if self.frames.len() == self.most_frames {
            return Err(FormatError::new(format!("more than {} frames in PID {:#x}", self.most_frames, self.pid)));
        }
        if self.frames.last().is_some_and(|last| last.decode > decode) {
            return Err(FormatError::new(format!(
                "the time stamps of PID {:#x} go back at byte {offset}; make them continuous with `ffmpeg -i video.ts -c copy \
                 new.ts`",
                self.pid
            )));
        }
        // Less than 2^33 apart.
        let display_delay = (display - decode).clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        let (skip, size) = (piece.skip + before, (to - from) as u32);
        self.frames.push(Frame { offset, decode, display_delay, size, packets, skip, kind });
        Ok(())
    }

    /// Drops the bytes before a position, as far as there are any.
    pub(super) fn drop_until(&mut self, at: Position) {
        let at = at.clamp(self.start, self.end());
        self.bytes.drain(..(at - self.start) as usize);
        self.start = at;
        while self.pieces.get(1).is_some_and(|piece| piece.at <= at) {
            self.pieces.pop_front();
        }
    }
}

/// The value nearest to `now` of a time stamp of 33 bits.
fn near(stamp: Timestamp, now: i64) -> i64 {
    let ahead = (stamp.value() as i64 - now).rem_euclid(CYCLE);
    now + if ahead < CYCLE / 2 { ahead } else { ahead - CYCLE }
}
