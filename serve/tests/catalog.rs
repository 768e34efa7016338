//! A folder of videos, and the catalog of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thalweg_core::units::Rate;
use thalweg_serve::{Catalog, Form, Root, Video, Work};

/// Creates a folder of these names and contents.
pub(crate) fn folder(name: &str, files: &[(&str, &[u8])]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    for (file, bytes) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
    folder
}

/// An MP4 of 1000 bytes and 2 s: 4 kb/s.
fn mp4() -> Vec<u8> {
    let word = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
    let mvhd = [&word(&[28])[..], b"mvhd", &word(&[0, 0, 0, 1000, 2000])].concat();
    let moov = [&word(&[36])[..], b"moov", &mvhd].concat();
    let video = [&word(&[12])[..], b"ftypisom", &moov, &word(&[952]), b"mdat"].concat();
    [video, vec![0; 944]].concat()
}

/// A WebM or MKV of 1000 bytes and 2 s, with the numbers of RFC 9559: 4 kb/s.
fn webm() -> Vec<u8> {
    let element = |id: &[u8], body: &[u8]| [id, &(body.len() as u32 | 0x1000_0000).to_be_bytes(), body].concat();
    let info = element(b"\x15\x49\xa9\x66", &element(b"\x44\x89", &2000_f64.to_be_bytes()));
    let cluster = element(b"\x1f\x43\xb6\x75", &[0; 954]);
    let segment = element(b"\x18\x53\x80\x67", &[info, cluster].concat());
    [element(b"\x1a\x45\xdf\xa3", b""), segment].concat()
}

fn scan(folder: &Path) -> Catalog {
    Catalog::scan(&Root::open(folder).expect("a folder")).expect("it can be read")
}

#[test]
fn videos_of_three_forms_are_listed_with_rates_and_segments_are_not() {
    let folder = folder(
        "forms",
        &[
            ("a video.mp4", &mp4()),
            (".hidden.mp4", &mp4()),
            ("hls/master.m3u8", b"#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=9000\nhi/x.m3u8\n#EXT-X-STREAM-INF:BANDWIDTH=5000\nlo.m3u8\n"),
            ("hls/hi/x.m3u8", b"#EXTM3U\n#EXTINF:1,\n0.ts\n#EXTINF:1,\n../both.ts\n"),
            ("hls/hi/0.ts", &[0; 500]),
            ("hls/lo.m3u8", b"#EXTM3U\n#EXT-X-MAP:URI=\"init.mp4\"\n#EXTINF:1,\nboth.ts\n"),
            ("hls/init.mp4", b"x"),
            ("hls/both.ts", &[0; 500]),
            ("alone/x.m3u8", b"#EXTM3U\n#EXTINF:2.0,\n0.ts\n#EXTINF:2,\n1.ts\n"),
            ("alone/0.ts", &[0; 1500]),
            ("alone/1.ts", &[0; 500]),
            ("dash/x.mpd", b"<MPD><Period><AdaptationSet><SegmentTemplate media='$RepresentationID$-$Number$.m4s'/>\
                <Representation id='v' bandwidth='8000'/><Representation id='w' bandwidth='6000'/></AdaptationSet></Period></MPD>"),
            ("dash/v-1.m4s", b"x"),
            ("dash/w-12.m4s", b"x"),
            ("video.webm", &webm()),
        ],
    );
    let catalog = scan(&folder);
    let video = |name: &str, form, bps: &[u64]| Video {
        name: name.to_owned(),
        form,
        rates: bps.iter().map(|&bps| Rate::from_bps(bps)).collect(),
    };
    let expected = [
        video("a video.mp4", Form::File, &[4000]),
        // 2000 bytes in 4 s.
        video("alone/x.m3u8", Form::Hls, &[4000]),
        video("dash/x.mpd", Form::Dash, &[6000, 8000]),
        video("hls/master.m3u8", Form::Hls, &[5000, 9000]),
        video("video.webm", Form::File, &[4000]),
    ];
    assert_eq!((&catalog.videos[..], &catalog.faults[..]), (&expected[..], &[][..]));
    for (file, bps) in [
        ("a video.mp4", 4000),
        ("hls/hi/0.ts", 9000),
        ("hls/both.ts", 9000),
        ("hls/init.mp4", 5000),
        ("alone/1.ts", 4000),
        ("dash/v-1.m4s", 8000),
        ("dash/w-12.m4s", 6000),
    ] {
        assert_eq!(catalog.rate(file), Some(Rate::from_bps(bps)), "{file}");
    }
    assert_eq!((catalog.rate("hls/master.m3u8"), catalog.rate(".hidden.mp4")), (None, None));
}

