//! Makes one valid endless stream from a finite one.
//!
//! The first turn is passed on unchanged and measured; every later one has the duration of the turns before it added to
//! its PCR, PTS and DTS (modulo 2^33 at 90 kHz), and continues the continuity counters of the turn before. Tables (PAT,
//! PMT) repeat unchanged, so their checksums remain valid. Faults of the file itself, and its marked discontinuities,
//! repeat in every turn. OPCR, ESCR and splice points are not changed: no decoder needs them.

use crate::pace::NoClock;
use crate::packet::{NULL_PID, Packet};
use crate::pes;
use crate::stamp::Ticks;
use crate::turn::Turn;

/// Rewrites the packets of each turn.
#[derive(Clone, PartialEq, Debug)]
pub struct Looper {
    first_turn: Turn,
    turns: u64,
    /// The duration of the completed turns.
    elapsed: Ticks,
    /// The continuity counters, by PID.
    counters: Vec<Counter>,
}

#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Counter {
    last: Option<u8>,
    /// The offset of this turn; unknown before its first packet.
    shift: Option<u8>,
}

impl Looper {
    /// A looper at the start of its first turn.
    pub fn new() -> Looper {
        let pids = usize::from(NULL_PID) + 1;
        Looper { first_turn: Turn::default(), turns: 0, elapsed: Ticks::ZERO, counters: vec![Counter::default(); pids] }
    }

    /// Rewrites `packet`, the next of this turn, into the next of the endless stream.
    pub fn rewrite(&mut self, packet: &mut Packet) {
        if self.turns == 0 {
            self.first_turn.observe(packet);
        } else {
            if let Some(pcr) = packet.pcr() {
                packet.set_pcr(pcr + self.elapsed);
            }
            pes::shift(packet, self.elapsed);
        }
        self.count(packet);
    }

    /// Ends the turn.
    ///
    /// # Errors
    /// [`NoClock`] if the first turn did not have two references, so that its duration is unknown.
    pub fn end_turn(&mut self) -> Result<(), NoClock> {
        let duration = self.duration().ok_or(NoClock { searched: self.first_turn.size() })?;
        self.turns += 1;
        self.elapsed = self.elapsed + duration;
        for counter in &mut self.counters {
            counter.shift = None;
        }
        Ok(())
    }

    /// The duration of a turn, as far as it has been read.
    pub fn duration(&self) -> Option<Ticks> {
        self.first_turn.duration()
    }

    /// The number of completed turns.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    fn count(&mut self, packet: &mut Packet) {
        if packet.is_damaged() || packet.pid() == NULL_PID {
            return;
        }
        let counter = &mut self.counters[usize::from(packet.pid())];
        let shift = *counter.shift.get_or_insert_with(|| match counter.last {
            Some(last) => last.wrapping_add(packet.has_payload().into()).wrapping_sub(packet.counter()),
            None => 0,
        });
        packet.set_counter(packet.counter().wrapping_add(shift));
        counter.last = Some(packet.counter());
    }
}

