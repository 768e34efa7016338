//! The index of frames beside ffprobe, frame by frame. ffmpeg makes the videos.

use std::fs::File;
use std::path::{Path, PathBuf};

use thalweg_serve::catalog::frames::{Codec, Index, Kind, Track};

use crate::catalog::{folder, output};

/// A packet by ffprobe.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Packet {
    pts: i64,
    dts: i64,
    size: u32,
    /// The position in the file.
    pos: u64,
    is_key: bool,
}

impl Packet {
    /// All packets of the first stream of a type, `v` or `a`.
    fn all(file: &Path, stream: &str) -> Option<Vec<Packet>> {
        let words =
            format!("-v error -select_streams {stream}:0 -show_entries packet=pts,dts,size,pos,flags -of compact=p=0");
        let lines = output("ffprobe", &words, file)?;
        let parse = |line: &str| {
            let field = |name: &str| line.split('|').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
            let number = |name| field(name).and_then(|value| value.parse().ok());
            Packet {
                pts: number("pts").expect("a time"),
                dts: number("dts").expect("a time"),
                size: number("size").expect("a size") as u32,
                pos: number("pos").expect("a position") as u64,
                is_key: field("flags").expect("flags").starts_with('K'),
            }
        };
        Some(lines.lines().filter(|line| !line.is_empty()).map(parse).collect())
    }
}

/// The pictures by their display time, each I, P or B by ffprobe.
fn pictures(file: &Path) -> Option<Vec<(i64, String)>> {
    let words = "-v error -select_streams v:0 -show_entries frame=pts,pict_type -of csv=p=0";
    let lines = output("ffprobe", words, file)?;
    let parse = |line: &str| {
        let (pts, kind) = line.split_once(',').expect("two fields");
        (pts.parse().expect("a time"), kind.trim_end_matches(',').to_owned())
    };
    Some(lines.lines().filter(|line| !line.is_empty()).map(parse).collect())
}

fn index(file: &Path) -> Index {
    Index::read(&mut File::open(file).expect("a file")).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// Makes a video of `seconds` with pictures and a tone; none if ffmpeg is not installed.
fn make(name: &str, seconds: u32, how: &str) -> Option<PathBuf> {
    let path = folder(name, &[("made.txt", b"by ffmpeg")]).join(name);
    let words = format!(
        "-v error -f lavfi -i testsrc=size=320x180:rate=25:duration={seconds} -f lavfi -i \
         sine=frequency=440:sample_rate=48000:duration={seconds} {how}"
    );
    match output("ffmpeg", &words, &path) {
        Some(_) => Some(path),
        None => {
            println!("skipped: ffmpeg does not run here");
            None
        }
    }
}

/// Compares the tracks of a file with ffprobe's packets, and returns them.
fn compare(file: &Path) -> Option<Index> {
    let index = index(file);
    assert_eq!(packets(&index.video), Packet::all(file, "v")?, "{}: video", file.display());
    if let Some(audio) = &index.audio {
        assert_eq!(packets(audio), Packet::all(file, "a")?, "{}: audio", file.display());
    }
    Some(index)
}

fn packets(track: &Track) -> Vec<Packet> {
    let packet = |frame: &thalweg_serve::catalog::frames::Frame| Packet {
        pts: frame.display(),
        dts: frame.decode,
        size: frame.size,
        pos: frame.offset,
        is_key: frame.is_random_access(),
    };
    track.frames.iter().map(packet).collect()
}

/// Compares the B pictures with ffprobe's: the same ones, where no B is a reference.
fn compare_b_pictures(file: &Path, track: &Track) -> Option<usize> {
    let mut ours: Vec<_> = track.frames.iter().map(|frame| (frame.display(), frame.kind == Kind::B)).collect();
    ours.sort_unstable();
    let theirs: Vec<_> = pictures(file)?.into_iter().map(|(pts, kind)| (pts, kind == "B")).collect();
    assert_eq!(ours, theirs, "{}", file.display());
    Some(ours.iter().filter(|(_, is_b)| *is_b).count())
}

const X264: &str = "-c:v libx264 -preset veryfast -pix_fmt yuv420p -g 50 -c:a aac";

#[test]
fn mp4_with_b_frames_has_the_packets_of_ffprobe() {
    let how = format!("{X264} -bf 2 -x264-params b-pyramid=none:slices=3");
    let Some(file) = make("b.mp4", 8, &how) else { return };
    let Some(index) = compare(&file) else { return println!("skipped: ffprobe does not run here") };
    assert!(compare_b_pictures(&file, &index.video).is_none_or(|count| count > 50));
    let audio = index.audio.expect("a tone");
    assert_eq!((index.video.clock, audio.clock), (90_000, 48_000));
    let Codec::H264 { sps, pps } = &index.video.codec else { panic!("{:?}", index.video.codec) };
    assert_eq!((sps.len(), sps[0][0] & 0x1f, pps.len(), pps[0][0] & 0x1f), (1, 7, 1, 8));
    assert!(matches!(&audio.codec, Codec::Aac { channels: 1, config } if config.len() >= 2));
}

#[test]
fn mp4_without_b_frames_or_fragmented_has_the_packets_of_ffprobe() {
    for (name, how) in [
        ("p.mp4", "-bf 0 -movflags +faststart"),
        ("fragments.mp4", "-bf 2 -movflags frag_keyframe+empty_moov+default_base_moof"),
        ("fragments-old.mp4", "-bf 2 -movflags frag_keyframe -frag_duration 500000"),
        ("negative.mp4", "-bf 2 -movflags negative_cts_offsets"),
        ("track.mov", "-bf 2"),
    ] {
        let Some(file) = make(name, 6, &format!("{X264} {how}")) else { return };
        if compare(&file).is_none() {
            return println!("skipped: ffprobe does not run here");
        }
    }
}
