//! Tests with real files: the project's clip, and videos if they are available.

use std::path::PathBuf;
use std::process::Command;

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use crate::DATAGRAM;
use crate::packet::Packet;
use crate::pes;
use crate::source::{LoopMode, TsSource};
use crate::stamp::Ticks;
use crate::synthetic::{self, Judge};

/// `assets/make-clip`: 15 frames of 1/30 s.
const CLIP_FRAMES: u64 = 15;
const CLIP_DURATION: Span = Span::from_millis(500);

pub(super) fn read(path: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let bytes = std::fs::read(&path);
    if bytes.is_err() {
        println!("skipped: no {}", path.display());
    }
    bytes.ok()
}

fn clip() -> Vec<u8> {
    read("assets/clip.ts").expect("the clip is part of the project")
}

/// Sends `file` `turns` times, as a driver would, and returns the datagrams and their due times.
fn send(file: &[u8], turns: usize, mode: LoopMode) -> Vec<(Span, Vec<u8>)> {
    let mut source = TsSource::new(mode);
    let mut sent = Vec::new();
    for _ in 0..turns {
        for chunk in file.chunks(10_000) {
            while !source.wants() {
                sent.push(source.poll().map(|(due, bytes)| (due, bytes.to_vec())).unwrap());
            }
            source.push(chunk).unwrap();
        }
        source.finish().unwrap();
    }
    while let Some((due, bytes)) = source.poll() {
        sent.push((due, bytes.to_vec()));
    }
    sent
}

/// The same stream with a clock that starts `ticks` later.
fn shifted(stream: &[u8], ticks: Ticks) -> Vec<u8> {
    let mut packets: Vec<Packet> = stream.chunks(188).map(|bytes| Packet::parse(bytes).unwrap()).collect();
    for packet in &mut packets {
        if let Some(pcr) = packet.pcr() {
            packet.set_pcr(pcr + ticks);
        }
        pes::shift(packet, ticks);
    }
    synthetic::bytes(&packets)
}

fn bytes_of(sent: &[(Span, Vec<u8>)]) -> Vec<u8> {
    sent.iter().flat_map(|(_, datagram)| datagram).copied().collect()
}

fn apart(one: Span, other: Span) -> Span {
    one.saturating_sub(other) + other.saturating_sub(one)
}

fn judge(sent: &[(Span, Vec<u8>)]) -> Judge {
    let mut judge = Judge::default();
    for packet in sent.iter().flat_map(|(_, bytes)| bytes.chunks(188)) {
        judge.observe(&Packet::parse(packet).unwrap());
    }
    judge
}

#[test]
fn the_clip_leaves_at_its_constant_30_megabits() {
    let sent = send(&clip(), 1, LoopMode::Once);
    let packets_at_30_004_800_bps = Rate::from_bps(30_004_800);
    for (i, (due, datagram)) in (0..).zip(&sent) {
        assert_eq!(datagram.len(), DATAGRAM);
        let planned = packets_at_30_004_800_bps.time_for(Bytes(i * DATAGRAM as u64));
        assert!(apart(*due, planned) < Span::from_micros(1), "datagram {i}: {due} instead of {planned}");
    }
    assert_eq!(sent.len(), 1425);
}

#[test]
fn twenty_loops_of_the_clip_are_one_continuous_stream() {
    let clip = clip();
    let wraps_on_the_way = shifted(&clip, Ticks::from_90k((1 << 33) - 3 * 90_000 - 60_000));
    for clip in [clip, wraps_on_the_way] {
        let sent = send(&clip, 20, LoopMode::Forever);
        let judge = judge(&sent);
        assert_eq!(judge.faults, [""; 0]);
        // The last packets of the last turn wait for a reference, at most 100 ms away.
        assert!(judge.frames > 19 * CLIP_FRAMES && judge.packets > 19 * 9975);
        let planned = CLIP_DURATION / 1425;
        let mut gaps = sent.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0));
        assert!(gaps.all(|gap| apart(gap, planned) < Span::from_micros(1)));
        assert!(apart(sent[19 * 1425].0, CLIP_DURATION * 19) < Span::from_micros(1));
    }
}

