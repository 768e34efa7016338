//! Packets written and grouped into datagrams.

use crate::packet;
use crate::stamp::Pcr;
use crate::{DATAGRAM, PACKET};

/// Bytes of a packet after its header.
const CAPACITY: usize = PACKET - 4;

/// A PID and its continuity counter.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Pid {
    pub(super) pid: u16,
    /// The counter of the last packet.
    counter: u8,
}

/// The adaptation field of a packet (§2.4.3.4), apart from its stuffing.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub(super) struct Adaptation {
    pub(super) is_random_access: bool,
    pub(super) pcr: Option<Pcr>,
}

/// Packets that wait to be sent.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Packets {
    bytes: Vec<u8>,
    /// The offset of the first byte that was not returned.
    at: usize,
    /// The offset up to which packets do not wait for others.
    flushed: usize,
}

impl Pid {
    pub(super) fn new(pid: u16) -> Pid {
        Pid { pid, counter: 15 }
    }
}

impl Adaptation {
    /// Bytes of the field with its length; zero if it says nothing.
    fn len(self) -> usize {
        match self {
            Adaptation { pcr: Some(_), .. } => 8,
            Adaptation { is_random_access: true, .. } => 2,
            _ => 0,
        }
    }

    fn flags(self) -> u8 {
        u8::from(self.is_random_access) << 6 | u8::from(self.pcr.is_some()) << 4
    }
}

impl Packets {
    /// Writes a PES packet or a section into as many packets as it takes; the last is filled up by its adaptation field.
    pub(super) fn write(&mut self, pid: &mut Pid, mut adaptation: Adaptation, unit: &[u8]) {
        let mut rest = unit;
        while !rest.is_empty() {
            let (payload, after) = rest.split_at(rest.len().min(CAPACITY - adaptation.len()));
            let starts_unit = rest.len() == unit.len();
            self.packet(pid, starts_unit, adaptation, payload);
            (rest, adaptation) = (after, Adaptation::default());
        }
    }

    /// Writes a packet with a section, which fits into one and is filled up by bytes 0xff (§2.4.4).
    pub(super) fn write_section(&mut self, pid: &mut Pid, section: &[u8]) {
        let mut payload = [0xff; CAPACITY];
        payload[0] = 0;
        payload[1..=section.len()].copy_from_slice(section);
        self.packet(pid, true, Adaptation::default(), &payload);
    }

    /// Writes a packet without payload.
    pub(super) fn write_pcr(&mut self, pid: &mut Pid, pcr: Pcr) {
        self.packet(pid, false, Adaptation { is_random_access: false, pcr: Some(pcr) }, &[]);
    }

    fn packet(&mut self, pid: &mut Pid, starts_unit: bool, adaptation: Adaptation, payload: &[u8]) {
        // §2.4.3.3: the counter does not advance where there is no payload.
        pid.counter = (pid.counter + u8::from(!payload.is_empty())) % 16;
        let [high, low] = pid.pid.to_be_bytes();
        let field = CAPACITY - payload.len();
        let contents = u8::from(field > 0) << 5 | u8::from(!payload.is_empty()) << 4;
        let start = self.bytes.len();
        self.bytes.extend([packet::SYNC, u8::from(starts_unit) << 6 | high, low, contents | pid.counter]);
        if field > 0 {
            self.bytes.push(field as u8 - 1);
        }
        if field > 1 {
            self.bytes.push(adaptation.flags());
        }
        self.bytes.resize(start + PACKET - payload.len(), 0xff);
        if let Some(pcr) = adaptation.pcr {
            packet::write_pcr(&mut self.bytes[start..][packet::PCR], pcr);
        }
        self.bytes.extend_from_slice(payload);
    }

    /// Releases the packets that wait for others to fill their datagram.
    pub(super) fn flush(&mut self) {
        self.flushed = self.bytes.len();
    }

    /// Forgets the packets that were returned.
    pub(super) fn compact(&mut self) {
        self.bytes.drain(..self.at);
        self.flushed = self.flushed.saturating_sub(self.at);
        self.at = 0;
    }

    pub(super) fn poll(&mut self) -> Option<&[u8]> {
        let start = self.at;
        let is_full = self.bytes.len() - start >= DATAGRAM;
        let end = if is_full { start + DATAGRAM } else { self.flushed };
        if end <= start {
            return None;
        }
        self.at = end;
        Some(&self.bytes[start..end])
    }
}
