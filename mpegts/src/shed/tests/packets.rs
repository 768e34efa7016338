//! Any packets, under any budgets.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::packet::{NULL_PID, Packet};
use crate::{DATAGRAM, PACKET, psi, synthetic};

const MAP: u16 = 0x1000;
const VIDEOS: [u16; 3] = [0x100, 0x101, 0x102];
const AUDIO: u16 = 0x110;

/// The tables of a program with H.264, MPEG-2, H.265 and sound.
fn tables() -> Vec<Packet> {
    let entry = |kind: u8, pid: u16| [kind, 0xe0 | (pid >> 8) as u8, pid as u8, 0xf0, 0];
    let map = [[0x1b, 0], [0x02, 1], [0x24, 2]].map(|[kind, nth]| entry(kind, VIDEOS[usize::from(nth)])).concat();
    let map = [&[0xe1, 0, 0xf0, 0][..], &map, &entry(0x03, AUDIO)].concat();
    [(0, psi::section(0, 1, &[0, 1, 0xf0, 0])), (MAP, psi::section(2, 1, &map))]
        .into_iter()
        .map(|(pid, section)| {
            let mut packet = synthetic::plain(pid, true, 0);
            packet.payload_mut().fill(0xff);
            packet.payload_mut()[0] = 0;
            packet.payload_mut()[1..=section.len()].copy_from_slice(&section);
            packet
        })
        .collect()
}

/// A packet with any header and any contents after it, of one of the PIDs.
fn packet() -> impl Strategy<Value = Packet> {
    let pid = prop_oneof![
        8 => prop::sample::select(VIDEOS.to_vec()),
        1 => Just(AUDIO), 1 => Just(NULL_PID), 1 => Just(MAP), 1 => Just(0x200u16),
    ];
    let code = prop_oneof![
        Just(vec![0, 0, 1, 0x65]),
        Just(vec![0, 0, 1, 0x41]),
        Just(vec![0, 0, 1, 0x01]),
        Just(vec![0, 0, 1, 0, 0, 0x18]),
        Just(vec![0, 0, 1, 0, 0, 0x08]),
        Just(vec![0, 0, 1, 0xb3]),
        prop::collection::vec(any::<u8>(), 0..12),
    ];
    (pid, any::<bool>(), 0..4u8, 0..60u8, any::<u8>(), code, any::<u8>()).prop_map(
        |(pid, starts, control, adaptation, flags, code, fill)| {
            let mut bytes = [fill; PACKET];
            bytes[..4].copy_from_slice(&[0x47, u8::from(starts) << 6 | (pid >> 8) as u8, pid as u8, control << 4]);
            let mut at = 4;
            if control & 2 != 0 {
                (bytes[4], bytes[5]) = (adaptation, flags);
                at += 1 + usize::from(adaptation);
            }
            if control & 1 != 0 {
                let pes = [0, 0, 1, 0xe0, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1];
                let payload = [&pes[..if starts { pes.len() } else { 0 }], &code].concat();
                bytes[at..at + payload.len()].copy_from_slice(&payload);
            }
            Packet::parse(&bytes).unwrap()
        },
    )
}

/// Gives the packets continuity counters without gaps.
fn count(packets: &mut [Packet]) {
    let mut counters = BTreeMap::new();
    for packet in packets {
        let counter = counters.entry(packet.pid()).or_insert(15u8);
        *counter = counter.wrapping_add(packet.has_payload().into());
        packet.set_counter(*counter);
    }
}

/// True for an adaptation field with an intentional jump, at which the counter may jump as well.
fn gaps(packets: &[Packet]) -> usize {
    let mut counters = BTreeMap::new();
    let is_gap = |packet: &&Packet| {
        let last = counters.insert(packet.pid(), packet.counter());
        let expected = last.map(|last: u8| (last + u8::from(packet.has_payload())) % 16);
        packet.pid() != NULL_PID && expected.is_some_and(|counter| counter != packet.counter())
    };
    packets.iter().filter(is_gap).count()
}

fn budget() -> impl Strategy<Value = Option<MediaBudget>> {
    prop::option::weighted(
        0.9,
        (0..2_000_000u64, 0..500u64, 0..50_000u64).prop_map(|(bps, millis, queued)| MediaBudget {
            rate: Rate::from_bps(bps),
            longest_wait: Span::from_millis(millis),
            queued: Bytes(queued),
        }),
    )
}

proptest! {
    #[test]
    fn all_but_pictures_remains_and_counters_have_no_gap(
        packets in prop::collection::vec(packet(), 0..200),
        budgets in prop::collection::vec(budget(), 40),
        step in 1..500u64,
    ) {
        let mut before = [tables(), packets].concat();
        count(&mut before);
        let (mut shedder, mut after, mut now) = (Shedder::new(), Vec::new(), Time::ZERO);
        for (nth, datagram) in synthetic::bytes(&before).chunks(DATAGRAM).enumerate() {
            now += Span::from_millis(step);
            let kept = shedder.pass(now, datagram, budgets[nth % budgets.len()].as_ref());
            prop_assert!(kept.len() <= datagram.len() && kept.len().is_multiple_of(PACKET));
            after.extend(kept.chunks(PACKET).map(|bytes| Packet::parse(bytes).unwrap()));
        }
        let others = |packets: &[Packet]| -> Vec<Packet> {
            packets.iter().filter(|packet| packet.pid() != NULL_PID && !VIDEOS.contains(&packet.pid())).cloned().collect()
        };
        prop_assert_eq!(others(&before), others(&after));
        let clock = |packets: &[Packet]| packets.iter().filter_map(Packet::pcr).collect::<Vec<_>>();
        let is_null = |packet: &Packet| packet.pid() == NULL_PID;
        let clocks = [&before, &after].map(|packets| {
            clock(&packets.iter().filter(|packet| !is_null(packet)).cloned().collect::<Vec<_>>())
        });
        prop_assert_eq!(&clocks[0], &clocks[1]);
        prop_assert_eq!(gaps(&after), 0);
    }

    #[test]
    fn any_bytes_pass_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..1400), budget in budget()) {
        let mut shedder = Shedder::new();
        let kept = shedder.pass(Time::ZERO, &bytes, budget.as_ref()).to_vec();
        if !crate::is_whole_packets(&bytes) {
            prop_assert_eq!(kept, bytes);
        }
    }
}
