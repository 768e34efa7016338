//! Transport streams made by hand, many of them wrong.

use std::io::Cursor;

use proptest::prelude::*;
use thalweg_core::video::Kind;

use super::super::{Index, MIN_FRAME};
use super::synthetic::{ADTS, AUDIO, H264, MPEG_AUDIO, MPEG2, Muxer, VIDEO};

fn index(video: &[u8]) -> Result<Index, String> {
    Index::read(&mut Cursor::new(video)).map_err(|error| error.to_string())
}

/// A picture of MPEG video: headers if it begins a group, `picture_coding_type`, and a slice.
fn picture(kind: u8, begins_group: bool) -> Vec<u8> {
    let sequence: &[u8] = if begins_group { &[0, 0, 1, 0xb3, 20, 0, 0xf0, 0x13, 0, 0, 1, 0xb8, 0, 8, 0] } else { &[] };
    [sequence, &[0, 0, 1, 0, 0, kind << 3, 0xff, 0xf8], &[0, 0, 1, 1], &[0x77; 300]].concat()
}

/// Extends a picture of MPEG-2 by its structure: 1 and 2 are fields, 3 is a frame (ISO/IEC 13818-2 Table 6-14).
fn structured(structure: u8, picture: &[u8]) -> Vec<u8> {
    let slice = picture.len() - 304;
    [&picture[..slice], &[0, 0, 1, 0xb5, 0x8f, 0xff, 0xf0 | structure, 0x80, 0], &picture[slice..]].concat()
}

#[test]
fn mpeg_pictures_have_kinds_times_and_places() {
    let mut muxer = Muxer::new(MPEG2, MPEG_AUDIO);
    let start = muxer.bytes.len() as u64;
    let pictures = [picture(1, true), picture(2, false), picture(3, false), picture(1, false)];
    let times = [(13_600, 10_000), (24_400, 13_600), (17_200, 17_200), (28_000, 20_800)];
    pictures.iter().zip(times).for_each(|(picture, times)| muxer.pes(VIDEO, Some(times), picture));
    let index = index(&muxer.bytes).expect("a video");
    let frames = &index.video.frames;
    // Two packets each. Times are from the first one displayed on; the last I has no header of a sequence.
    assert_eq!(frames.iter().map(|frame| frame.offset - start).collect::<Vec<_>>(), [0, 376, 752, 1128]);
    let expected = [(-3600, 0, Kind::I), (0, 10_800, Kind::P), (3600, 3600, Kind::B), (7200, 14_400, Kind::P)];
    assert_eq!(frames.iter().map(|frame| (frame.decode, frame.display(), frame.kind)).collect::<Vec<_>>(), expected);
    assert_eq!(frames.iter().map(|frame| frame.size as usize).collect::<Vec<_>>(), pictures.map(|one| one.len()));
    assert_eq!((index.audio, index.video.last), (None, 3600));
}

#[test]
fn two_fields_are_one_frame_and_two_frames_in_a_pes_packet_are_refused() {
    let fields = [structured(1, &picture(1, true)), structured(2, &picture(2, false))].concat();
    let mut muxer = Muxer::new(MPEG2, ADTS);
    muxer.pes(VIDEO, Some((3600, 3600)), &fields);
    let frames = index(&muxer.bytes).expect("a video").video.frames;
    assert_eq!((frames.len(), frames[0].size as usize, frames[0].kind), (1, fields.len(), Kind::I));
    for second in [picture(2, false), structured(3, &picture(2, false))] {
        let mut muxer = Muxer::new(MPEG2, ADTS);
        muxer.pes(VIDEO, Some((3600, 3600)), &[picture(1, true), second].concat());
        assert!(index(&muxer.bytes).expect_err("no time").contains("has no time stamp"));
    }
}

#[test]
fn time_stamps_wrap_and_do_not_go_back() {
    let of = |times: &[u64]| {
        let mut muxer = Muxer::new(MPEG2, ADTS);
        times.iter().for_each(|&time| muxer.pes(VIDEO, Some((time, time)), &picture(1, true)));
        index(&muxer.bytes)
    };
    let wrapped = of(&[(1 << 33) - 3600, 0, 3600]).expect("a video").video.frames;
    assert_eq!(wrapped.iter().map(|frame| frame.decode).collect::<Vec<_>>(), [0, 3600, 7200]);
    let refusal = of(&[90_000, 93_600, 0]).expect_err("two videos");
    assert!(refusal.contains("go back at byte 1128") && refusal.lines().count() == 1, "{refusal}");
}

#[test]
fn audio_frames_share_a_pes_packet_and_cross_from_one_to_the_next() {
    // Layer II, 32 kb/s at 48 kHz: 96 bytes and 2160 ticks each (ISO/IEC 11172-3 §2.4.3.1).
    let frame = [&[0xff, 0xfd, 0x14, 0xc0][..], &[0x11; 92]].concat();
    let sound = frame.repeat(5);
    let mut muxer = Muxer::new(MPEG2, MPEG_AUDIO);
    muxer.pes(VIDEO, Some((9000, 9000)), &picture(1, true));
    let start = muxer.bytes.len() as u64;
    muxer.pes(AUDIO, Some((9000, 9000)), &sound[..200]);
    muxer.pes(AUDIO, Some((9000 + 3 * 2160, 9000 + 3 * 2160)), &sound[200..]);
    let frames = index(&muxer.bytes).expect("a video").audio.expect("audio").frames;
    assert_eq!(frames.iter().map(|frame| frame.decode).collect::<Vec<_>>(), [0, 2160, 4320, 6480, 8640]);
    // 165 bytes are in the first packet, beside a header of 19; 35 in the second, and 165 in the third.
    let places: Vec<_> = frames.iter().map(|frame| (frame.offset - start, frame.skip, frame.size)).collect();
    assert_eq!(places, [(0, 0, 96), (0, 96, 96), (188, 27, 96), (376, 88, 96), (564, 19, 96)]);
}

