//! Videos made by hand after RFC 9559, with its numbers.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;

const HEADER: &[u8] = b"\x1a\x45\xdf\xa3";
const SEGMENT: &[u8] = b"\x18\x53\x80\x67";
const SEEK_HEAD: &[u8] = b"\x11\x4d\x9b\x74";
const INFO: &[u8] = b"\x15\x49\xa9\x66";
const TIMESTAMP_SCALE: &[u8] = b"\x2a\xd7\xb1";
const DURATION: &[u8] = b"\x44\x89";
const TRACKS: &[u8] = b"\x16\x54\xae\x6b";
const CLUSTER: &[u8] = b"\x1f\x43\xb6\x75";
const VOID: &[u8] = b"\xec";
const DOC_TYPE: &[u8] = b"\x42\x82";
/// Unknown sizes (RFC 8794 §6.2), in one byte and in eight.
const UNKNOWN: [&[u8]; 2] = [b"\xff", b"\x01\xff\xff\xff\xff\xff\xff\xff"];

/// An element with its size in 4 bytes: the marker is the fourth bit.
fn element(id: &[u8], body: &[u8]) -> Vec<u8> {
    [id, &(body.len() as u32 | 0x1000_0000).to_be_bytes(), body].concat()
}

fn header() -> Vec<u8> {
    element(HEADER, &element(DOC_TYPE, b"webm"))
}

fn video(segment: &[Vec<u8>]) -> Vec<u8> {
    [header(), element(SEGMENT, &segment.concat())].concat()
}

/// An Info of two seconds: milliseconds are the default.
fn info() -> Vec<u8> {
    element(INFO, &element(DURATION, &2000_f64.to_be_bytes()))
}

fn bps(video: &[u8]) -> Result<u64, String> {
    rate(&mut Cursor::new(video)).map(Rate::as_bps).map_err(|error| error.to_string())
}

#[test]
fn rate_is_bytes_over_duration_wherever_info_is() {
    let ours = video(&[info(), element(CLUSTER, &[0; 10])]);
    let cluster = vec![0; 10 + 10_000 - ours.len()];
    // 10 000 bytes in 2 s.
    assert_eq!(bps(&video(&[info(), element(CLUSTER, &cluster)])), Ok(40_000));
    let before = [element(SEEK_HEAD, &[0; 40]), element(VOID, &[0; 90]), element(TRACKS, &[0; 30])].concat();
    let late = video(&[before, info(), element(CLUSTER, &[0; 900])]);
    assert_eq!(bps(&late), Ok(late.len() as u64 * 4));
    let between = [header(), element(VOID, b""), element(SEGMENT, &info())].concat();
    assert_eq!(bps(&between), Ok(between.len() as u64 * 4));
}

#[test]
fn durations_of_4_or_8_bytes_are_scaled_by_timestamp_scale() {
    let seconds = |inside: &[Vec<u8>]| {
        let video = video(&[element(INFO, &inside.concat()), element(CLUSTER, &[0; 1000])]);
        bps(&video).map(|bps| video.len() as f64 * 8.0 / bps as f64)
    };
    let duration = |ticks: f32| element(DURATION, &ticks.to_be_bytes());
    let scale = |bytes: &[u8]| element(TIMESTAMP_SCALE, bytes);
    // A tick of 0x7a120 ns is half a millisecond.
    for inside in [
        vec![duration(4000.0)],
        vec![duration(8000.0), scale(&[0x07, 0xa1, 0x20])],
        vec![scale(&[0, 0, 0, 0, 0, 7, 0xa1, 0x20]), element(DURATION, &8000_f64.to_be_bytes())],
        // An empty element has its default.
        vec![scale(b""), duration(4000.0)],
    ] {
        let found = seconds(&inside).expect("a rate");
        assert!((found - 4.0).abs() < 0.01, "{found}");
    }
}

