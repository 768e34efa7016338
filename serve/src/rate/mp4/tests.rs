//! Videos made by hand after ISO/IEC 14496-12.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::mp4::synthetic::{boxed, words};

fn mvhd(timescale: u32, duration: u32) -> Vec<u8> {
    boxed("mvhd", &words(&[0, 0, 0, timescale, duration]))
}

fn bps(video: &[u8]) -> Result<u64, String> {
    rate(&mut Cursor::new(video)).map(Rate::as_bps).map_err(|error| error.to_string())
}

/// A fragmented video of 90000 ticks a second, with `mvex` and samples of 3000 ticks.
fn fragmented(mvex: &[u8], rest: &[Vec<u8>]) -> Vec<u8> {
    let tkhd = boxed("tkhd", &words(&[0, 0, 0, 7]));
    let mdia = boxed("mdia", &boxed("mdhd", &words(&[0, 0, 0, 90_000, 0])));
    let trex = boxed("trex", &words(&[0, 7, 1, 3000, 0, 0]));
    let mvex = boxed("mvex", &[mvex, &trex].concat());
    let moov = boxed("moov", &[mvhd(1000, 0), boxed("trak", &[tkhd, mdia].concat()), mvex].concat());
    [boxed("ftyp", b"iso5"), moov, rest.concat()].concat()
}

/// A fragment of track 7.
fn moof(start: u32, trun: &[u32]) -> Vec<u8> {
    let inside =
        [boxed("tfhd", &words(&[0x02_0000, 7])), boxed("tfdt", &words(&[0, start])), boxed("trun", &words(trun))];
    boxed("moof", &boxed("traf", &inside.concat()))
}

#[test]
fn rate_is_bytes_over_duration_wherever_moov_is() {
    let (ftyp, moov) = (boxed("ftyp", b"isom"), boxed("moov", &mvhd(600, 1200)));
    let mdat = boxed("mdat", &vec![0; 10_000 - ftyp.len() - moov.len() - 8]);
    for video in [[&ftyp[..], &moov, &mdat].concat(), [&ftyp[..], &mdat, &moov].concat()] {
        // 10 000 bytes in 2 s.
        assert_eq!(bps(&video), Ok(40_000));
    }
    // Version 1 has 64 bits; a box may also have a size of 64 bits, or extend to the end.
    let body = [&words(&[1 << 24])[..], &[0; 16], &words(&[600]), &1200_u64.to_be_bytes()].concat();
    let moov = boxed("moov", &boxed("mvhd", &body));
    let wide = [&[0, 0, 0, 1][..], b"free", &24_u64.to_be_bytes(), &[0; 8]].concat();
    let video = [&ftyp[..], &moov, &wide, &[0; 4], b"mdat", &[0; 900]].concat();
    assert_eq!(bps(&video), Ok(video.len() as u64 * 4));
}

/// A video with a sample of the given bytes in each second, and a track of sound whose samples are all alike.
fn uneven(seconds: &[u32]) -> Vec<u8> {
    let track = |sizes: &[u32]| {
        let stts = boxed("stts", &words(&[0, 1, seconds.len() as u32, 1000]));
        let stbl = boxed("stbl", &[stts, boxed("stsz", &words(sizes))].concat());
        let mdhd = boxed("mdhd", &words(&[0, 0, 0, 1000, 0]));
        boxed("trak", &boxed("mdia", &[mdhd, boxed("minf", &stbl)].concat()))
    };
    let pictures = track(&[&[0, 0, seconds.len() as u32], seconds].concat());
    let sound = track(&[0, 500, seconds.len() as u32]);
    let moov = boxed("moov", &[mvhd(1, seconds.len() as u32), pictures, sound].concat());
    let mdat = boxed("mdat", &vec![0; seconds.iter().sum::<u32>() as usize]);
    [boxed("ftyp", b"isom"), moov, mdat].concat()
}

#[test]
fn video_dense_for_long_needs_more_than_its_mean_rate() {
    // As long as the data that a player is ahead covers it, the mean suffices, however dense.
    let short = uneven(&[&[100_000][..], &[10_000; 99]].concat());
    assert_eq!(bps(&short), Ok(short.len() as u64 * 8 / 100));
    // 30 s of 100 kB, wherever they are: 40 s at the rate must cover 30 s of these, with the bytes that lie evenly.
    for begin in [0, 20, 70] {
        let mut seconds = [10_000; 100];
        seconds[begin..begin + 30].fill(100_000);
        let video = uneven(&seconds);
        let even = (video.len() as u64 - 3_700_000) / 100;
        let needed = (30 * (100_000 + even)).div_ceil(40);
        assert_eq!(bps(&video), Ok(needed * 8));
    }
}

#[test]
fn unaccounted_bytes_are_spread_evenly_over_the_video() {
    let mut video = uneven(&[10_000; 100]);
    // The table of the pictures' times covers a second only: the positions of the others are unknown.
    let stts = video.windows(4).position(|kind| kind == b"stts").expect("a table");
    video[stts + 12..stts + 16].copy_from_slice(&1_u32.to_be_bytes());
    assert_eq!(bps(&video), Ok(video.len() as u64 * 8 / 100));
    // A track that cannot be read has no profile, and those of the others do not cover it.
    let stsz = video.windows(4).rposition(|kind| kind == b"stsz").expect("a table");
    video[stsz + 8..stsz + 12].copy_from_slice(&0_u32.to_be_bytes());
    assert_eq!(bps(&video), Ok(video.len() as u64 * 8 / 100));
}

