//! Videos of ffmpeg, shed on a link that is too slow for them, and decoded by ffmpeg.

use std::path::PathBuf;
use std::process::Command;

use super::*;
use crate::PACKET;
use crate::packet::Packet;
use crate::synthetic::Judge;

/// The pictures that ffmpeg decodes: the presentation time, at 90 kHz, and the checksum of the samples of each.
type Decoded = Vec<(u64, String)>;

/// Pictures of a video.
const PICTURES: usize = 600;

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("thalweg-shed-{}-{name}.ts", std::process::id()))
}

/// A video of 24 s in pictures of 1/25 s with a tone; none without ffmpeg or the codec.
fn encode(name: &str, codec: &[&str]) -> Option<Vec<u8>> {
    let path = temporary(name);
    let picture = "testsrc2=s=320x180:r=25:d=24,noise=alls=8:allf=t:all_seed=1";
    let run = Command::new("ffmpeg")
        .args(["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", picture, "-f", "lavfi", "-i", "sine=d=24:r=48000"])
        .args(codec)
        .args(["-flags", "+bitexact", "-c:a", "mp2", "-b:a", "64k"])
        .arg(&path)
        .output();
    let stream = std::fs::read(&path).ok();
    let _ = std::fs::remove_file(&path);
    let is_encoded = run.is_ok_and(|output| output.status.success());
    if !is_encoded {
        println!("skipped: no ffmpeg with {codec:?}");
    }
    stream.filter(|_| is_encoded)
}

fn decode(name: &str, stream: &[u8], kind: &str) -> Decoded {
    let path = temporary(&format!("{name}-decoded"));
    std::fs::write(&path, stream).unwrap();
    let output = Command::new("ffmpeg")
        .args(["-v", "fatal", "-nostdin", "-copyts", "-i"])
        .arg(&path)
        .args(["-map", &format!("0:{kind}"), "-fps_mode", "passthrough", "-f", "framemd5", "-"])
        .output()
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let fields = |line: &str| line.split(',').map(|field| field.trim().to_owned()).collect::<Vec<_>>();
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(fields);
    let base = text.lines().find_map(|line| line.strip_prefix("#tb 0: 1/")).map_or(1, |base| base.parse().unwrap());
    rows.map(|row| (row[2].parse::<u64>().unwrap() * 90_000 / base, row.last().unwrap().clone())).collect()
}

/// Sheds a video on a link of `share` of its rate. Returns the number of its pictures that are decoded bit for bit as before, and of all
/// that are decoded; `of` 600. All sound is decoded as before.
fn exact(name: &str, codec: &[&str], share: f64, wait: u64) -> Option<(usize, usize)> {
    let stream = encode(name, codec)?;
    let original = decode(name, &stream, "v");
    assert_eq!(original.len(), PICTURES);
    let Outcome { stream: left, pictures, wait: waited } = shed(&stream, share, Span::from_millis(wait));
    // Sound passes even if it is late.
    assert!(waited <= Span::from_millis(wait + 10), "{name}: waited {waited}");
    let packets: Vec<Packet> = left.chunks(PACKET).map(|bytes| Packet::parse(bytes).unwrap()).collect();
    let mut faults = Judge::of(&packets).faults;
    // Time stamps of video jump where pictures are missing.
    faults.retain(|fault| !fault.starts_with("DTS"));
    assert_eq!(faults, [""; 0], "{name}");
    assert_eq!(decode(name, &left, "a"), decode(name, &stream, "a"), "{name}");
    let decoded = decode(name, &left, "v");
    let exact = original.iter().filter(|picture| decoded.contains(picture)).count();
    println!("{name}, wait {wait} ms: {exact} of {} exact, {} decoded, {pictures} shed", original.len(), decoded.len());
    Some((exact, decoded.len()))
}

fn x264(group: &str) -> [&str; 14] {
    let rate = ["-b:v", "1M", "-maxrate", "1M", "-bufsize", "500k"];
    let [a, b, c, d, e, f] = rate;
    ["-c:v", "libx264", "-preset", "veryfast", "-g", group, "-bf", "3", a, b, c, d, e, f]
}

fn mpeg2(group: &str) -> [&str; 12] {
    ["-c:v", "mpeg2video", "-g", group, "-bf", "2", "-b:v", "2M", "-maxrate", "2M", "-bufsize", "1M"]
}

/// The bar: an allowed rate of .8 leaves half of the pictures of H.264 bit for bit. A wait of 310 ms is that of
/// `--latency 360ms` without repair.
#[test]
fn more_than_half_of_the_pictures_of_h264_are_exact_at_four_fifths_of_its_rate() {
    for group in ["12", "25", "50", "250"] {
        let Some((same, decoded)) = exact(&format!("x264-{group}"), &x264(group), 0.8, 310) else { return };
        assert!(same > PICTURES / 2, "groups of {group}: {same}");
        // No picture is decoded whose references are missing.
        assert!(decoded - same <= 2, "groups of {group}: {same} of {decoded}");
    }
}

#[test]
fn more_than_half_of_the_pictures_of_mpeg_2_are_exact_at_four_fifths_of_its_rate() {
    for group in ["12", "25"] {
        let Some((same, decoded)) = exact(&format!("mpeg2-{group}"), &mpeg2(group), 0.8, 310) else { return };
        assert!(same > PICTURES / 2, "groups of {group}: {same}");
        assert!(decoded - same <= 2, "groups of {group}: {same} of {decoded}");
    }
}

/// Open groups, as of ffmpeg's MPEG-2: the pictures displayed before a random access point refer to the group before,
/// whose end is missing at half of the rate.
#[test]
fn pictures_before_a_random_access_point_in_an_open_group_are_dropped_with_what_they_refer_to() {
    let Some((same, decoded)) = exact("mpeg2-open", &mpeg2("12"), 0.5, 310) else { return };
    assert!(same > PICTURES / 4 && decoded - same <= 2, "{same} of {decoded}");
}

/// The table of docs/send.md.
#[test]
#[ignore = "prints a table"]
fn exact_pictures_by_group_and_wait() {
    let x264 = ["12", "25", "50", "250"].map(|group| (format!("x264-{group}"), x264(group).to_vec()));
    let all = x264.into_iter().chain([("mpeg2-12".to_owned(), mpeg2("12").to_vec())]);
    for (name, codec) in all {
        let Some(stream) = encode(&name, &codec) else { return };
        let original = decode(&name, &stream, "v");
        let count = |left: &[u8]| {
            let decoded = decode(&name, left, "v");
            original.iter().filter(|picture| decoded.contains(picture)).count()
        };
        let waits = [150, 310, 500, 1000].map(Span::from_millis);
        let shed = waits.map(|wait| count(&shed(&stream, 0.8, wait).stream));
        let late = waits.map(|wait| count(&drop_late(&stream, 0.8, wait)));
        println!("{name}: {shed:?}, with datagrams dropped {late:?}, of {}", original.len());
    }
}

/// H.265 is judged by random access points alone.
#[test]
fn groups_of_h265_end_early() {
    let x265 = ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", "keyint=25:log-level=none", "-b:v", "600k"];
    let Some((same, decoded)) = exact("x265", &x265, 0.8, 500) else { return };
    assert!(same > PICTURES / 2 && decoded - same <= 2, "{same} of {decoded}");
}