#[test]
fn broken_files_are_listed_with_a_one_line_fault() {
    let folder = folder(
        "broken",
        &[
            ("a.mp4", &mp4()[..500]),
            ("b.m3u8", b"<html>"),
            ("c.mpd", b"<MPD>"),
            ("d.m3u8", b"\xff"),
            ("e.m3u8", b"#EXTM3U\n"),
            ("itself.m3u8", b"#EXTM3U\n#EXTINF:10,\nitself.m3u8\n"),
            ("j.webm", &webm()[..999]),
            ("k.webm", b"x"),
        ],
    );
    std::os::unix::fs::symlink("/etc", folder.join("etc")).expect("a link");
    std::os::unix::fs::symlink("/etc/passwd", folder.join("f.mp4")).expect("a link");
    std::os::unix::fs::symlink("a.mp4", folder.join("g.mp4")).expect("a link");
    let catalog = scan(&folder);
    let names: Vec<_> = catalog.videos.iter().map(|video| &*video.name).collect();
    assert_eq!(names, ["a.mp4", "b.m3u8", "c.mpd", "d.m3u8", "e.m3u8", "g.mp4", "itself.m3u8", "j.webm", "k.webm"]);
    assert!(catalog.videos.iter().all(|video| video.rates.is_empty()));
    let faults: Vec<_> = catalog.faults.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    for (fault, start) in faults.iter().zip([
        "a.mp4: the file is incomplete; copy it again (box mdat at byte 48 ",
        "b.m3u8: not a playlist",
        "c.mpd: not valid XML",
        "d.m3u8: cannot be read: ",
        "e.m3u8: none of the segments",
        "g.mp4: the file is incomplete; copy it again (box mdat",
        "itself.m3u8: none of the segments",
        "j.webm: truncated: element 0x18538067 at byte 8 ",
        "k.webm: not a WebM or MKV",
    ]) {
        assert!(fault.starts_with(start) && fault.lines().count() == 1, "{fault}");
    }
    assert_eq!(faults.len(), 9);
}

#[test]
fn unplayable_videos_are_reported_in_one_line_with_a_remedy() {
    let folder = folder("foreign", &[("a.mp4", &mp4()), ("b/x.MKV", &webm()), ("c.avi", b"x"), ("d.txt", b"x")]);
    for (name, bytes) in [("e.m2ts", "x"), ("f.MTS", "x"), ("g.mkv", "x"), ("h.ogv", "x"), ("i.vob", "x")] {
        fs::write(folder.join(name), bytes).expect("a file");
    }
    let catalog = scan(&folder);
    let names = ["b/x.MKV", "c.avi", "e.m2ts", "f.MTS", "g.mkv", "h.ogv", "i.vob"];
    assert_eq!((catalog.videos.len(), &catalog.foreign[..]), (1, &names.map(str::to_owned)[..]));
    // MKV states its playback rate, and is served at that rate.
    let [(first, why), (second, reason)] = &catalog.faults[..] else { panic!("{:?}", catalog.faults) };
    assert_eq!((&**first, &**second), ("b/x.MKV", "g.mkv"));
    assert!(why.contains(" 6 ") && why.contains("`ffmpeg -i video.MKV -c copy video.mp4`"), "{why}");
    assert!(!why.contains('\n') && reason.contains("not a WebM or MKV"), "{why} {reason}");
    assert_eq!((catalog.rate("b/x.MKV"), catalog.rate("c.avi")), (Some(Rate::from_bps(4000)), None));
}

