//! Transport streams made by rule, and a judge of transport streams, for tests.

use std::collections::BTreeMap;

use super::PACKET;
use super::packet::{NULL_PID, Packet};
use super::pes::Header;
use super::stamp::{Pcr, Ticks, Timestamp};

pub(super) const VIDEO: u16 = 0x100;
/// A frame of 1/25 s.
pub(super) const FRAME: Ticks = Ticks::from_90k(3600);
pub(super) const PACKETS_PER_FRAME: u64 = 20;
/// Time of a packet: 752 kb/s.
pub(super) const PACKET_TIME: Ticks = Ticks(FRAME.0 / PACKETS_PER_FRAME);

/// A constant rate, and in each frame: a table, a packet with PCR, PTS and DTS, eighteen of video. The first reference
/// is one packet after `start`, a frame is decoded 100 ms after its table.
pub(super) fn stream(start: Pcr, frames: u64) -> Vec<Packet> {
    let mut packets = Vec::new();
    let mut counters = BTreeMap::new();
    for frame in 0..frames {
        let at = start + FRAME.mul_div(frame, 1);
        packets.push(plain(0, true, count(&mut counters, 0)));
        packets.push(first_of_frame(at, count(&mut counters, VIDEO)));
        for _ in 2..PACKETS_PER_FRAME {
            packets.push(plain(VIDEO, false, count(&mut counters, VIDEO)));
        }
    }
    packets
}

pub(super) fn bytes(packets: &[Packet]) -> Vec<u8> {
    packets.iter().flat_map(|packet| *packet.as_bytes()).collect()
}

/// A packet with nothing but a payload.
pub(super) fn plain(pid: u16, starts_unit: bool, counter: u8) -> Packet {
    let mut bytes = [0xaa; PACKET];
    let [high, low] = pid.to_be_bytes();
    bytes[..4].copy_from_slice(&[0x47, high | u8::from(starts_unit) << 6, low, 0x10 | counter]);
    Packet::parse(&bytes).unwrap()
}

fn first_of_frame(at: Pcr, counter: u8) -> Packet {
    let mut packet = *plain(VIDEO, true, counter).as_bytes();
    packet[3] |= 0x20;
    packet[4..12].copy_from_slice(&[7, 0x10, 0, 0, 0, 0, 0x7e, 0]);
    let pes = [0, 0, 1, 0xe0, 0, 0, 0x80, 0xc0, 10, 0x31, 0, 1, 0, 1, 0x11, 0, 1, 0, 1];
    packet[12..12 + pes.len()].copy_from_slice(&pes);
    let mut packet = Packet::parse(&packet).unwrap();
    packet.set_pcr(at + PACKET_TIME);
    super::pes::shift(&mut packet, Ticks::from_90k(at.parts().0) + Ticks::from_90k(9000));
    packet
}

fn count(counters: &mut BTreeMap<u16, u8>, pid: u16) -> u8 {
    let counter = counters.entry(pid).or_insert(15);
    *counter = (*counter + 1) % 16;
    *counter
}

/// Finds what a decoder would stumble over: gaps in the counters, clocks that stand still, jump or run backwards.
#[derive(Default)]
pub(super) struct Judge {
    counters: BTreeMap<u16, u8>,
    references: BTreeMap<u16, Pcr>,
    decoding: BTreeMap<u16, Timestamp>,
    pub(super) packets: u64,
    pub(super) frames: u64,
    pub(super) faults: Vec<String>,
}

impl Judge {
    pub(super) fn of<'a>(packets: impl IntoIterator<Item = &'a Packet>) -> Judge {
        let mut judge = Judge::default();
        packets.into_iter().for_each(|packet| judge.observe(packet));
        judge
    }

    pub(super) fn observe(&mut self, packet: &Packet) {
        self.packets += 1;
        let pid = packet.pid();
        if pid != NULL_PID {
            let last = self.counters.insert(pid, packet.counter());
            let expected = last.map(|last| (last + u8::from(packet.has_payload())) % 16);
            self.check(expected.is_none_or(|counter| counter == packet.counter()), "counter", pid);
        }
        if let Some(pcr) = packet.pcr() {
            let last = self.references.insert(pid, pcr);
            // Twice what ISO/IEC 13818-1 §2.7.2 allows: files stray from it.
            self.check(last.is_none_or(|last| is_step(pcr.since(last), Ticks(5_400_000))), "PCR", pid);
        }
        if let Some(header) = Header::parse(packet) {
            self.frames += u64::from(header.is_audio_or_video());
            let time = header.decoding_time();
            let last = self.decoding.insert(pid, time);
            self.check(last.is_none_or(|last| is_step(time.since(last), Ticks::from_secs(1))), "DTS", pid);
            let lead = header.pts.since(time);
            self.check(lead <= Ticks::from_secs(1), "PTS before DTS", pid);
        }
    }

    fn check(&mut self, is_right: bool, what: &str, pid: u16) {
        if !is_right {
            self.faults.push(format!("{what} of PID {pid:#x} at packet {}", self.packets));
        }
    }
}

fn is_step(ticks: Ticks, longest: Ticks) -> bool {
    (Ticks(1)..=longest).contains(&ticks)
}
