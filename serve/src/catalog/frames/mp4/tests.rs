//! Videos made by hand after ISO/IEC 14496-12, most of them wrong.

use std::io::Cursor;

use proptest::prelude::*;

use super::super::{Frame, Index, MIN_FRAME};
use crate::mp4::synthetic::{Tables, boxed, sample, words};
use thalweg_core::video::Kind;

fn index(video: &[u8]) -> Result<Index, String> {
    Index::read(&mut Cursor::new(video)).map_err(|error| error.to_string())
}

fn kinds(frames: &[Frame]) -> Vec<(u64, Kind, (u16, u16))> {
    frames.iter().map(|frame| (frame.decode as u64, frame.kind, frame.packets())).collect()
}

#[test]
fn frames_have_kinds_times_and_packets() {
    let frames = index(&Tables::new().video()).expect("a video").video.frames;
    let kinds = kinds(&frames);
    let expected = [(0, Kind::I), (40, Kind::P), (80, Kind::B), (120, Kind::B), (160, Kind::P)];
    assert_eq!(kinds, expected.map(|(time, kind)| (time, kind, (1, 1))));
    // Two NAL units of 1396 and 3000 bytes: with 1400 bytes a packet 1 and 3, with 1310 bytes 2 and 3 (RFC 6184 §5.8).
    let mut tables = Tables::new();
    tables.samples[1] = [&[0, 0, 5, 0x74, 0x41][..], &[0x9a; 1395], &[0, 0, 0xb, 0xb8, 0x41], &[0x9a; 2999]].concat();
    tables.stsz[4] = 1400 + 3004;
    assert_eq!(index(&tables.video()).expect("a video").video.frames[1].packets(), (4, 5));
}

#[test]
fn frames_lie_where_chunks_are() {
    // Three chunks of 2, 2 and 1 samples, stored in another order.
    let mut tables = Tables::new();
    (tables.stsc, tables.stco) = (vec![0, 2, 1, 2, 1, 3, 1, 1], vec![0, 33, 22]);
    let video = tables.video();
    let start = video.len() as u64 - 55;
    let frames = index(&video).expect("a video").video.frames;
    let offsets: Vec<_> = frames.iter().map(|frame| frame.offset - start).collect();
    assert_eq!(offsets, [0, 11, 33, 44, 22]);
}

#[test]
fn edit_list_shifts_times() {
    let edts =
        |entries: &[u32]| boxed("edts", &boxed("elst", &words(&[&[0, entries.len() as u32 / 3], entries].concat())));
    let mut tables = Tables::new();
    // 500 ticks without media, then the media from its second frame on.
    tables.edts = edts(&[500, u32::MAX, 1 << 16, 160, 40, 1 << 16]);
    let frames = index(&tables.video()).expect("a video").video.frames;
    assert_eq!(frames.iter().map(|frame| frame.decode).collect::<Vec<_>>(), [460, 500, 540, 580, 620]);
    // Of three frames that remain, the last begins at the end.
    tables.edts = edts(&[80, 40, 1 << 16]);
    let frames = index(&tables.video()).expect("a video").video.frames;
    assert_eq!(frames.iter().map(|frame| frame.decode).collect::<Vec<_>>(), [-40, 0, 40]);
    tables.edts = edts(&[80, 0, 1 << 16, 80, 120, 1 << 16]);
    assert!(index(&tables.video()).expect_err("two edits").contains("edit list has 2 parts"));
    tables.edts = edts(&[80, 0, 2 << 16]);
    assert!(index(&tables.video()).expect_err("twice as fast").contains("speed"));
}

#[test]
fn wrong_tables_are_refused_in_one_line() {
    let with = |change: &dyn Fn(&mut Tables)| {
        let mut tables = Tables::new();
        change(&mut tables);
        index(&tables.video()).expect_err("it is wrong")
    };
    let esds = |kind| boxed("esds", &[&[0; 4][..], &[3, 20, 0, 1, 0, 4, 15, kind]].concat());
    for (refusal, words) in [
        (with(&|tables| tables.stsz = vec![0, 0, u32::MAX, 11]), ["stsz", "truncated"]),
        (with(&|tables| tables.stsc[3] = 2), ["chunks have fewer samples", "2"]),
        (with(&|tables| tables.stsz = vec![0, 1000, u32::MAX]), ["beyond the end of the file", "at byte"]),
        (with(&|tables| tables.stsz[1] = 1), ["frame at byte", "ends within the length"]),
        (with(&|tables| tables.stts = vec![0, 1, 4, 40]), ["stts", "5"]),
        (with(&|tables| tables.stsc = vec![0, 2, 1, 1, 1, 1, 1, 1]), ["stsc", "order"]),
        (with(&|tables| tables.stsc[4] = 2), ["more than one", "description"]),
        (with(&|tables| tables.stco = vec![u32::MAX]), ["beyond the end of the file", "byte 4294967295"]),
        (with(&|tables| tables.stco = vec![10]), ["beyond the end of the file", "at byte"]),
        (with(&|tables| tables.samples[0][3] = 8), ["NAL unit", "beyond its end"]),
        (with(&|tables| tables.entry = boxed("hvc1", &[0; 78])), ["H.265 (hvc1) is not supported over RTSP", "avc1"]),
        (with(&|tables| tables.entry = boxed("avc1", &[0; 78])), ["avcC", "H.264"]),
        (with(&|tables| tables.entry = boxed("avc1", &[0; 70])), ["avc1", "truncated"]),
        (
            with(&|tables| tables.entry = boxed("mp4a", &[vec![0; 28], esds(0x6b)].concat())),
            ["MPEG audio in MP4", "over RTSP"],
        ),
        (with(&|tables| tables.samples.clear()), ["beyond the end of the file", "at byte"]),
        (with(&|tables| tables.stsz = vec![0, 0, 5, 0, 0, 0, 0, 0]), ["track", "without frames"]),
    ] {
        assert!(
            words.iter().all(|word| refusal.contains(word)) && refusal.lines().count() == 1,
            "{refusal}, not {words:?}"
        );
    }
}