#[test]
fn wrong_streams_are_refused_in_one_line() {
    let with = |video, audio, fill: &dyn Fn(&mut Muxer)| {
        let mut muxer = Muxer::new(video, audio);
        fill(&mut muxer);
        index(&muxer.bytes).expect_err("it is wrong")
    };
    let idr = [0, 0, 0, 1, 0x65, 0x88, 0x55];
    let adts = |channels: u8| [0xff, 0xf1, 0x4c, channels << 6, 1, 0, 0xfc, 0x55];
    let cut = Muxer::new(H264, ADTS).bytes[..188].to_vec();
    for (refusal, words) in [
        (index(&cut).expect_err("no map"), ["without a program", "PMT"]),
        (with(0x24, ADTS, &|_| {}), ["H.265 is not supported over RTSP", "H.264"]),
        (with(H264, 0x81, &|_| {}), ["AC-3 is not supported over RTSP", "AAC"]),
        (with(ADTS, ADTS, &|_| {}), ["no video", "audio"]),
        (with(H264, ADTS, &|_| {}), ["without parameter sets", "H.264"]),
        (with(MPEG2, ADTS, &|_| {}), ["without a picture", "stream"]),
        (with(H264, ADTS, &|muxer| muxer.pes(VIDEO, None, &idr)), ["byte 376", "no time stamp"]),
        (with(MPEG2, ADTS, &|muxer| muxer.pes(VIDEO, None, &picture(1, true))), ["byte 376", "no time stamp"]),
        (with(MPEG2, ADTS, &|muxer| muxer.pes(VIDEO, Some((0, 0)), &picture(4, true))), ["D pictures", "over RTSP"]),
        (
            with(MPEG2, ADTS, &|muxer| muxer.pes(AUDIO, Some((0, 0)), &[adts(1), adts(2)].concat())),
            ["channels", "midway"],
        ),
        (
            with(MPEG2, ADTS, &|muxer| {
                muxer.section(2, 0x20, &[0xe1, 0, 0xf0, 0, H264, 0xe1, 7, 0xf0, 0]);
            }),
            ["streams of its program", "midway"],
        ),
        (
            with(MPEG2, ADTS, &|muxer| {
                muxer.pes(VIDEO, Some((0, 0)), &picture(1, true));
                muxer.bytes[379] |= 0xc0;
            }),
            ["encrypted", "0x100"],
        ),
    ] {
        assert!(
            words.iter().all(|word| refusal.contains(word)) && refusal.lines().count() == 1,
            "{refusal}, not {words:?}"
        );
    }
}

/// Bytes of elementary streams: start codes, headers and others.
fn some_payload() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|code| vec![0, 0, 1, code]),
        prop::sample::select(vec![0x65, 0x41, 0x01, 0x67, 0x68, 0x06, 0x09])
            .prop_map(|nal| vec![0, 0, 0, 1, nal, 0x88]),
        Just(vec![0xff, 0xf1, 0x4c, 0x80, 1, 0x40, 0xfc]),
        Just(vec![0xff, 0xfd, 0x14, 0xc0]),
        prop::collection::vec(any::<u8>(), 0..80),
        (1..4_u8, any::<bool>()).prop_map(|(kind, begins)| picture(kind, begins)),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn check(video: &[u8]) -> Result<(), TestCaseError> {
    match index(video) {
        Ok(index) => {
            for track in [Some(&index.video), index.audio.as_ref()].into_iter().flatten() {
                prop_assert!(!track.frames.is_empty() && track.frames.len() as u64 <= video.len() as u64 / MIN_FRAME);
                prop_assert!(track.frames.is_sorted_by_key(|frame| frame.decode));
                prop_assert!(
                    track.frames.iter().all(|frame| frame.offset + 188 <= video.len() as u64 && frame.skip < 184)
                );
                let bytes: u64 = track.frames.iter().map(|frame| u64::from(frame.size)).sum();
                prop_assert!(bytes <= video.len() as u64);
            }
        }
        Err(line) => prop_assert_eq!(line.lines().count(), 1),
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_streams_give_frames_inside_the_file_or_a_line(
        kinds in (prop_oneof![Just(H264), Just(MPEG2)], prop_oneof![Just(ADTS), Just(MPEG_AUDIO)]),
        units in prop::collection::vec((any::<bool>(), prop::option::of((0..9_u64, 0..9_u64)), some_payload()), 0..12),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut muxer = Muxer::new(kinds.0, kinds.1);
        for (is_video, times, payload) in units {
            muxer.pes(if is_video { VIDEO } else { AUDIO }, times, &payload);
        }
        let mut bytes = muxer.bytes;
        check(&bytes)?;
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(&bytes)?;
        bytes.truncate(cut.index(bytes.len()));
        check(&bytes)?;
    }
}
