//! A capture for tshark: classic pcap with nanoseconds, of IPv4 headers and the transport headers behind them.
//!
//! Payloads are lengths in the lab, and so are not captured; checksums are computed as if payloads were zeros. Flow n
//! goes from 10.0.0.0 + n to 10.128.0.0 + n. The first segment of TCP begins at sequence number 1, and no options are
//! written: the lab's SACK blocks take no bytes on its wires.

use thalweg_core::time::Time;
use thalweg_core::units::Bytes;
use thalweg_lab::network::Direction;
use thalweg_lab::packet::{Body, Packet};

/// Magic number of captures with nanoseconds, version 2.4, no time zone, no accuracy, whole packets, LINKTYPE_RAW
/// (draft-ietf-opsawg-pcap §4).
pub(super) fn header() -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(0xa1b2_3c4d_u32.to_le_bytes());
    header.extend([2u16, 4].map(u16::to_le_bytes).concat());
    header.extend([0u32, 0, 65_535, 101].map(u32::to_le_bytes).concat());
    header
}

/// One packet (draft-ietf-opsawg-pcap §5): its time, the captured length, the length on the wire, and the headers.
pub(super) fn record(at: Time, direction: Direction, packet: &Packet, mss: Option<Bytes>) -> Vec<u8> {
    let (seconds, nanos) = (at.as_nanos() / 1_000_000_000, at.as_nanos() % 1_000_000_000);
    let headers = headers(direction, packet, mss);
    let mut record = Vec::new();
    for number in [seconds, nanos, headers.len() as u64, packet.size.0.max(headers.len() as u64)] {
        record.extend((number as u32).to_le_bytes());
    }
    record.extend(headers);
    record
}

const UDP: u8 = 17;
const TCP: u8 = 6;
/// The ports of senders, and of receivers (RFC 6335 §6: dynamic ports).
const PORTS: [u16; 2] = [49_152, 49_153];

fn headers(direction: Direction, packet: &Packet, mss: Option<Bytes>) -> Vec<u8> {
    let (mut ends, mut ports) =
        ([10 << 24, (10 << 24) + (1 << 23)].map(|net: u32| net + (packet.flow & 0x7f_ffff)), PORTS);
    if direction == Direction::Backward {
        ends.reverse();
        ports.reverse();
    }
    let byte = |number: u64| (number.wrapping_mul(mss.unwrap_or(Bytes(1460)).0) as u32).wrapping_add(1);
    let (protocol, transport) = match &packet.body {
        Body::Segment { number, .. } => (TCP, tcp(ports, byte(*number), 1)),
        Body::Ack(ack) => (TCP, tcp(ports, 1, byte(ack.next))),
        _ => (UDP, udp(ports, packet.size)),
    };
    let length = packet.size.0.clamp(20 + transport.len() as u64, 65_535) as u16;
    let mut ip = ipv4(protocol, length, ends);
    ip.extend(with_checksum(protocol, length, ends, transport));
    ip
}

/// An IPv4 header (RFC 791 §3.1): version and header length, total length, don't fragment, time to live.
fn ipv4(protocol: u8, length: u16, ends: [u32; 2]) -> Vec<u8> {
    let mut header = vec![0x45, 0];
    header.extend(length.to_be_bytes());
    header.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    header.extend(ends.map(u32::to_be_bytes).concat());
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header
}

/// A UDP header (RFC 768).
fn udp(ports: [u16; 2], size: Bytes) -> Vec<u8> {
    let length = size.0.saturating_sub(20).clamp(8, 65_515) as u16;
    [ports[0], ports[1], length, 0].map(u16::to_be_bytes).concat()
}

/// A TCP header (RFC 9293 §3.1): ports, sequence and acknowledgement number, header length, flags, window.
fn tcp(ports: [u16; 2], sequence: u32, acknowledged: u32) -> Vec<u8> {
    let mut header = ports.map(u16::to_be_bytes).concat();
    header.extend([sequence, acknowledged].map(u32::to_be_bytes).concat());
    header.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    header
}

/// The transport header with its checksum over the pseudo-header (RFC 9293 §3.1, RFC 768).
fn with_checksum(protocol: u8, length: u16, ends: [u32; 2], mut header: Vec<u8>) -> Vec<u8> {
    let mut summed = ends.map(u32::to_be_bytes).concat();
    summed.extend([0, protocol]);
    summed.extend((length - 20).to_be_bytes());
    summed.extend(&header);
    let at = if protocol == TCP { 16 } else { 6 };
    // In UDP, zero stands for no checksum.
    let sum = match checksum(&summed) {
        0 if protocol == UDP => 0xffff,
        sum => sum,
    };
    header[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    header
}

/// The checksum (RFC 1071) of an even number of bytes.
fn checksum(bytes: &[u8]) -> u16 {
    let sum: u32 = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1])).sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_match_rfc_1071() {
        // §3: the sum of these words is ddf2, before it is inverted.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }

    #[test]
    fn a_header_with_its_checksum_sums_to_zero() {
        let header = ipv4(UDP, 1_500, [0x0a00_0001, 0x0a80_0001]);
        assert_eq!(checksum(&header), 0);
        let header = with_checksum(TCP, 1_500, [1, 2], tcp(PORTS, 4_381, 1));
        let pseudo = [0, 0, 0, 1, 0, 0, 0, 2, 0, TCP, 5, 200];
        assert_eq!(checksum(&[&pseudo[..], &header].concat()), 0);
    }

    #[test]
    fn the_fourth_segment_begins_after_three_payloads_and_the_number_of_the_syn() {
        let packet = Packet::segment(0, Bytes(1460), 3, false);
        assert_eq!(headers(Direction::Forward, &packet, None)[24..28], 4_381u32.to_be_bytes());
    }

    #[test]
    fn record_has_the_length_on_the_wire() {
        let packet = Packet::length(1, Bytes(1_500));
        let record = record(Time::from_nanos(2_000_000_007), Direction::Backward, &packet, None);
        let field = |at: usize| u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]]);
        assert_eq!([0, 4, 8, 12].map(field), [2, 7, 28, 1_500]);
        assert_eq!(record.len(), 16 + 28);
        // Total length, source and destination of IPv4, and the length of UDP.
        assert_eq!(record[18..20], 1_500u16.to_be_bytes());
        assert_eq!(record[28..36], [10, 128, 0, 1, 10, 0, 0, 1]);
        assert_eq!(record[40..42], 1_480u16.to_be_bytes());
    }
}
