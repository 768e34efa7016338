//! How long one turn of a loop lasts.
//!
//! Two clocks have a say. The transport: from the first reference to the last, plus the packets before and behind them
//! at the mean rate. The media: from the first decoding time to the last, or from the earliest presentation time to the
//! latest, plus the time of the last frame, which is taken to be that of the one before; of all audio and video streams,
//! the longest. The turn is the longest of these, so that neither a reference nor a frame of the next turn can come too
//! early; where the transport is shorter, the packets between the last reference and the first one of the next turn are
//! spread out. All are the same for a clip that was cut to loop.

use std::collections::BTreeMap;

use super::PACKET;
use super::clock::{Clock, LONGEST_STEP};
use super::packet::Packet;
use super::pes;
use super::stamp::{Pcr, Ticks, Timestamp};
use crate::units::Bytes;

/// Reads the first turn to measure it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Turn {
    clock: Clock,
    packets: u64,
    /// First and last reference.
    references: Option<(Pcr, Pcr)>,
    /// Packets and time between references, jumps left out.
    steady: (u64, Ticks),
    /// Packets before the first reference, and from the last one on.
    ends: (u64, u64),
    frames: BTreeMap<u16, Frames>,
}

/// The time stamps of one audio or video stream.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Frames {
    first: Timestamp,
    last: Timestamp,
    last_frame: Ticks,
    /// Earliest and latest presentation after `first`.
    shown: (Ticks, Ticks),
}

impl Turn {
    pub(super) fn observe(&mut self, packet: &Packet) {
        if let Some(step) = self.clock.observe(packet) {
            match &mut self.references {
                Some((_, last)) => *last = step.pcr,
                None => {
                    self.references = Some((step.pcr, step.pcr));
                    self.ends.0 = step.packets;
                }
            }
            if let Some(ticks) = step.ticks {
                self.steady = (self.steady.0 + step.packets, self.steady.1 + ticks);
            }
            self.ends.1 = 0;
        }
        self.ends.1 += 1;
        self.packets += 1;
        if let Some(header) = pes::Header::parse(packet).filter(pes::Header::is_audio_or_video) {
            let frames = self.frames.entry(packet.pid()).or_insert_with(|| Frames::new(&header));
            frames.observe(&header);
        }
    }

    /// Whole on the 90 kHz clock; none if the turn had no two references.
    pub(super) fn duration(&self) -> Option<Ticks> {
        let transport = self.transport()?.rounded_to_90k();
        let media = self.frames.values().flat_map(Frames::durations);
        let leads = media.map(|media| media.wrapping_sub(transport));
        // Of a stream whose stamps jump about, what is left after the wrap says nothing.
        let lead = leads.filter(|lead| *lead <= LONGEST_STEP).max().unwrap_or_default();
        Some(transport + lead)
    }

    pub(super) fn size(&self) -> Bytes {
        Bytes(self.packets * PACKET as u64)
    }

    fn transport(&self) -> Option<Ticks> {
        let (first, last) = self.references?;
        let (packets, ticks) = self.steady;
        let ends = self.ends.0 + self.ends.1;
        (packets > 0).then(|| last.since(first) + ticks.mul_div(ends, packets))
    }
}

impl Frames {
    fn new(header: &pes::Header) -> Frames {
        let time = header.decoding_time();
        let shown = header.pts.since(time);
        Frames { first: time, last: time, last_frame: Ticks::ZERO, shown: (shown, shown) }
    }

    fn observe(&mut self, header: &pes::Header) {
        let time = header.decoding_time();
        let step = time.since(self.last);
        if (Ticks(1)..=LONGEST_STEP).contains(&step) {
            self.last_frame = step;
        }
        self.last = time;
        let shown = header.pts.since(self.first);
        self.shown = (self.shown.0.min(shown), self.shown.1.max(shown));
    }

    fn durations(&self) -> [Ticks; 2] {
        let (earliest, latest) = self.shown;
        [self.last.since(self.first) + self.last_frame, latest.wrapping_sub(earliest) + self.last_frame]
    }
}

#[cfg(test)]
mod tests {
    use super::super::synthetic::{FRAME, PACKETS_PER_FRAME, VIDEO, stream};
    use super::*;

    #[test]
    fn a_frame_shown_after_the_end_makes_the_turn_longer() {
        let mut turn = Turn::default();
        stream(Pcr::from_parts(1, 0), 4).iter().for_each(|packet| turn.observe(packet));
        assert_eq!(turn.duration(), Some(FRAME.mul_div(4, 1)));

        // The B frames that a last P frame was sent ahead of were cut off.
        let time = turn.frames[&VIDEO].last;
        let ahead = pes::Header { stream_id: 0xe0, pts: time + FRAME + FRAME, dts: Some(time) };
        turn.frames.get_mut(&VIDEO).unwrap().observe(&ahead);
        assert_eq!(turn.duration(), Some(FRAME.mul_div(6, 1)));
    }

    #[test]
    fn stamps_that_jump_leave_the_transport_to_say_how_long_it_takes() {
        let mut turn = Turn::default();
        let parts = [stream(Pcr::from_parts(1 << 32, 0), 4), stream(Pcr::from_parts(0, 0), 4)];
        parts.iter().flatten().for_each(|packet| turn.observe(packet));
        // From the first reference to the last one is a jump back of 2^32 and three frames on.
        let jump = Pcr::from_parts(0, 0).since(Pcr::from_parts(1 << 32, 0));
        let ends = FRAME.mul_div(1, 1);
        assert_eq!(turn.duration(), Some(jump + FRAME.mul_div(3, 1) + ends));
        assert_eq!(turn.size(), Bytes(8 * PACKETS_PER_FRAME * 188));
    }
}
