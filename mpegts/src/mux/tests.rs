mod ffmpeg;

use proptest::prelude::*;

use super::*;
use crate::packet::Packet;
use crate::synthetic::{self, Judge, Pes};
use crate::{DATAGRAM, PACKET};

const VIDEO: usize = 0;
const AUDIO: usize = 1;

fn lc_48_khz_stereo() -> Stream {
    Stream::Aac(aac::Config::parse(&[0x11, 0x90]).unwrap().adts().unwrap())
}

fn h264_and_aac() -> Muxer {
    Muxer::new(&[Stream::H264, lc_48_khz_stereo()])
}

fn unit(data: &[u8], pts: Span, dts: Span) -> Unit<'_> {
    Unit { data, pts, dts, is_random_access: false }
}

fn at(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn drain(muxer: &mut Muxer) -> Vec<Packet> {
    let datagrams = core::iter::from_fn(|| muxer.poll().map(<[u8]>::to_vec));
    datagrams.flat_map(|datagram| packets(&datagram)).collect()
}

fn packets(datagram: &[u8]) -> Vec<Packet> {
    assert!(crate::is_whole_packets(datagram) && datagram.len() <= DATAGRAM);
    datagram.chunks(PACKET).map(|bytes| Packet::parse(bytes).unwrap()).collect()
}

fn push(muxer: &mut Muxer, stream: usize, unit: Unit<'_>) -> Vec<Packet> {
    muxer.push(stream, &unit).unwrap();
    muxer.flush();
    drain(muxer)
}

/// The PES packets of the stream with this index.
fn pes_of(packets: &[Packet], stream: usize) -> Vec<Pes> {
    synthetic::pes_of(packets, FIRST_PID + stream as u16)
}

#[test]
fn tables_name_the_streams_with_their_types_and_the_clock() {
    let sent = push(&mut h264_and_aac(), AUDIO, unit(&[0; 10], at(0), at(0)));
    let [association, map, ..] = &sent[..] else { panic!("no tables") };
    assert_eq!((association.pid(), association.starts_unit(), map.pid()), (0, true, 0x1000));
    assert_eq!(association.payload()[9..13], [0, 1, 0xf0, 0], "program 1 has its map in PID 0x1000");
    let section = &map.payload()[1..];
    let streams = [0x1b, 0xe1, 0, 0xf0, 0, 0x0f, 0xe1, 1, 0xf0, 0];
    assert_eq!(section[..8], [2, 0xb0, 23, 0, 1, 0xc1, 0, 0]);
    assert_eq!(section[8..22], [&[0xe1, 0, 0xf0, 0], &streams[..]].concat());
    assert_eq!(psi::crc(&section[..26]), 0);
    assert!(section[26..].iter().all(|byte| *byte == 0xff));
}

#[test]
fn access_unit_gets_a_delimiter_unless_it_has_one() {
    let mut muxer = h264_and_aac();
    let with = [0, 0, 1, 9, 0x10, 0, 0, 1, 0x65, 1];
    let without = [0, 0, 0, 1, 0x65, 1];
    let mut sent = push(&mut muxer, VIDEO, unit(&with, at(0), at(0)));
    sent.extend(push(&mut muxer, VIDEO, unit(&without, at(40), at(40))));
    let data: Vec<_> = pes_of(&sent, VIDEO).into_iter().map(|(_, data)| data).collect();
    assert_eq!(data, [&with[..], &[0, 0, 0, 1, 9, 0xf0, 0, 0, 0, 1, 0x65, 1]]);
}

#[test]
fn frame_of_aac_gets_its_header() {
    let sent = push(&mut h264_and_aac(), AUDIO, unit(&[7; 256], at(0), at(0)));
    let [(header, data)] = &pes_of(&sent, AUDIO)[..] else { panic!("one frame") };
    assert_eq!(header.stream_id & 0xe0, 0xc0);
    // As ffmpeg writes it, see `aac`.
    assert_eq!(data[..7], [0xff, 0xf1, 0x4c, 0x80, 0x20, 0xff, 0xfc]);
    assert_eq!(data[7..], [7; 256]);
}

#[test]
fn frame_that_is_too_long_for_its_header_is_refused_and_leaves_no_trace() {
    let mut muxer = Muxer::new(&[lc_48_khz_stereo(), Stream::MpegAudio]);
    assert_eq!(muxer.push(0, &unit(&[0; 8185], at(0), at(0))), Err(Error::Length));
    assert_eq!(muxer.push(1, &unit(&[0; 65_536], at(0), at(0))), Err(Error::Length));
    muxer.flush();
    assert_eq!(muxer.poll(), None);
    assert!(!push(&mut muxer, 0, unit(&[0; 8184], at(30), at(30))).is_empty());
}

#[test]
fn random_access_point_follows_tables_and_is_marked() {
    let mut muxer = h264_and_aac();
    push(&mut muxer, VIDEO, unit(&[1; 500], at(0), at(0)));
    let plain = push(&mut muxer, VIDEO, unit(&[1; 500], at(40), at(40)));
    assert!(plain.iter().all(|packet| packet.pid() == 0x100 && !packet.is_random_access()));
    let random_access = Unit { is_random_access: true, ..unit(&[1; 500], at(80), at(80)) };
    let sent = push(&mut muxer, VIDEO, random_access);
    assert_eq!(sent.iter().map(Packet::pid).collect::<Vec<_>>(), [0, 0x1000, 0x100, 0x100, 0x100]);
    assert_eq!(sent.iter().filter(|packet| packet.is_random_access()).count(), 1);
    assert!(sent[2].is_random_access() && sent[2].starts_unit());
}

#[test]
fn end_of_a_picture_releases_all_that_waits() {
    let mut muxer = h264_and_aac();
    muxer.push(AUDIO, &unit(&[1; 100], at(0), at(0))).unwrap();
    assert_eq!(muxer.poll(), None, "two tables, a clock reference and a packet of audio");
    muxer.push(VIDEO, &unit(&[1; 1000], at(10), at(10))).unwrap();
    let datagrams: Vec<_> = core::iter::from_fn(|| muxer.poll().map(<[u8]>::len)).collect();
    assert_eq!(datagrams, [DATAGRAM, 3 * PACKET]);

    let mut radio = Muxer::new(&[Stream::MpegAudio]);
    radio.push(0, &unit(&[1; 100], at(0), at(0))).unwrap();
    assert_eq!(radio.poll().map(<[u8]>::len), Some(3 * PACKET), "nothing else could release audio on its own");
}

#[test]
fn clock_and_tables_go_on_while_there_is_audio_alone_or_nothing() {
    let mut muxer = h264_and_aac();
    let mut sent = push(&mut muxer, VIDEO, unit(&[1; 100], at(0), at(0)));
    for millis in (20..3000).step_by(20) {
        sent.extend(push(&mut muxer, AUDIO, unit(&[1; 100], at(millis), at(millis))));
    }
    sent.extend(push(&mut muxer, VIDEO, unit(&[1; 100], at(5000), at(5000))));
    let count = |pid: u16| sent.iter().filter(|packet| packet.pid() == pid).count();
    assert_eq!((count(0), count(0x1000)), (51, 51));
    let references: Vec<_> = sent.iter().filter_map(Packet::pcr).collect();
    assert!(references.windows(2).all(|pair| pair[1].since(pair[0]) <= Ticks::from_90k(9000)));
    assert_eq!(references.last().unwrap().since(references[0]), Ticks::from_secs(5));

    let after_a_day = push(&mut muxer, VIDEO, unit(&[1; 100], at(86_400_000), at(86_400_000)));
    assert!(after_a_day.len() < 10);
}

#[test]
fn seek_leaves_clock_and_stamps_continuous() {
    let mut muxer = h264_and_aac();
    let mut sent = Vec::new();
    for start in [50_000, 2000, 700_000] {
        for n in 0..50 {
            let dts = start + 40 * n;
            sent.extend(push(&mut muxer, VIDEO, unit(&[1; 100], at(dts + 80), at(dts))));
            sent.extend(push(&mut muxer, AUDIO, unit(&[1; 100], at(dts + 20), at(dts + 20))));
        }
        muxer.discontinuity();
    }
    let judge = Judge::of(&sent);
    assert_eq!((judge.frames, judge.faults), (300, vec![]));
    assert!(sent.iter().all(|packet| !packet.has_discontinuity()));
    for stream in [VIDEO, AUDIO] {
        let times: Vec<_> = pes_of(&sent, stream).iter().map(|(header, _)| header.pts).collect();
        let longest = times.windows(2).map(|pair| pair[1].since(pair[0])).max();
        // A step of 40 ms, and 80 ms by which pictures are reordered; audio ends 60 ms before the pictures do.
        assert!(longest <= Some(Ticks::from_90k(180 * 90)), "{longest:?}");
    }
}

#[test]
fn clock_wraps_after_33_bits() {
    let mut muxer = h264_and_aac();
    let mut sent = push(&mut muxer, VIDEO, unit(&[1; 100], at(0), at(0)));
    for hour in 1..30 {
        sent.extend(push(&mut muxer, VIDEO, unit(&[1; 100], at(hour * 3_600_000), at(hour * 3_600_000))));
    }
    let times: Vec<_> = pes_of(&sent, VIDEO).iter().map(|(header, _)| header.pts).collect();
    assert!(times.windows(2).all(|pair| pair[1].since(pair[0]) == Ticks::from_secs(3600)));
    assert!(times.windows(2).any(|pair| pair[1].value() < pair[0].value()));
}

/// A unit: the index of its stream, its payload, the milliseconds since the unit before and to its presentation, and
/// whether a decoder can start there.
type Drawn = (usize, Vec<u8>, u64, u64, bool);

fn programs() -> impl Strategy<Value = (Vec<Stream>, Vec<Drawn>)> {
    let stream = prop::sample::select(vec![Stream::H264, Stream::MpegVideo, lc_48_khz_stereo(), Stream::MpegAudio]);
    prop::collection::vec(stream, 1..4).prop_flat_map(|streams| {
        let data = prop::collection::vec(any::<u8>(), 0..3000);
        let unit = (0..streams.len(), data, 1u64..300, 0u64..500, any::<bool>());
        (Just(streams), prop::collection::vec(unit, 1..40))
    })
}

proptest! {
    #[test]
    fn units_of_any_size_and_time_are_read_back(
        (streams, units) in programs(), first in 0u64..1 << 40, seeks in prop::collection::vec(0usize..40, 0..3),
    ) {
        let mut muxer = Muxer::new(&streams);
        let (mut sent, mut pushed, mut dts) = (Vec::new(), vec![Vec::new(); streams.len()], first);
        for (place, (stream, data, step, reordering, is_random_access)) in units.iter().enumerate() {
            dts += step;
            if seeks.contains(&place) {
                muxer.discontinuity();
                dts = first / (place as u64 + 1);
            }
            let unit = Unit { data, dts: at(dts), pts: at(dts + reordering), is_random_access: *is_random_access };
            prop_assert_eq!(muxer.push(*stream, &unit), Ok(()));
            sent.extend(drain(&mut muxer));
            pushed[*stream].push((data, *reordering));
        }
        muxer.flush();
        sent.extend(drain(&mut muxer));
        let faults = Judge::of(&sent).faults;
        prop_assert!(faults.iter().all(|fault| fault.starts_with("DTS")), "{faults:?}");
        for (index, pushed) in pushed.iter().enumerate() {
            let read = pes_of(&sent, index);
            prop_assert_eq!(read.len(), pushed.len());
            for ((header, payload), (data, reordering)) in read.iter().zip(pushed) {
                prop_assert!(payload.ends_with(data));
                let prefix = payload.len() - data.len();
                prop_assert!(matches!(prefix, 0 | 6 | 7));
                prop_assert_eq!(header.pts.since(header.decoding_time()), Ticks::from_90k(90 * reordering));
            }
            let times = read.iter().map(|(header, _)| header.decoding_time()).collect::<Vec<_>>();
            let are_later = times.windows(2).all(|pair| pair[1].since(pair[0]) < Ticks::from_secs(60));
            prop_assert!(are_later, "{:?}", times);
        }
    }

    #[test]
    fn any_times_in_any_order_leave_the_counters_whole(
        units in prop::collection::vec((0usize..2, any::<u64>(), any::<u64>()), 0..50),
    ) {
        let mut muxer = h264_and_aac();
        let mut sent = Vec::new();
        for (stream, pts, dts) in units {
            sent.extend(push(&mut muxer, stream, unit(&[1; 300], Span::from_nanos(pts), Span::from_nanos(dts))));
        }
        let faults = Judge::of(&sent).faults;
        prop_assert!(faults.iter().all(|fault| !fault.starts_with("counter")), "{faults:?}");
    }
}
