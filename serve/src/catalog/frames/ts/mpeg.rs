//! The pictures of an MPEG-1 or MPEG-2 video elementary stream (ISO/IEC 11172-2 §2.4.2, ISO/IEC 13818-2 §6.2).

use thalweg_core::video::Kind;
use thalweg_core::wire::payload::start_code;

use super::stream::{Position, Stream};
use crate::catalog::frames::packets;
use crate::rate::FormatError;

/// Values of start codes (ISO/IEC 13818-2 Table 6-1). Those from 1 to 0xaf are slices.
const PICTURE: u8 = 0x00;
const LAST_SLICE: u8 = 0xaf;
const SEQUENCE: u8 = 0xb3;
const EXTENSION: u8 = 0xb5;
const GROUP: u8 = 0xb8;
/// The identifier of a picture coding extension (Table 6-2), and the structure of a picture that is a frame (Table
/// 6-14).
const PICTURE_CODING: u8 = 8;
const FRAME: u8 = 3;

/// Pictures while they are found.
pub(super) struct Pictures {
    /// The position from which start codes are still to be looked for.
    scanned: Position,
    /// The last start code.
    unit: Option<Position>,
    current: Option<Current>,
}

/// A frame in progress: a picture, or two that are fields.
#[derive(Clone, Copy)]
struct Current {
    start: Position,
    times: (i64, i64),
    kind: Option<Kind>,
    has_sequence: bool,
    state: State,
}

/// The progress of a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// In the headers of the first picture.
    Headers,
    /// In the slices.
    Slices,
    /// In the headers of a second picture, which must be a field.
    Second,
}

impl Pictures {
    pub(super) fn new() -> Pictures {
        Pictures { scanned: 0, unit: None, current: None }
    }

    /// Looks for pictures in the bytes that have arrived; at the end of the stream, the last one ends, too.
    pub(super) fn scan(&mut self, stream: &mut Stream, ended: bool) -> Result<(), FormatError> {
        while let Some(ahead) = start_code::find(stream.from(self.scanned), 0) {
            let code = self.scanned + ahead as u64;
            if let Some(unit) = self.unit.replace(code) {
                self.add(stream, unit, code)?;
            }
            self.scanned = code + 3;
        }
        self.scanned = self.scanned.max(stream.end().saturating_sub(2));
        if ended && let Some(unit) = self.unit.take() {
            self.add(stream, unit, stream.end())?;
            self.finish(stream, stream.end())?;
        }
        if self.current.is_none() {
            stream.drop_until(self.unit.unwrap_or(self.scanned));
        }
        Ok(())
    }

    /// Adds what is between two start codes.
    fn add(&mut self, stream: &mut Stream, code: Position, end: Position) -> Result<(), FormatError> {
        let mut start = [0; 7];
        let unit = stream.between(code, end);
        let len = unit.len().min(start.len());
        start[..len].copy_from_slice(&unit[..len]);
        let kind = start[3];
        let is_first = matches!(kind, SEQUENCE | GROUP | PICTURE);
        if is_first && self.current.is_none_or(|current| current.state == State::Slices) {
            self.begin(stream, code)?;
        }
        let Some(current) = &mut self.current else { return Ok(()) };
        match kind {
            PICTURE => {
                if current.state == State::Slices {
                    current.state = State::Second;
                }
                current.kind = current.kind.max(Some(coding(start[5] >> 3 & 7)?));
            }
            EXTENSION if current.state == State::Second && start[4] >> 4 == PICTURE_CODING && start[6] & 3 != FRAME => {
                current.state = State::Headers;
            }
            SEQUENCE => current.has_sequence = true,
            1..=LAST_SLICE => {
                if current.state == State::Second {
                    return Err(stream.without_time(code));
                }
                current.state = State::Slices;
            }
            _ => {}
        }
        Ok(())
    }

    /// Begins a frame, if its PES packet has time stamps for it.
    fn begin(&mut self, stream: &mut Stream, code: Position) -> Result<(), FormatError> {
        let Some(stamp) = stream.stamp(code) else { return Ok(()) };
        let times = stamp.times.ok_or_else(|| stream.without_time(code))?;
        self.finish(stream, code)?;
        self.current = Some(Current { start: code, times, kind: None, has_sequence: false, state: State::Headers });
        Ok(())
    }

    /// Ends the current frame.
    fn finish(&mut self, stream: &mut Stream, end: Position) -> Result<(), FormatError> {
        if let Some(Current { start, times, kind, has_sequence, .. }) = self.current.take() {
            // A decoder cannot start at an I picture without the header of its sequence.
            let kind = if has_sequence { kind } else { kind.min(Some(Kind::P)) };
            if let Some(kind) = kind {
                let packets = packets::mpeg_video(stream.between(start, end));
                stream.add((start, end), times, kind, packets)?;
            }
            stream.drop_until(end);
        }
        Ok(())
    }
}

/// The kind of a picture by its coding type (Table 6-12).
fn coding(kind: u8) -> Result<Kind, FormatError> {
    match kind {
        1 => Ok(Kind::I),
        2 => Ok(Kind::P),
        3 => Ok(Kind::B),
        4 => Err(FormatError::new("MPEG-1 video with D pictures is not supported over RTSP")),
        _ => Err(FormatError::new(format!("an MPEG-1/2 picture of the unknown coding type {kind}"))),
    }
}