#[test]
fn every_frame_arrives_before_its_decoding_time() {
    let packets: Vec<Packet> = clip().chunks(188).map(|bytes| Packet::parse(bytes).unwrap()).collect();
    let first = packets.iter().position(|packet| packet.pcr().is_some()).unwrap();
    let start = packets[first].pcr().unwrap();
    let tick = |packet: usize| CLIP_DURATION.as_nanos() * 27 / 1000 * (packet - first) as u64 / 9975;
    let starts: Vec<usize> = (0..packets.len()).filter(|i| pes::Header::parse(&packets[*i]).is_some()).collect();
    for (i, frame) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().unwrap_or(packets.len());
        let decoded = pes::Header::parse(&packets[*frame]).unwrap().decoding_time().value() * 300;
        assert!(start.parts().0 * 300 + tick(end) < decoded, "frame {i}");
    }
    assert_eq!(starts.len() as u64, CLIP_FRAMES);
}

#[test]
fn ffmpeg_decodes_two_loops_of_the_clip_to_the_same_pictures() {
    let clip = clip();
    let Some(pictures) = decode("clip", &bytes_of(&send(&clip, 1, LoopMode::Once))) else { return };
    assert_eq!(pictures.len() as u64, CLIP_FRAMES);
    let looped = bytes_of(&send(&clip, 3, LoopMode::Forever));
    assert_eq!(decode("clip", &looped[..2 * clip.len()]), Some([&*pictures, &pictures].concat()));
}

#[test]
fn videos_loop_seamlessly_and_keep_their_duration() {
    let videos = [
        ("sintel_trailer_720p24_13s_copy.ts", Span::from_millis(13_000)),
        ("sintel_trailer_mpeg1_ibbp12_480x272_52s.ts", Span::from_millis(52_200)),
    ];
    for (name, duration) in videos {
        let Some(video) = read(&format!("../shared/data/video/{name}")) else { continue };
        let sent = send(&video, 3, LoopMode::Forever);
        assert_eq!(judge(&sent).faults, [""; 0], "{name}");
        assert!(sent.is_sorted_by_key(|(due, _)| *due), "{name}");
        let second_loop = sent[video.len().div_ceil(DATAGRAM)].0;
        assert!(apart(second_loop, duration) < Span::from_millis(500), "{name}: a turn takes {second_loop}");
        let (once, twice) = (send(&video, 1, LoopMode::Once), bytes_of(&sent)[..2 * video.len()].to_vec());
        let Some(pictures) = decode(name, &bytes_of(&once)) else { continue };
        assert_eq!(decode(name, &twice).map(|both| both.len()), Some(2 * pictures.len()), "{name}");
    }
}

/// A checksum of every picture that ffmpeg decodes from `stream`; none if there is no ffmpeg. Panics if ffmpeg reports
/// an error.
fn decode(name: &str, stream: &[u8]) -> Option<Vec<String>> {
    decode_kind(name, stream, "v")
}

/// The same of every picture (`v`) or frame of audio (`a`).
pub(super) fn decode_kind(name: &str, stream: &[u8], kind: &str) -> Option<Vec<String>> {
    // Through a file: both pipes of a child cannot be served without a thread.
    let path = std::env::temp_dir().join(format!("thalweg-{}-{name}.ts", std::process::id()));
    std::fs::write(&path, stream).unwrap();
    let run = Command::new("ffmpeg")
        .args(["-v", "error", "-nostdin", "-i"])
        .arg(&path)
        .args(["-map", &format!("0:{kind}"), "-f", "framemd5", "-"])
        .output();
    std::fs::remove_file(&path).unwrap();
    let Ok(output) = run else {
        println!("skipped: no ffmpeg");
        return None;
    };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let frames = String::from_utf8_lossy(&output.stdout).into_owned();
    let of_frame = |line: &str| line.rsplit(',').next().unwrap_or_default().trim().to_owned();
    Some(frames.lines().filter(|line| !line.starts_with('#')).map(of_frame).collect())
}