impl Default for Looper {
    fn default() -> Looper {
        Looper::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pes::Header;
    use crate::stamp::Pcr;
    use crate::synthetic::{FRAME, Judge, PACKET_TIME, VIDEO, plain, stream};
    use proptest::prelude::*;
    use thalweg_core::units::Bytes;

    fn turns(clip: &[Packet], turns: u64) -> Vec<Packet> {
        let mut looper = Looper::new();
        let mut out = Vec::new();
        for _ in 0..turns {
            for packet in clip {
                let mut packet = packet.clone();
                looper.rewrite(&mut packet);
                out.push(packet);
            }
            looper.end_turn().unwrap();
        }
        assert_eq!(looper.turns(), turns);
        out
    }

    #[test]
    fn looped_clip_equals_the_longer_stream() {
        let start = Pcr::from_parts(900, 0);
        assert_eq!(turns(&stream(start, 16), 3), stream(start, 48), "16 frames leave every counter where it began");
        let (looped, plain) = (turns(&stream(start, 7), 20), stream(start, 140));
        assert_eq!(looped, plain, "and 7 do not");
        assert_eq!(Judge::of(&looped).faults, [""; 0]);
    }

    #[test]
    fn loops_continue_across_the_wrap_of_the_clock() {
        let start = Pcr::from_parts((1 << 33) - 50 * 3600, 0);
        let looped = turns(&stream(start, 10), 20);
        assert_eq!(looped, stream(start, 200));
        assert_eq!(Judge::of(&looped).faults, [""; 0]);
    }

    #[test]
    fn loop_duration_is_the_longer_of_its_packets_and_its_frames() {
        let duration = |clip: &[Packet]| {
            let mut looper = Looper::new();
            clip.iter().for_each(|packet| looper.rewrite(&mut packet.clone()));
            looper.duration()
        };
        let clip = stream(Pcr::from_parts(0, 0), 10);
        assert_eq!(duration(&clip), Some(FRAME.mul_div(10, 1)));
        assert_eq!(duration(&clip[..195]), Some(FRAME.mul_div(10, 1)), "a last frame cut short is shown all the same");
        let padded = [&clip[..], &vec![plain(NULL_PID, false, 0); 100]].concat();
        assert_eq!(duration(&padded), Some(FRAME.mul_div(15, 1)));
        assert_eq!(duration(&clip[..21]), None, "one reference says nothing");
        assert_eq!(duration(&clip[2..]), Some(PACKET_TIME.mul_div(198, 1)), "a frame without its start takes its time");
    }

    #[test]
    fn adaptation_only_and_null_packets_do_not_advance_counters() {
        let mut clip = stream(Pcr::from_parts(0, 0), 3);
        let mut bytes = *plain(VIDEO, false, 5).as_bytes();
        bytes[3..6].copy_from_slice(&[0x20 | clip[0].counter().wrapping_sub(1) & 15, 183, 0]);
        clip.insert(0, Packet::parse(&bytes).unwrap());
        clip.insert(9, plain(NULL_PID, false, 9));
        let looped = turns(&clip, 5);
        assert_eq!(Judge::of(&looped).faults, [""; 0]);
        assert!(looped.iter().filter(|packet| packet.pid() == NULL_PID).all(|packet| packet.counter() == 9));
    }

    #[test]
    fn a_clip_with_one_reference_cannot_be_looped() {
        let mut looper = Looper::new();
        assert_eq!(looper.end_turn(), Err(NoClock { searched: Bytes(0) }));
        stream(Pcr::from_parts(0, 0), 1).iter().for_each(|packet| looper.rewrite(&mut packet.clone()));
        assert_eq!(looper.end_turn(), Err(NoClock { searched: Bytes(20 * 188) }));
    }

    proptest! {
        #[test]
        fn any_clip_of_the_stream_loops_with_unbroken_counters_and_clocks(
            start in 0..1u64 << 33, extension in 0..300u16, from in 0..40usize, len in 42..200usize, count in 2..6u64,
        ) {
            let long = stream(Pcr::from_parts(start, extension), 12);
            let looped = turns(&long[from..(from + len).min(240)], count);
            prop_assert_eq!(Judge::of(&looped).faults, [""; 0]);
        }

        #[test]
        fn any_packets_are_looped_without_panic(
            clip in prop::collection::vec((any::<[u8; 24]>(), any::<bool>()), 1..40),
        ) {
            let mut looper = Looper::new();
            for _ in 0..3 {
                for (head, is_video) in &clip {
                    let mut bytes = *plain(0, false, 0).as_bytes();
                    bytes[1..25].copy_from_slice(head);
                    if *is_video {
                        bytes[1..12].copy_from_slice(&[0x41, 0, 0x10, 0, 0, 1, 0xe0, 0, 0, 0x80, 0xc0]);
                    }
                    let mut packet = Packet::parse(&bytes).unwrap();
                    let before = (packet.pcr().is_some(), Header::parse(&packet).is_some());
                    looper.rewrite(&mut packet);
                    prop_assert_eq!((packet.pcr().is_some(), Header::parse(&packet).is_some()), before);
                }
                let _ = looper.end_turn();
            }
        }
    }
}
