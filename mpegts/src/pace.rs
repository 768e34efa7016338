//! The due time of each packet of a file, by the clock in the file itself.
//!
//! Between two references packets are evenly spaced, as specified in ISO/IEC 13818-1 §2.4.2.2; before the first and
//! after the last they keep the adjacent rate, as they do across a jump of the clock.

use core::fmt;
use std::collections::VecDeque;

use thalweg_core::time::Span;
use thalweg_core::units::Bytes;

use crate::PACKET;
use crate::clock::{Clock, Step};
use crate::packet::Packet;
use crate::stamp::Ticks;

/// The most packets that wait for the next reference: 8 MiB, which is 100 ms (the standard's longest step) at 670 Mb/s.
pub const WINDOW: usize = (8 << 20) / PACKET;

/// The error of a stream that cannot be paced: fewer than two references within so many bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoClock {
    /// The number of bytes searched.
    pub searched: Bytes,
}

impl fmt::Display for NoClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot be paced: fewer than two clock references (PCR) in {} bytes", self.searched.0)
    }
}

impl std::error::Error for NoClock {}

/// Assigns each packet its time since the first one.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Pacer {
    clock: Clock,
    /// Packets from the last reference on; their times depend on the next one.
    waiting: VecDeque<Packet>,
    ready: VecDeque<(Span, Packet)>,
    rate: Option<Step>,
    /// The due time of the first packet that waits.
    now: Ticks,
}

impl Pacer {
    /// A pacer whose first packet is due at zero.
    pub fn new() -> Pacer {
        Pacer::default()
    }

    /// Takes the next packet.
    ///
    /// # Errors
    /// [`NoClock`] if [`WINDOW`] packets arrived without two references among them.
    pub fn push(&mut self, packet: Packet) -> Result<(), NoClock> {
        match self.clock.observe(&packet) {
            Some(step) if step.ticks.is_some() => {
                self.rate = Some(step);
                self.release()?;
            }
            // The clock jumped. Before the first rate is known, waiting packets can still take the rate that follows.
            Some(_) if self.rate.is_some() => self.release()?,
            _ => {}
        }
        if self.waiting.len() == WINDOW {
            self.release()?;
            self.clock = Clock::new();
        }
        self.waiting.push_back(packet);
        Ok(())
    }

    /// Ends the stream: waiting packets keep the last rate.
    ///
    /// # Errors
    /// [`NoClock`] if the stream did not have two references.
    pub fn finish(&mut self) -> Result<(), NoClock> {
        self.release()
    }

    /// The next packet whose time is known, and its time.
    pub fn poll(&mut self) -> Option<(Span, Packet)> {
        self.ready.pop_front()
    }

    /// The due time of the next packet, if it is known.
    pub fn due(&self) -> Option<Span> {
        self.ready.front().map(|(due, _)| *due)
    }

    /// The number of packets whose time is known.
    pub fn ready(&self) -> usize {
        self.ready.len()
    }

    /// The time from the next packet to the last whose time is known.
    pub fn span(&self) -> Span {
        let ends = self.ready.front().zip(self.ready.back());
        ends.map_or(Span::ZERO, |((first, _), (last, _))| last.saturating_sub(*first))
    }

