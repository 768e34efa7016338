//! The pictures of an H.264 elementary stream (ITU-T H.264 Annex B, §7.4.1.2.3).

use thalweg_core::wire::payload::start_code;

use super::stream::{Position, Stream};
use crate::catalog::frames::h264::{Picture, START, is_first_slice, is_recovery_point, precedes_picture};
use crate::catalog::frames::packets::Packets;
use crate::rate::FormatError;

/// Types of NAL units (Table 7-1).
const SEI: u8 = 6;
const SPS: u8 = 7;
const PPS: u8 = 8;
/// Limit on different parameter sets of one type that are kept; a stream has one or two.
const MAX_SETS: usize = 32;
/// Limit in bytes on a parameter set.
const MAX_SET: usize = 4096;

/// Pictures while they are found.
pub(super) struct Pictures {
    /// The position from which start codes are still to be looked for.
    scanned: Position,
    /// The start code of the last NAL unit.
    unit: Option<Position>,
    current: Option<Current>,
    /// Parameter sets.
    pub(super) sps: Vec<Vec<u8>>,
    pub(super) pps: Vec<Vec<u8>>,
}

/// A picture in progress.
#[derive(Clone, Copy)]
struct Current {
    start: Position,
    times: (i64, i64),
    picture: Picture,
    is_recovery_point: bool,
    packets: Packets,
}

impl Pictures {
    pub(super) fn new() -> Pictures {
        Pictures { scanned: 0, unit: None, current: None, sps: Vec::new(), pps: Vec::new() }
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
            // A zero byte may precede a start code.
            stream.drop_until(self.unit.unwrap_or(self.scanned).saturating_sub(1));
        }
        Ok(())
    }

    /// Adds the NAL unit between two start codes.
    fn add(&mut self, stream: &mut Stream, code: Position, end: Position) -> Result<(), FormatError> {
        let unit = stream.between(code + 3, end);
        // No NAL unit ends with a zero byte (§7.4.1).
        let len = unit.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let Some(&header) = unit[..len].first() else { return Ok(()) };
        let mut start = [0; START];
        let start_len = len.min(START);
        start[..start_len].copy_from_slice(&unit[..start_len]);
        let start = &start[..start_len];
        let kind = header & 0x1f;
        let is_recovery_point = kind == SEI && is_recovery_point(&unit[..len]);
        if let Some(sets) = [(SPS, &mut self.sps), (PPS, &mut self.pps)].into_iter().find(|(own, _)| *own == kind) {
            keep(sets.1, &unit[..len]);
        }
        let begins = self
            .current
            .is_none_or(|current| current.picture.has_slices() && (precedes_picture(header) || is_first_slice(start)));
        if begins {
            self.begin(stream, code)?;
        }
        let Some(current) = &mut self.current else { return Ok(()) };
        current.picture.add(start);
        current.is_recovery_point |= is_recovery_point;
        current.packets.add(len as u32);
        Ok(())
    }

    /// Begins a picture at a start code, if its PES packet has time stamps for it. A further picture in the same PES
    /// packet, such as the second field of a frame, is part of the one before.
    fn begin(&mut self, stream: &mut Stream, code: Position) -> Result<(), FormatError> {
        let Some(stamp) = stream.stamp(code) else { return Ok(()) };
        // A zero byte may precede the start code.
        let has_zero = code > stamp.at && code > stream.start() && stream.between(code - 1, code) == [0];
        let start = if has_zero { code - 1 } else { code };
        let times = stamp.times.ok_or_else(|| stream.without_time(start))?;
        self.finish(stream, start)?;
        let (picture, packets) = (Picture::new(), Packets::default());
        self.current = Some(Current { start, times, picture, is_recovery_point: false, packets });
        Ok(())
    }

    /// Ends the current picture.
    fn finish(&mut self, stream: &mut Stream, end: Position) -> Result<(), FormatError> {
        if let Some(Current { start, times, picture, is_recovery_point, packets }) = self.current.take() {
            if picture.has_slices() {
                stream.add((start, end), times, picture.kind(is_recovery_point), packets.counts())?;
            }
            stream.drop_until(end);
        }
        Ok(())
    }
}

/// Keeps a parameter set, if it is new.
fn keep(sets: &mut Vec<Vec<u8>>, set: &[u8]) {
    if sets.len() < MAX_SETS && (4..=MAX_SET).contains(&set.len()) && !sets.iter().any(|known| known == set) {
        sets.push(set.to_vec());
    }
}