/// Nested boxes with any content, of types that are read.
fn some_boxes() -> impl Strategy<Value = Vec<u8>> {
    let kinds = [
        "moov", "mvhd", "mvex", "trex", "trak", "tkhd", "mdia", "mdhd", "hdlr", "minf", "stbl", "stsd", "avc1", "avcC",
        "mp4a", "esds", "edts", "elst", "stts", "ctts", "stss", "stsc", "stsz", "stz2", "stco", "co64", "moof", "traf",
        "tfhd", "tfdt", "trun", "mdat",
    ];
    let kind = prop::sample::select(kinds.to_vec());
    let leaf = (kind.clone(), prop::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..60));
    leaf.prop_map(|(kind, body)| boxed(kind, &body)).prop_recursive(5, 40, 6, move |inner| {
        (kind.clone(), prop::collection::vec(inner, 0..6)).prop_map(|(kind, inside)| boxed(kind, &inside.concat()))
    })
}

/// A fragment of track 1 with any fields.
fn some_fragment() -> impl Strategy<Value = Vec<u8>> {
    let numbers = || prop::collection::vec(prop_oneof![Just(0), Just(1), 0..2000_u32, any::<u32>()], 0..12);
    (numbers(), numbers(), any::<u8>(), any::<u8>()).prop_map(|(header, run, of_header, of_run)| {
        let tfhd = [words(&[u32::from(of_header), 1]), words(&header)].concat();
        let trun = [words(&[u32::from(of_run) << 4 | 1]), words(&run)].concat();
        boxed("moof", &boxed("traf", &[boxed("tfhd", &tfhd), boxed("trun", &trun)].concat()))
    })
}

fn check(video: &[u8]) -> Result<(), TestCaseError> {
    match index(video) {
        Ok(index) => {
            let frames = &index.video.frames;
            prop_assert!(!frames.is_empty() && frames.len() as u64 <= video.len() as u64 / MIN_FRAME);
            prop_assert!(frames.iter().all(|frame| frame.offset + u64::from(frame.size) <= video.len() as u64));
            prop_assert!(frames.is_sorted_by_key(|frame| frame.decode));
            prop_assert!(frames.iter().all(|frame| frame.display() >= frame.decode));
        }
        Err(line) => prop_assert_eq!(line.lines().count(), 1),
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_boxes_give_frames_inside_the_file_or_a_line(
        boxes in prop::collection::vec(some_boxes(), 0..4), cut in any::<prop::sample::Index>(), anything: Vec<u8>
    ) {
        let mut video = [boxed("ftyp", b"isom"), boxes.concat()].concat();
        check(&anything)?;
        check(&video)?;
        video.truncate(cut.index(video.len() + 1));
        check(&video)?;
    }

    #[test]
    fn any_tables_and_fragments_give_frames_inside_the_file_or_a_line(
        tables in prop::collection::vec(prop::collection::vec(prop_oneof![0..12_u32, any::<u32>()], 0..10), 5),
        fragments in prop::collection::vec(some_fragment(), 0..3), changed in any::<prop::sample::Index>(), byte: u8
    ) {
        let mut video = Tables::new();
        // One table at a time, since two wrong ones hide each other.
        let change = [&mut video.stts, &mut video.stss, &mut video.stsc, &mut video.stsz, &mut video.stco];
        let place = changed.index(change.len());
        change.into_iter().nth(place).expect("a table").clone_from(&tables[place]);
        let bytes = video.video();
        check(&bytes)?;
        check(&[bytes, fragments.concat()].concat())?;
        let mut bytes = Tables::new().video();
        let at = changed.index(bytes.len());
        bytes[at] = byte;
        check(&bytes)?;
    }
}

#[test]
fn sample_of_two_fields_is_disposable_only_if_both_are() {
    let mut tables = Tables::new();
    tables.samples[2] = [sample(0x01, 6), sample(0x21, 6)].concat();
    tables.stsz[5] = 22;
    assert_eq!(index(&tables.video()).expect("a video").video.frames[2].kind, Kind::P);
}