#[test]
fn segments_and_clusters_of_unknown_size_extend_to_the_end() {
    for unknown in UNKNOWN {
        let cluster = [CLUSTER, unknown, &[0; 500]].concat();
        let live = [&header()[..], SEGMENT, unknown, &info(), &cluster].concat();
        assert_eq!(bps(&live), Ok(live.len() as u64 * 4));
        // A recording of a browser: the length is unknown, and elements after the pictures are not searched for it.
        for info in [vec![], element(INFO, &element(TIMESTAMP_SCALE, &[1]))] {
            let live = [&header()[..], SEGMENT, unknown, &info, &cluster].concat();
            assert!(bps(&live).expect_err("no length").contains("not state its duration"));
        }
    }
}

#[test]
fn invalid_files_are_refused_in_one_line() {
    let error = |video: &[u8]| bps(video).expect_err("it is wrong");
    for other in [&b"\0\0\0\x0cftypisom"[..], b"RIFF....AVI LIST", b"x", &element(SEGMENT, &info())] {
        assert_eq!(error(other), "not a WebM or MKV file");
    }
    let silent = "it does not state its duration";
    assert_eq!((&*error(b""), &*error(&header())), (silent, silent));
    assert_eq!(error(&video(&[element(CLUSTER, &[0; 9]), info()])), silent);
    assert_eq!(error(&video(&[element(INFO, &element(DURATION, b""))])), silent);
    let at = header().len();
    let whole = video(&[info(), element(CLUSTER, &[0; 100])]);
    let endless = [&header()[..], INFO, UNKNOWN[0]].concat();
    for (refusal, words) in [
        (error(&whole[..whole.len() - 1]), ["element 0x18538067", "beyond the end"]),
        (error(&whole[..at + 2]), ["truncated or damaged", " at byte"]),
        (error(&whole[..at + 6]), ["element 0x18538067", "header"]),
        // No ID has five bytes, no size nine.
        (error(&[&header()[..], &[8; 20]].concat()), ["truncated or damaged", " at byte"]),
        (error(&endless), ["element 0x1549A966", "not state its length"]),
    ] {
        let place = format!("at byte {at}");
        assert!(
            words.iter().all(|word| refusal.contains(word)) && refusal.contains(&place),
            "{refusal}, not {words:?}"
        );
    }
    let odd = element(INFO, &element(DURATION, &[0; 5]));
    assert!(error(&video(&[odd])).ends_with(" is not a number"));
    for ticks in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300, 1e-300] {
        let video = video(&[element(INFO, &element(DURATION, &ticks.to_be_bytes()))]);
        assert!(error(&video).contains("duration is zero or infinite"), "{ticks}");
    }
    let many = video(&vec![element(VOID, b""); 2000]);
    assert!(error(&many).contains("1000 elements"));
}

/// Nested elements with any content, mostly of kinds that are read.
fn some_elements() -> impl Strategy<Value = Vec<u8>> {
    let id = prop::sample::select(vec![HEADER, SEGMENT, INFO, TIMESTAMP_SCALE, DURATION, CLUSTER, VOID]);
    let leaf = (id.clone(), prop::collection::vec(any::<u8>(), 0..10)).prop_map(|(id, body)| element(id, &body));
    let size =
        prop::sample::select(vec![None, Some(UNKNOWN[0]), Some(UNKNOWN[1]), Some(b"\x01\xff\xff\xff\xff\xff\xff\xfe")]);
    leaf.prop_recursive(3, 30, 6, move |inner| {
        (id.clone(), size.clone(), prop::collection::vec(inner, 0..6)).prop_map(|(id, size, inside)| match size {
            None => element(id, &inside.concat()),
            Some(size) => [id, size, &inside.concat()].concat(),
        })
    })
}

proptest! {
    #[test]
    fn any_bytes_have_a_rate_above_zero_or_a_one_line_error(
        elements in prop::collection::vec(some_elements(), 0..4), cut in any::<prop::sample::Index>(), anything: Vec<u8>
    ) {
        let mut video = [header(), elements.concat()].concat();
        for video in [&anything[..], &video.clone(), { video.truncate(cut.index(video.len() + 1)); &video }] {
            match bps(video) {
                Ok(rate) => prop_assert!(rate > 0),
                Err(line) => prop_assert_eq!(line.lines().count(), 1),
            }
        }
    }
}