#[test]
fn remedy_for_old_codecs_converts_them() {
    let catalog = scan(&folder("old", &[("a.ogv", b"x")]));
    let [(name, why)] = &catalog.faults[..] else { panic!("{:?}", catalog.faults) };
    assert!(name == "a.ogv" && why.contains("`ffmpeg -i video.ogv video.mp4`"), "{name}: {why}");
}

/// The output of a program; none if it is not installed.
pub(crate) fn output(program: &str, words: &str, file: &Path) -> Option<String> {
    let run = Command::new(program).args(words.split_whitespace()).arg(file).stdin(Stdio::null()).output().ok()?;
    assert!(run.status.success(), "{program} {words}: {}", String::from_utf8_lossy(&run.stderr));
    String::from_utf8(run.stdout).ok()
}

#[test]
fn rates_match_those_of_ffprobe() {
    let folder = folder("ffmpeg", &[("d.txt", b"x")]);
    for (name, how) in [("a.webm", "libvpx"), ("b.mkv", "mpeg4"), ("live.mkv", "mpeg4 -live 1")] {
        let words = format!("-v error -f lavfi -i testsrc=size=160x90:rate=25:duration=3 -c:v {how}");
        if output("ffmpeg", &words, &folder.join(name)).is_none() {
            println!("skipped: ffmpeg does not run here");
            return;
        }
    }
    let catalog = scan(&folder);
    for name in ["a.webm", "b.mkv"] {
        let words = "-v error -show_entries format=bit_rate -of csv=p=0";
        let Some(theirs) = output("ffprobe", words, &folder.join(name)) else {
            return println!("skipped: ffprobe does not run here");
        };
        let theirs: f64 = theirs.trim().parse().expect("a rate");
        let ours = catalog.rate(name).expect("a rate").as_bps() as f64;
        assert!((ours / theirs - 1.0).abs() < 1e-3, "{name}: {ours} b/s, ffprobe {theirs}");
    }
    let reasons = catalog.faults.iter().filter(|(name, _)| name == "live.mkv").map(|(_, why)| &**why);
    assert_eq!(reasons.collect::<Vec<_>>(), ["it does not state its duration"]);
}

#[test]
fn changed_video_is_read_again() {
    let folder = folder("changed", &[("a.mp4", &mp4())]);
    let root = Root::open(&folder).expect("a folder");
    let first = Catalog::scan(&root).expect("it can be read");
    fs::write(folder.join("a.mp4"), [mp4(), vec![0, 0, 3, 0xe8], b"free".to_vec(), vec![0; 992]].concat())
        .expect("a file");
    let second = first.rescan(&root).expect("it can be read").expect("a change");
    assert_eq!((first.rate("a.mp4"), second.rate("a.mp4")), (Some(Rate::from_bps(4000)), Some(Rate::from_bps(8000))));
}

