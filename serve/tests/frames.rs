//! The index of frames beside ffprobe, frame by frame. ffmpeg makes the videos.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ring::digest::{SHA256, digest};
use thalweg_serve::catalog::frames::{Codec, Frame, Index, Kind, Track};

use crate::catalog::{folder, output};

/// A packet by ffprobe.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Packet {
    pts: i64,
    dts: i64,
    size: u32,
    /// The position in the file, if ffprobe reports it.
    pos: Option<u64>,
    is_key: bool,
    /// SHA-256 of its bytes.
    hash: String,
}

impl Packet {
    /// All packets of the first stream of a type, `v` or `a`.
    fn all(file: &Path, stream: &str) -> Option<Vec<Packet>> {
        let words = format!(
            "-v error -select_streams {stream}:0 -show_entries packet=pts,dts,size,pos,flags,data_hash \
             -show_data_hash SHA256 -of compact=p=0"
        );
        let lines = output("ffprobe", &words, file)?;
        let parse = |line: &str| {
            let field = |name: &str| line.split('|').find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
            let number = |name| field(name).and_then(|value| value.parse().ok());
            Packet {
                pts: number("pts").expect("a time"),
                dts: number("dts").expect("a time"),
                size: number("size").expect("a size") as u32,
                pos: number("pos").map(|pos: i64| pos as u64),
                is_key: field("flags").expect("flags").starts_with('K'),
                hash: field("data_hash").and_then(|hash| hash.strip_prefix("SHA256:")).expect("a hash").to_owned(),
            }
        };
        // A packet with data beside it takes two lines, the first of which ends with a bar, and the second begins so.
        let lines = lines.replace("|\n|", "|");
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
    assert_eq!(packets(file, &index.video), Packet::all(file, "v")?, "{}: video", file.display());
    if let Some(audio) = &index.audio {
        assert_eq!(packets(file, audio), Packet::all(file, "a")?, "{}: audio", file.display());
    }
    Some(index)
}

/// The frames of a track, with the bytes that are fetched.
fn packets(file: &Path, track: &Track) -> Vec<Packet> {
    let (file, mut bytes) = (File::open(file).expect("a file"), Vec::new());
    let mut packet = |frame: &Frame| {
        track.fetch(&file, frame, &mut bytes).expect("a frame");
        let packets = [1400, 1310].map(|max| track.stored(&bytes).packetize(max).expect("a frame").count());
        let (least, most) = frame.packets();
        assert_eq!(packets, [least.into(), most.into()], "{frame:?}");
        Packet {
            pts: frame.display(),
            dts: frame.decode,
            size: frame.size,
            pos: Some(frame.offset),
            is_key: frame.is_random_access(),
            hash: digest(&SHA256, &bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect(),
        }
    };
    track.frames.iter().map(&mut packet).collect()
}

/// Compares the B pictures with ffprobe's: the same ones, where no B is a reference.
fn compare_b_pictures(file: &Path, track: &Track) -> Option<usize> {
    let mut ours: Vec<_> = track.frames.iter().map(|frame| (frame.display(), frame.kind == Kind::B)).collect();
    ours.sort_unstable();
    let theirs = pictures(file)?;
    let shift = ours.first()?.0 - theirs.first()?.0;
    let theirs: Vec<_> = theirs.into_iter().map(|(pts, kind)| (pts + shift, kind == "B")).collect();
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

/// A video that is cut without being coded again begins before its first picture that is displayed, at a key frame. The
/// cut is between two pictures, since ffprobe moves all times where it is within one.
#[test]
fn mp4_with_an_edit_list_has_the_packets_of_ffprobe() {
    let Some(whole) = make("whole.mp4", 8, &format!("{X264} -bf 2")) else { return };
    let file = whole.with_file_name("cut.mp4");
    let copy = format!("-v error -ss 3.12 -t 3 -i {} -c copy", whole.display());
    if output("ffmpeg", &copy, &file).is_none() {
        return;
    }
    let index = index(&file);
    let Some(pictures) = Packet::all(&file, "v") else { return println!("skipped: ffprobe does not run here") };
    assert_eq!(packets(&file, &index.video), pictures);
    assert!(index.video.frames[0].display() < 0);
    // ffprobe leaves out sound that is far before the start.
    let (ours, theirs) = (packets(&file, &index.audio.expect("a tone")), Packet::all(&file, "a").expect("it ran"));
    assert!(theirs.len() > 100 && ours.ends_with(&theirs), "{ours:?} {theirs:?}");
}

/// Compares a transport stream with ffprobe, whose times are those of the file, and whose AAC has headers of ADTS.
fn compare_stream(file: &Path) -> Option<Index> {
    let index = index(file);
    let (pictures, sound) = (Packet::all(file, "v")?, Packet::all(file, "a")?);
    let origin = pictures.iter().chain(&sound).map(|packet| packet.pts).min().expect("packets");
    for (track, theirs) in [(Some(&index.video), pictures), (index.audio.as_ref(), sound)] {
        let ours = track.map(|track| packets(file, track)).unwrap_or_default();
        assert_eq!(ours.len(), theirs.len(), "{}", file.display());
        let header = track.map_or(0, |track| if matches!(track.codec, Codec::Aac { .. }) { 7 } else { 0 });
        // Frames after the first of a PES packet have no position by ffprobe.
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!(
                (ours.size + header, ours.is_key),
                (theirs.size, theirs.is_key),
                "{}: {theirs:?}",
                file.display()
            );
            assert_eq!(
                (ours.pts + origin, ours.dts + origin),
                (theirs.pts, theirs.dts),
                "{}: {theirs:?}",
                file.display()
            );
            assert!(header > 0 || ours.hash == theirs.hash, "{}: {theirs:?}", file.display());
            assert!(theirs.pos.is_none() || ours.pos == theirs.pos, "{}: {theirs:?}", file.display());
        }
    }
    Some(index)
}

#[test]
fn transport_streams_have_the_packets_of_ffprobe() {
    let x264 = |more: &str| format!("{X264} -bf 2 -x264-params b-pyramid=none:{more}");
    for (name, how) in [
        ("h264.ts", x264("slices=1")),
        ("open.ts", x264("open-gop=1:slices=2")),
        ("mpeg1.ts", "-c:v mpeg1video -bf 2 -g 12 -c:a mp2".to_owned()),
        ("mpeg2.ts", "-c:v mpeg2video -bf 2 -g 12 -flags +ildct+ilme -c:a mp2".to_owned()),
        ("mp3.ts", "-c:v mpeg2video -bf 0 -c:a libmp3lame".to_owned()),
    ] {
        let Some(file) = make(name, 6, &how) else { return };
        let Some(index) = compare_stream(&file) else { return println!("skipped: ffprobe does not run here") };
        compare_b_pictures(&file, &index.video);
    }
}

/// ffmpeg takes the headers of ADTS away when it writes MP4.
#[test]
fn aac_of_a_transport_stream_is_that_of_its_mp4() {
    let Some(stream) = make("aac.ts", 3, &format!("{X264} -bf 0")) else { return };
    let file = stream.with_extension("mp4");
    let copy = format!("-v error -i {} -c copy -bsf:a aac_adtstoasc", stream.display());
    if output("ffmpeg", &copy, &file).is_none() {
        return;
    }
    let [stream, mp4] = [&stream, &file].map(|file| {
        let audio = index(file).audio.expect("a tone");
        let hashes: Vec<_> = packets(file, &audio).into_iter().map(|packet| packet.hash).collect();
        (audio.codec, audio.clock, hashes)
    });
    let (Codec::Aac { config, .. }, Codec::Aac { config: of_mp4, .. }) = (&stream.0, &mp4.0) else { panic!("{mp4:?}") };
    // ffmpeg's encoder adds to its own that there is no extension (ISO/IEC 14496-3 §1.6.6).
    assert_eq!((&config[..], stream.1, &stream.2), (&of_mp4[..2], mp4.1, &mp4.2));
}

/// The real videos, which are not part of the project.
#[test]
fn real_videos_have_the_packets_of_ffprobe() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/video");
    let mut found = 0;
    for file in folder.read_dir().into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path()) {
        let compared = match file.extension().and_then(|extension| extension.to_str()) {
            Some("mp4") => compare(&file),
            Some("ts") => compare_stream(&file),
            _ => continue,
        };
        if compared.is_none() {
            return println!("skipped: ffprobe does not run here");
        }
        found += 1;
    }
    if found == 0 {
        println!("skipped: no videos in {}", folder.display());
    }
}