#[test]
fn video_with_contradicting_tables_has_its_mean_rate() {
    let mut video = uneven(&[100_000; 30]);
    video.truncate(video.len() - 3_000_000);
    let moov = video.len() - 8;
    video[moov..moov + 4].copy_from_slice(&8_u32.to_be_bytes());
    assert_eq!(bps(&video), Ok(video.len() as u64 * 8 / 30));
}

#[test]
fn fragmented_duration_is_from_mehd_sidx_or_the_last_fragment() {
    let mehd = boxed("mehd", &words(&[0, 4000]));
    let video = fragmented(&mehd, &[]);
    assert_eq!(bps(&video), Ok(video.len() as u64 * 2));

    // Two subsegments of 1 and 3 s that extend to the end.
    let sidx = |bytes: u32| {
        let table = [bytes, 90_000, 0, bytes, 270_000, 0];
        boxed("sidx", &[words(&[0, 7, 90_000, 0, 0, 2]), words(&table)].concat())
    };
    let video = fragmented(&[], &[sidx(50), boxed("free", &[0; 92])]);
    assert_eq!(bps(&video), Ok(video.len() as u64 * 2));

    // The last fragment begins at 3.9 s and has 3 samples of 3000 ticks; 0.1 s.
    let fragments = [moof(0, &[0, 117]), moof(351_000, &[0, 3])];
    // An index of one fragment alone is not that of the video.
    let video = fragmented(&[], &[vec![sidx(10)], fragments.to_vec()].concat());
    assert_eq!(bps(&video), Ok(video.len() as u64 * 2));
    // Samples with durations of their own, beside sizes.
    let video = fragmented(&[], &[moof(90_000, &[0x300, 2, 90_000, 5, 270_000, 5])]);
    assert_eq!(bps(&video), Ok(video.len() as u64 * 2));
}

#[test]
fn invalid_files_are_refused_in_one_line() {
    let ftyp = boxed("ftyp", b"isom");
    let with = |rest: &[u8]| bps(&[&ftyp[..], rest].concat()).expect_err("it is wrong");
    let whole = |video: &[u8]| bps(video).expect_err("it is wrong");
    let many = boxed("trun", &words(&[0x100, u32::MAX, 1]));
    for (refusal, words) in [
        (whole(b""), ["moov", "incomplete"]),
        (with(&boxed("mdat", b"...")), ["moov", "incomplete"]),
        (whole(b"RIFF....AVI LIST"), ["not", "MP4"]),
        (whole(&boxed("abcd", b"")), ["not", "MP4"]),
        (with(&[0, 0]), ["the file is incomplete; copy it again (truncated at byte 12", "header"]),
        (with(&words(&[7, 0x6d64_6174])), ["mdat at byte 12", "shorter"]),
        (
            with(&words(&[9, 0x6d64_6174])),
            ["the file is incomplete; copy it again (box mdat at byte 12", "beyond the end)"],
        ),
        (with(&boxed("moov", &boxed("mvhd", &[0; 9]))), ["mvhd", "truncated"]),
        (with(&boxed("moov", &mvhd(1000, 0))), ["not state", "duration"]),
        (with(&boxed("moov", &mvhd(0, 5))), ["duration", "zero"]),
        (whole(&fragmented(&[], &[])), ["not state", "duration"]),
        (whole(&fragmented(&[], &[boxed("moof", &boxed("traf", &many))])), ["trun", "truncated"]),
    ] {
        assert!(
            words.iter().all(|word| refusal.contains(word)) && refusal.lines().count() == 1,
            "{refusal}, not {words:?}"
        );
    }
}

/// Nested boxes with any content, mostly of types that are read.
fn some_boxes() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop::sample::select(
        &[
            "moov", "mvhd", "mvex", "mehd", "trex", "trak", "tkhd", "mdia", "mdhd", "sidx", "moof", "traf", "tfhd",
            "tfdt", "trun", "mdat", "minf", "stbl", "stts", "stsz",
        ][..],
    );
    let leaf = (kind.clone(), prop::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..60));
    leaf.prop_map(|(kind, body)| boxed(kind, &body)).prop_recursive(5, 40, 6, move |inner| {
        (kind.clone(), prop::collection::vec(inner, 0..6)).prop_map(|(kind, inside)| boxed(kind, &inside.concat()))
    })
}

proptest! {
    #[test]
    fn any_bytes_have_a_rate_above_zero_or_a_one_line_error(
        boxes in prop::collection::vec(some_boxes(), 0..4), cut in any::<prop::sample::Index>(), anything: Vec<u8>
    ) {
        let mut video = [boxed("ftyp", b"isom"), boxes.concat()].concat();
        for video in [&anything[..], &video.clone(), { video.truncate(cut.index(video.len() + 1)); &video }] {
            match bps(video) {
                Ok(rate) => prop_assert!(rate > 0),
                Err(line) => prop_assert_eq!(line.lines().count(), 1),
            }
        }
    }
}
