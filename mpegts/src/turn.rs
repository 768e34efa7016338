//! The duration of one turn of a loop: one pass through its input.
//!
//! It depends on two clocks. The transport: from the first reference to the last, plus the packets before and after
//! them at the mean rate. The media: from the first decoding time to the last, or from the earliest presentation time
//! to the latest, plus the duration of the last frame, assumed to be that of the one before; of all audio and video
//! streams, the longest. The turn is the longest of these, so that neither a reference nor a frame of the next turn
//! comes too early; if the transport is shorter, the packets between the last reference and the first one of the next
//! turn are spread out. All are the same for a clip that was cut to loop.

use std::collections::BTreeMap;

use thalweg_core::units::Bytes;

use crate::PACKET;
use crate::clock::{Clock, LONGEST_STEP};
use crate::packet::Packet;
use crate::pes;
use crate::stamp::{Pcr, Ticks, Timestamp};

/// Measures the first turn.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Turn {
    clock: Clock,
    packets: u64,
    /// The first and the last reference.
    references: Option<(Pcr, Pcr)>,
    /// Packets and time between references, without jumps.
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
    /// The earliest and the latest presentation after `first`.
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

    /// The duration, whole on the 90 kHz clock; none if the turn did not have two references.
    pub(super) fn duration(&self) -> Option<Ticks> {
        let transport = self.transport()?.rounded_to_90k();
        let media = self.frames.values().flat_map(Frames::durations);
        let leads = media.map(|media| media.wrapping_sub(transport));
        // The durations of a stream whose stamps jump are meaningless after the wrap, and are ignored.
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
    use super::*;
    use crate::synthetic::{FRAME, PACKETS_PER_FRAME, VIDEO, stream};

    #[test]
    fn frame_shown_after_the_end_extends_the_duration() {
        let mut turn = Turn::default();
        stream(Pcr::from_parts(1, 0), 4).iter().for_each(|packet| turn.observe(packet));
        assert_eq!(turn.duration(), Some(FRAME.mul_div(4, 1)));

        // The B frames before a last P frame, which is sent ahead of them, were cut off.
        let time = turn.frames[&VIDEO].last;
        let ahead = pes::Header { stream_id: 0xe0, pts: time + FRAME + FRAME, dts: Some(time) };
        turn.frames.get_mut(&VIDEO).unwrap().observe(&ahead);
        assert_eq!(turn.duration(), Some(FRAME.mul_div(6, 1)));
    }

    #[test]
    fn duration_with_jumping_timestamps_is_that_of_the_transport() {
        let mut turn = Turn::default();
        let parts = [stream(Pcr::from_parts(1 << 32, 0), 4), stream(Pcr::from_parts(0, 0), 4)];
        parts.iter().flatten().for_each(|packet| turn.observe(packet));
        // The last reference is a jump back of 2^32 and three frames after the first.
        let jump = Pcr::from_parts(0, 0).since(Pcr::from_parts(1 << 32, 0));
        let ends = FRAME.mul_div(1, 1);
        assert_eq!(turn.duration(), Some(jump + FRAME.mul_div(3, 1) + ends));
        assert_eq!(turn.size(), Bytes(8 * PACKETS_PER_FRAME * 188));
    }
}
