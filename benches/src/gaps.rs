//! The evenness of a sender's packet intervals, block by block.

use crate::tap::Passed;

/// The bytes of a payload ID: behind the media of a source packet, and in front of a repair symbol (RFC 6865 §5.1).
const PAYLOAD_ID: usize = 6;

/// A media or repair packet on the wire.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Packet {
    at: u64,
    /// The source block number.
    block: u32,
}

/// The deviation of each gap between two packets from the plan, in seconds: every block leaves evenly over `block`
/// seconds, GENEVA §3.2.2. `media` is the number of media bytes in a datagram.
pub fn misses(wire: &[Passed], media: usize, block: f64) -> Vec<f64> {
    let packets: Vec<Packet> = wire.iter().filter_map(|passed| packet(passed, media)).collect();
    let blocks: Vec<&[Packet]> = packets.chunk_by(|one, next| one.block == next.block).collect();
    let mut misses = Vec::with_capacity(packets.len());
    // The first and the last block may be incomplete. Each gap belongs to the block whose packet precedes it.
    for pair in blocks.windows(2).skip(1) {
        let planned = block / pair[0].len() as f64;
        let times = || pair[0].iter().chain(&pair[1][..1]).map(|packet| packet.at);
        let gaps = times().zip(times().skip(1)).map(|(one, next)| next.abs_diff(one) as f64 / 1e9);
        misses.extend(gaps.map(|gap| (gap - planned).abs()));
    }
    misses
}

/// Parses a packet. A source packet is an RTP header, media and a payload ID. A repair packet is an RTP header, a
/// payload ID and a symbol three bytes longer than the source packet without its ID.
fn packet(passed: &Passed, media: usize) -> Option<Packet> {
    const RTP: usize = 12;
    let (first, last) = &passed.ends;
    let id = match passed.len {
        len if len == RTP + media + PAYLOAD_ID => &last[16 - PAYLOAD_ID..],
        len if len == RTP + PAYLOAD_ID + 3 + RTP + media => &first[RTP..],
        _ => return None,
    };
    Some(Packet { at: passed.at, block: u32::from_be_bytes([0, id[0], id[1], id[2]]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(at: u64, block: u8) -> Passed {
        let mut last = [0; 16];
        last[16 - PAYLOAD_ID + 2] = block;
        Passed { at, len: 12 + 1316 + PAYLOAD_ID, ends: ([0x80; 16], last) }
    }

    #[test]
    fn a_late_packet_makes_one_gap_too_long_and_the_next_too_short() {
        // Blocks of two in 10 ms leave every 5 ms; block 1's second packet is 1 ms late.
        let times = [(0, 0), (5, 0), (10, 1), (16, 1), (20, 2), (25, 2), (30, 3)];
        let wire: Vec<Passed> = times.iter().map(|&(at, block)| source(at * 1_000_000, block)).collect();
        let misses: Vec<u64> = misses(&wire, 1316, 0.010).iter().map(|miss| (miss * 1e6).round() as u64).collect();
        assert_eq!(misses, [1000, 1000, 0, 0]);
    }
}