/// `nal_ref_idc` of each picture in decoding order, as ffmpeg's parser of headers prints it.
fn references(file: &Path) -> Option<Vec<bool>> {
    let mut ffmpeg = Command::new("ffmpeg");
    ffmpeg.args(["-v", "trace", "-i"]).arg(file).args("-map 0:v -c copy -bsf:v trace_headers -f null -".split(' '));
    let run = ffmpeg.stdin(Stdio::null()).output().ok()?;
    let log = String::from_utf8_lossy(&run.stderr);
    let (mut references, mut is_reference) = (Vec::new(), false);
    for line in log.lines() {
        let value = || line.rsplit("= ").next().and_then(|value| value.trim().parse::<u32>().ok());
        if line.contains(" nal_ref_idc ") {
            is_reference = value()? > 0;
        } else if line.contains(" first_mb_in_slice ") && value()? == 0 {
            references.push(is_reference);
        }
    }
    Some(references)
}

#[test]
fn disposable_frames_are_those_without_nal_ref_idc() {
    // B pictures of which some are references, and P pictures in temporal layers are alike: nal_ref_idc tells.
    let params = "bframes=3:b-pyramid=normal:b-adapt=0:slices=1";
    for name in ["pyramid.mp4", "pyramid.ts"] {
        let Some(file) = make(name, 4, &format!("{X264} -x264-params {params}")) else { return };
        let ours: Vec<_> = index(&file).video.frames.iter().map(|frame| frame.kind != Kind::B).collect();
        let Some(theirs) = references(&file) else { return println!("skipped: ffmpeg does not print headers") };
        assert_eq!(ours, theirs, "{name}");
        assert!(ours.iter().filter(|is_reference| !*is_reference).count() > 30);
    }
}