    fn release(&mut self) -> Result<(), NoClock> {
        let searched = Bytes((self.waiting.len() * PACKET) as u64);
        let Some(Step { ticks: Some(ticks), packets, .. }) = self.rate else { return Err(NoClock { searched }) };
        let start = self.now;
        let count = self.waiting.len() as u64;
        let timed = self.waiting.drain(..).zip(0..);
        self.ready.extend(timed.map(|(packet, i)| ((start + ticks.mul_div(i, packets)).span(), packet)));
        self.now = start + ticks.mul_div(count, packets);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::Pcr;
    use crate::synthetic::{FRAME, PACKET_TIME, PACKETS_PER_FRAME, plain, stream};

    fn pace(packets: &[Packet]) -> Vec<Span> {
        let mut pacer = Pacer::new();
        for packet in packets {
            pacer.push(packet.clone()).unwrap();
        }
        pacer.finish().unwrap();
        let paced: Vec<_> = core::iter::from_fn(|| pacer.poll()).collect();
        assert!(paced.iter().map(|(_, packet)| packet).eq(packets), "packets are neither changed, lost nor moved");
        paced.into_iter().map(|(due, _)| due).collect()
    }

    /// The due times of packets at a constant rate.
    fn even(packets: u64) -> Vec<Span> {
        (0..packets).map(|i| PACKET_TIME.mul_div(i, 1).span()).collect()
    }

    #[test]
    fn a_constant_rate_is_evenly_spaced_from_the_first_byte_to_the_last() {
        let packets = stream(Pcr::from_parts(77, 7), 5);
        assert_eq!(pace(&packets), even(100));
    }

    #[test]
    fn pacing_continues_across_the_wrap_of_the_clock() {
        let last_frame_but_two = Pcr::from_parts((1 << 33) - 3 * 3600 + 100, 0);
        assert_eq!(pace(&stream(last_frame_but_two, 6)), even(120));
    }

    #[test]
    fn a_jump_of_the_clock_keeps_the_rate() {
        let there = stream(Pcr::from_parts(1 << 32, 0), 3);
        for back in [stream(Pcr::from_parts(5, 0), 3), stream(Pcr::from_parts(3 << 31, 0), 3)] {
            assert_eq!(pace(&[&there[..], &back].concat()), even(120));
        }
    }

    #[test]
    fn a_jump_before_the_first_rate_takes_the_rate_that_follows() {
        let cut = &stream(Pcr::from_parts(1 << 32, 0), 1);
        let rest = stream(Pcr::from_parts(0, 0), 3);
        assert_eq!(pace(&[cut, &rest[..]].concat()), even(80));
    }

    #[test]
    fn a_frame_with_half_the_packets_goes_at_half_the_rate() {
        let mut packets = stream(Pcr::from_parts(0, 0), 3);
        packets.drain(25..35);
        let due = pace(&packets);
        assert_eq!(due[21], (PACKET_TIME + FRAME).span());
        assert_eq!(due[31], (PACKET_TIME + FRAME + FRAME).span());
        assert_eq!(due[26].saturating_sub(due[21]), FRAME.mul_div(1, 2).span());
    }

    #[test]
    fn missing_second_clock_reference_is_an_error_within_the_window() {
        let one = &stream(Pcr::from_parts(0, 0), 1);
        let mut pacer = Pacer::new();
        assert_eq!(one.iter().try_for_each(|packet| pacer.push(packet.clone())), Ok(()));
        let searched = Bytes(PACKETS_PER_FRAME * PACKET as u64);
        assert_eq!(pacer.clone().finish(), Err(NoClock { searched }));

        let taken = (0..).take_while(|_| pacer.push(plain(5, false, 0)).is_ok()).count();
        assert_eq!(taken + one.len(), WINDOW);
        assert_eq!((pacer.poll(), pacer.waiting.len()), (None, WINDOW));
    }

    #[test]
    fn rate_is_kept_while_clock_references_are_missing() {
        let mut pacer = Pacer::new();
        let silence = vec![plain(5, false, 0); WINDOW];
        for packet in [&stream(Pcr::from_parts(0, 0), 2)[..], &silence].concat() {
            pacer.push(packet).unwrap();
        }
        assert!(pacer.ready() >= WINDOW, "what waits is bounded");
        for packet in stream(Pcr::from_parts(1 << 32, 0), 2) {
            pacer.push(packet).unwrap();
        }
        pacer.finish().unwrap();
        let due: Vec<Span> = core::iter::from_fn(|| pacer.poll()).map(|(due, _)| due).collect();
        assert_eq!(due, even(WINDOW as u64 + 80));
    }
}
