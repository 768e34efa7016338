//! Corruption that the UDP checksum did not catch.

use thalweg_core::rng::Rng;
use thalweg_core::time::Time;

use super::delay_queue::DelayQueue;
use super::{Node, Tallied, Tally};
use crate::packet::{Body, Packet};

/// Damages bytes of a share of the packets, and passes all of them on at once.
#[derive(Clone, PartialEq, Debug)]
pub struct Corrupt {
    share: f64,
    bytes: u32,
    rng: Rng,
    passing: DelayQueue,
    changed: u64,
}

impl Corrupt {
    /// A node that changes `bytes` bytes of a packet, drawn with replacement, with probability `share`.
    pub fn new(share: f64, bytes: u32, rng: Rng) -> Corrupt {
        Corrupt { share, bytes, rng, passing: DelayQueue::default(), changed: 0 }
    }

    fn damage(&mut self, payload: &mut [u8]) {
        for _ in 0..self.bytes {
            let (place, flips) = (self.rng.below(payload.len() as u64), 1 + self.rng.below(255));
            if let Some(byte) = payload.get_mut(place as usize) {
                *byte ^= flips as u8;
            }
        }
    }
}

impl Node for Corrupt {
    fn accept(&mut self, now: Time, mut packet: Packet) {
        if self.rng.chance(self.share) {
            self.changed += 1;
            if let Body::Datagram(payload) = &mut packet.body {
                self.damage(payload);
            }
        }
        self.passing.put(now, packet);
    }

    fn next(&self) -> Option<Time> {
        self.passing.next()
    }

    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.passing.take(now)
    }
}

impl Tallied for Corrupt {
    fn tally(&self) -> Tally {
        Tally { changed: self.changed, held: self.passing.len(), ..Tally::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_damaged_byte_is_one_byte_that_differs() {
        let mut corrupt = Corrupt::new(1.0, 1, Rng::new(1));
        for len in [1, 20, 1400] {
            corrupt.accept(Time::ZERO, Packet::datagram(0, vec![0; len]));
            let Some(Packet { body: Body::Datagram(payload), .. }) = corrupt.poll(Time::ZERO) else { panic!("passes") };
            assert_eq!(payload.iter().filter(|byte| **byte != 0).count(), 1);
        }
        corrupt.accept(Time::ZERO, Packet::datagram(0, Vec::new()));
        assert_eq!(corrupt.poll(Time::ZERO), Some(Packet::datagram(0, Vec::new())));
    }
}