/// A manifest of 20 000 representations, and a master playlist of 8000 renditions that are all the same.
#[test]
fn scan_cost_is_linear_in_the_size_of_manifests() {
    let representations: String =
        (1..=20_000).map(|bps| format!("<Representation id='{bps}' bandwidth='{bps}'/>")).collect();
    let manifest = format!(
        "<MPD><Period><AdaptationSet><SegmentTemplate media='$RepresentationID$-$Number$.m4s'/>{representations}\
         </AdaptationSet></Period></MPD>"
    );
    let renditions: String = (1..=8000).map(|bps| format!("#EXT-X-STREAM-INF:BANDWIDTH={bps}\nx.m3u8\n")).collect();
    let segments: String = (0..2000).map(|nth| format!("#EXTINF:4,\n{nth}.ts\n")).collect();
    let (master, playlist) = (format!("#EXTM3U\n{renditions}"), format!("#EXTM3U\n{segments}"));
    let folder = folder(
        "many",
        &[
            ("dash/a.mpd", manifest.as_bytes()),
            ("dash/7-1.m4s", b"x"),
            ("dash/77-1.m4s", b"x"),
            ("hls/m.m3u8", master.as_bytes()),
            ("hls/x.m3u8", playlist.as_bytes()),
            ("hls/1999.ts", b"x"),
        ],
    );
    let root = Root::open(&folder).expect("a folder");
    let catalog = Catalog::scan(&root).expect("it can be read");
    assert_eq!((catalog.videos.len(), &catalog.faults[..]), (2, &[][..]));
    for (file, bps) in [("dash/7-1.m4s", 7), ("dash/77-1.m4s", 77), ("hls/1999.ts", 8000)] {
        assert_eq!(catalog.rate(file), Some(Rate::from_bps(bps)), "{file}");
    }
    // Each rendition once, each segment once, and once each file whose name may belong to a representation.
    let Work { read, looked_up, compared } = catalog.work;
    assert!(read == 3 && looked_up <= 8000 + 2000 + 2 && compared <= 4, "{:?}", catalog.work);
}

#[test]
fn rescan_reads_only_files_that_have_changed() {
    let (mpd, playlist) = (b"<MPD><Representation bandwidth='8'/></MPD>", b"#EXTM3U\n#EXTINF:2,\n0.ts\n");
    let files: [(&str, &[u8]); 5] =
        [("a.mpd", mpd), ("b.m3u8", playlist), ("c.mp4", &mp4()), ("d.m3u8", b"wrong"), ("0.ts", &[0; 500])];
    let folder = folder("unchanged", &files);
    let root = Root::open(&folder).expect("a folder");
    let first = Catalog::scan(&root).expect("it can be read");
    assert_eq!((first.work.read, first.rate("0.ts")), (4, Some(Rate::from_bps(2000))));
    assert!(first.rescan(&root).expect("it can be read").is_none());
    // A segment grows: no playlist is read again, and the rate changes.
    fs::write(folder.join("0.ts"), [0; 1000]).expect("a file");
    let second = first.rescan(&root).expect("it can be read").expect("a change");
    assert_eq!((second.work.read, second.rate("0.ts")), (0, Some(Rate::from_bps(4000))));
    assert_eq!((&second.videos[0], &second.faults), (&first.videos[0], &first.faults));
    // The same length, place and modification time, but another file.
    let before = fs::metadata(folder.join("a.mpd")).expect("a file");
    fs::write(folder.join("new"), b"<MPD><Representation bandwidth='9'/></MPD>").expect("a file");
    let new = fs::File::options().write(true).open(folder.join("new")).expect("a file");
    new.set_modified(before.modified().expect("a time")).expect("ours");
    fs::rename(folder.join("new"), folder.join("a.mpd")).expect("ours");
    let third = second.rescan(&root).expect("it can be read").expect("a change");
    assert_eq!((third.work.read, &third.videos[0].rates[..]), (1, &[Rate::from_bps(9)][..]));
}

#[test]
fn comparisons_with_patterns_are_limited() {
    let folder = folder("patterns", &[]);
    fs::create_dir_all(&folder).expect("a folder");
    for nth in 0..500 {
        fs::write(folder.join(format!("{nth}.m4s")), b"").expect("a file");
    }
    let representations: String =
        (1..=12_000).map(|bps| format!("<Representation id='{bps}' bandwidth='{bps}'/>")).collect();
    let manifest = format!("<MPD><SegmentTemplate media='$Number$-$RepresentationID$'/>{representations}</MPD>");
    fs::write(folder.join("a.mpd"), &manifest).expect("a file");
    let catalog = scan(&folder);
    // There would be six million comparisons.
    assert!(catalog.work.compared <= 5_000_001, "{:?}", catalog.work);
    let [(name, why)] = &catalog.faults[..] else { panic!("{:?}", catalog.faults) };
    assert!(name == "a.mpd" && why.contains("too many files"), "{name}: {why}");
}
