//! Finds packets among arbitrary bytes, in chunks of any size, and packs seven into a datagram.

use thalweg_core::units::Bytes;

use crate::packet::{Packet, SYNC};
use crate::{DATAGRAM, PACKET};

/// The number of sync bytes, one packet apart, after which bytes count as a transport stream (ETSI TR 101 290 §5.2.1,
/// ISO/IEC 13818-1 Annex G).
pub const SYNC_RUN: usize = 5;

/// Takes bytes in chunks of any size, with any bytes between the packets, and returns whole packets.
///
/// The result does not depend on the chunks. Call [`Framer::poll`] until it returns none after every [`Framer::push`]
/// and [`Framer::finish`]; fewer than [`SYNC_RUN`] packets then remain inside.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Framer {
    bytes: Vec<u8>,
    /// The offset of the first byte not examined yet.
    at: usize,
    in_sync: bool,
    ended: bool,
    packets: u64,
    skipped: u64,
    truncated: u64,
}

impl Framer {
    /// A framer that searches for its first packet.
    pub fn new() -> Framer {
        Framer::default()
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.at);
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// Ends the bytes: the last packets need no successors. A push starts anew.
    pub fn finish(&mut self) {
        self.ended = true;
    }

    /// The next packet.
    pub fn poll(&mut self) -> Option<Packet> {
        while self.in_sync || self.hunt() {
            let rest = &self.bytes[self.at..];
            if rest.len() < PACKET {
                break;
            }
            match Packet::parse(rest) {
                Ok(packet) => {
                    self.at += PACKET;
                    self.packets += 1;
                    return Some(packet);
                }
                Err(_) => self.in_sync = false,
            }
        }
        if self.ended {
            self.start_anew();
        }
        None
    }

    /// The number of packets found.
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// The number of bytes skipped because they belong to no packet.
    pub fn skipped(&self) -> Bytes {
        Bytes(self.skipped)
    }

    /// The number of bytes at an end that were too few for a packet.
    pub fn truncated(&self) -> Bytes {
        Bytes(self.truncated)
    }

    /// Skips to the next possible start of a stream; false if more bytes are needed.
    fn hunt(&mut self) -> bool {
        while self.at < self.bytes.len() {
            let rest = &self.bytes[self.at..];
            if rest.iter().step_by(PACKET).take(SYNC_RUN).all(|byte| *byte == SYNC) {
                let is_run = rest.len() > (SYNC_RUN - 1) * PACKET;
                self.in_sync = is_run || (self.ended && rest.len() >= PACKET);
                return self.in_sync;
            }
            self.at += 1;
            self.skipped += 1;
        }
        false
    }

    fn start_anew(&mut self) {
        self.truncated += (self.bytes.len() - self.at) as u64;
        self.bytes.clear();
        self.at = 0;
        self.in_sync = false;
        self.ended = false;
    }
}

/// Re-aligns a stream: takes arbitrary bytes, returns datagrams of 7 x 188 bytes.
///
/// Call [`Aligner::poll`] until it returns none after every [`Aligner::push`] and [`Aligner::finish`]; less than a
/// datagram of packets, and less than [`SYNC_RUN`] packets of undecided bytes, then remain inside.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Aligner {
    framer: Framer,
    filling: Vec<u8>,
    is_delivered: bool,
    ended: bool,
}

impl Aligner {
    /// An aligner that searches for its first packet.
    pub fn new() -> Aligner {
        Aligner::default()
    }

    /// Takes the next bytes: a datagram, or part of a file.
    pub fn push(&mut self, bytes: &[u8]) {
        self.framer.push(bytes);
    }

    /// Releases the packets inside in a datagram that may be shorter. A push starts anew.
    pub fn finish(&mut self) {
        self.framer.finish();
        self.ended = true;
    }

    /// Releases the whole packets inside in a datagram that may be shorter; bytes of an incomplete packet remain.
    pub fn flush(&mut self) {
        self.ended = true;
    }

    /// True if packets wait for others to fill their datagram.
    pub fn is_waiting(&self) -> bool {
        !self.is_delivered && !self.filling.is_empty()
    }

    /// The next datagram: seven packets, or fewer at the end or after a flush.
    pub fn poll(&mut self) -> Option<&[u8]> {
        if self.is_delivered {
            self.filling.clear();
            self.is_delivered = false;
        }
        while self.filling.len() < DATAGRAM {
            let Some(packet) = self.framer.poll() else { break };
            self.filling.extend_from_slice(packet.as_bytes());
        }
        let is_last = self.filling.len() < DATAGRAM && core::mem::take(&mut self.ended);
        self.is_delivered = self.filling.len() == DATAGRAM || (is_last && !self.filling.is_empty());
        self.is_delivered.then_some(&*self.filling)
    }

