//! A transport stream made of packets whose bytes are counted by hand.

use proptest::prelude::*;
use thalweg_mpegts::packet::SYNC;

use super::*;

const VIDEO: u16 = 0x41;
const SOUND: u16 = 0x42;
const TABLES: u16 = 0;
const NULL: u16 = 0x1fff;

/// A packet without adaptation field, whose payload begins with `head`.
fn packet(pid: u16, begins: bool, head: &[u8]) -> Vec<u8> {
    let [high, low] = pid.to_be_bytes();
    let mut bytes = vec![SYNC, high | u8::from(begins) << 6, low, 0x10];
    bytes.extend_from_slice(head);
    bytes.resize(PACKET, 0xff);
    bytes
}

/// The beginning of a PES packet with a PTS of zero: nine bytes and five.
fn pes(stream_id: u8) -> [u8; 14] {
    [0, 0, 1, stream_id, 0, 0, 0x80, 0x80, 5, 0x21, 0, 1, 0, 1]
}

/// A tenth of a second: 20 packets of video, of which the first begins a picture, three of sound, one of tables, one null.
fn tenth() -> Vec<u8> {
    let mut bytes = packet(VIDEO, true, &pes(0xe0));
    bytes.extend((0..19).flat_map(|_| packet(VIDEO, false, &[])));
    bytes.extend(packet(SOUND, true, &pes(0xc0)));
    bytes.extend((0..2).flat_map(|_| packet(SOUND, false, &[])));
    bytes.extend(packet(TABLES, true, &[0]));
    bytes.extend(packet(NULL, false, &[]));
    bytes
}

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// A meter after `tenths` of a second.
fn after(tenths: u64) -> Budget {
    let mut budget = Budget::default();
    (0..tenths).for_each(|nth| budget.push(at(100 * nth + 50), &tenth()));
    budget
}

#[test]
fn sound_tables_null_packets_and_headers_are_taken_off() {
    let usage = after(10).usage(at(1_000)).expect("a second has passed");
    // Five other packets in a tenth; of the video 20 payloads of 184 bytes less one PES header of 14.
    assert_eq!(usage.others, Rate::from_bps(5 * 188 * 80));
    assert_eq!(usage.coded, Rate::from_bps((20 * 184 - 14) * 80));
    // A rate of 200 more payloads of video in a second, without another picture.
    let rate = Rate::from_bps((25 + 20) * 188 * 80);
    assert_eq!(usage.for_video(rate), Some(Rate::from_bps((40 * 184 - 14) * 80)));
    let full = Rate::from_bps(5 * 188 * 80 + 80 * 14 * 188 / 184);
    assert_eq!(usage.for_video(full), None);
}

#[test]
fn nothing_is_known_before_a_second_and_without_video() {
    assert_eq!(after(10).usage(at(999)), None);
    // The first slot of a stream that begins within it is shorter: it is not counted until it is whole.
    let mut budget = Budget::default();
    budget.push(at(450), &tenth().repeat(10));
    assert_eq!((budget.usage(at(1_300)), budget.usage(at(1_400)).is_some()), (None, true));
    let mut sound = Budget::default();
    (0..30).for_each(|nth| sound.push(at(100 * nth), &packet(SOUND, true, &pes(0xc0))));
    assert_eq!(sound.usage(at(3_000)), None);
}

#[test]
fn only_the_last_second_counts_and_memory_is_bounded() {
    let mut budget = after(600);
    assert!(budget.slots.len() as u64 <= SLOTS + 1);
    // A second without sound.
    (600..610).for_each(|nth| budget.push(at(100 * nth), &packet(VIDEO, false, &[])));
    let usage = budget.usage(at(61_000)).expect("video goes on");
    assert_eq!((usage.others, usage.coded), (Rate::from_bps(0), Rate::from_bps(10 * 184 * 8)));
    assert_eq!(budget.usage(at(63_000)), None, "the stream stands still");
}

proptest! {
    #[test]
    fn any_bytes_are_measured_without_panic_and_cannot_exceed_themselves(
        chunks in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..800), 0u64..300), 0..30),
        glue in any::<bool>(),
    ) {
        let (mut budget, mut now, mut sum) = (Budget::default(), 0, 0u64);
        for (mut chunk, wait) in chunks {
            if glue {
                chunk.splice(0..0, tenth());
            }
            now += wait;
            sum += chunk.len() as u64;
            budget.push(at(now), &chunk);
            let Some(usage) = budget.usage(at(now)) else { continue };
            prop_assert!(usage.others.as_bps() + usage.coded.as_bps() <= 8 * sum);
            let left = usage.for_video(Rate::from_mbps(5));
            prop_assert!(left.is_none_or(|left| left < Rate::from_mbps(5)));
        }
    }
}