    /// The number of bytes that belong to no packet.
    pub fn skipped(&self) -> Bytes {
        self.framer.skipped() + self.framer.truncated()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::NULL_PID;
    use crate::synthetic::{bytes, plain};
    use proptest::prelude::*;

    fn align(chunks: &[&[u8]]) -> (Vec<Vec<u8>>, Bytes) {
        let mut aligner = Aligner::new();
        let mut out = Vec::new();
        for chunk in chunks {
            aligner.push(chunk);
            while let Some(datagram) = aligner.poll() {
                out.push(datagram.to_vec());
            }
            assert!(aligner.framer.bytes.len() - aligner.framer.at < SYNC_RUN * PACKET);
        }
        aligner.finish();
        while let Some(datagram) = aligner.poll() {
            out.push(datagram.to_vec());
        }
        (out, aligner.skipped())
    }

    fn packets(count: u8) -> Vec<u8> {
        bytes(&(0..count).map(|i| plain(0x100, false, i % 16)).collect::<Vec<_>>())
    }

    #[test]
    fn flush_does_not_split_a_packet() {
        let (mut aligner, stream) = (Aligner::new(), packets(12));
        aligner.push(&stream[..5 * PACKET + 100]);
        assert_eq!((aligner.poll().is_none(), aligner.is_waiting()), (true, true));
        aligner.flush();
        assert_eq!(aligner.poll(), Some(&stream[..5 * PACKET]));
        assert_eq!((aligner.poll().is_none(), aligner.is_waiting()), (true, false));
        aligner.push(&stream[5 * PACKET + 100..]);
        assert_eq!(aligner.poll(), Some(&stream[5 * PACKET..]));
        assert_eq!(aligner.skipped(), Bytes(0));
    }

    #[test]
    fn whole_datagrams_pass_at_once() {
        let mut aligner = Aligner::new();
        for _ in 0..3 {
            aligner.push(&packets(7));
            assert_eq!(aligner.poll(), Some(&*packets(7)));
            assert_eq!(aligner.poll(), None);
        }
    }

    #[test]
    fn garbage_is_skipped_and_counted_and_the_last_datagram_is_shorter() {
        let garbage = [&[0; 200][..], &[0x47; 100]].concat();
        let (out, skipped) = align(&[&garbage, &packets(10), &garbage, &packets(6), &[0x47; 20]]);
        assert_eq!(out.iter().map(Vec::len).collect::<Vec<_>>(), [DATAGRAM, DATAGRAM, 2 * PACKET]);
        assert_eq!(out.concat(), [packets(10), packets(6)].concat());
        assert_eq!(skipped, Bytes(300 + 300 + 20));
    }

    #[test]
    fn a_spoilt_sync_byte_costs_one_packet() {
        let mut stream = packets(20);
        stream[8 * PACKET] = 0;
        let (out, skipped) = align(&[&stream]);
        assert_eq!(skipped, Bytes(PACKET as u64));
        assert_eq!(out.concat(), [&stream[..8 * PACKET], &stream[9 * PACKET..]].concat());
    }

    #[test]
    fn aligner_accepts_another_stream_after_finish() {
        let mut aligner = Aligner::new();
        for _ in 0..2 {
            aligner.push(&packets(2));
            assert_eq!(aligner.poll(), None);
            aligner.finish();
            assert_eq!(aligner.poll(), Some(&*packets(2)));
            assert_eq!(aligner.poll(), None);
        }
    }

    /// Runs of packets with garbage between them, in which sync bytes are frequent.
    fn any_stream() -> impl Strategy<Value = Vec<u8>> {
        let garbage = prop::collection::vec(prop_oneof![Just(SYNC), any::<u8>()], 0..600);
        let run = (0..12u8).prop_map(packets);
        let fill = (0..9usize).prop_map(|n| bytes(&vec![plain(NULL_PID, false, 0); n]));
        prop::collection::vec(prop_oneof![garbage, run, fill], 0..6).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn output_does_not_depend_on_the_segmentation(
            stream in any_stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
            cuts.extend([0, stream.len()]);
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]).collect();
            let (out, skipped) = align(&chunks);
            prop_assert_eq!((&out, skipped), (&align(&[&stream]).0, align(&[&stream]).1));
            prop_assert_eq!(out.concat().len() as u64 + skipped.0, stream.len() as u64);
            prop_assert!(out.concat().iter().step_by(PACKET).all(|byte| *byte == SYNC));
            prop_assert!(out.iter().rev().skip(1).all(|datagram| datagram.len() == DATAGRAM));
        }
    }
}
