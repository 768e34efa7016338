//! `ts+udp://`, `rtp://` and `file:` with media, and with other data, between two processes on loopback.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::stream::{LATENCY, Stream, sink, source};
use crate::common::{Running, run, ts};

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("thalweg-{}-{name}", std::process::id()))
}

fn url(path: &std::path::Path) -> String {
    format!("file:{}", path.display())
}

/// Bytes without a sync byte of MPEG-TS among them.
fn no_packets(len: usize) -> Vec<u8> {
    (0..len).map(|nth| (nth * 7 % 64) as u8).collect()
}

#[test]
fn trailing_non_ts_bytes_are_skipped_counted_and_reported() {
    let (path, copy) = (temporary("half.ts"), temporary("half-copy.ts"));
    let stream = ts::stream(1_000);
    std::fs::write(&path, [&stream[..], &no_packets(200_000)].concat()).expect("a temporary file");
    let mut both = Stream::start(&["--once", "--output", &url(&copy)], &["--input", &url(&path)]);
    let warning = both.send.event("warning");
    assert!(warning["text"].as_str().expect("words").contains("not MPEG-TS"), "{warning}");
    both.send.succeeds();
    both.recv.succeeds();
    let lines: Vec<serde_json::Value> =
        both.send.rest().iter().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(lines.iter().all(|line| line["event"] != "warning"), "it is reported once: {lines:?}");
    assert_eq!(lines.last().expect("figures")["input_skipped_bytes_total"], 200_000);
    let copied = std::fs::read(&copy).expect("the copy");
    for path in [&path, &copy] {
        std::fs::remove_file(path).expect("it was there");
    }
    assert!(copied == stream, "{} of {} bytes", copied.len(), stream.len());
}

#[test]
fn non_ts_datagrams_are_skipped_counted_and_reported() {
    let (sink, output) = sink("127.0.0.1:0");
    let ts_output = format!("ts+{output}");
    let stream = Stream::start(&["--output", &ts_output], &["--input", "ts+udp://127.0.0.1:0"]);
    let source = source(&stream.send);
    for _ in 0..100 {
        source.send(&no_packets(500)).expect("loopback takes it");
    }
    let warning = stream.send.event("warning");
    assert!(warning["text"].as_str().expect("words").contains("ts+udp://"), "{warning}");
    stream.send.wait_for("the count", |row| row["input_skipped_bytes_total"] == 50_000);
    // Packets that follow are taken again, and the output re-aligns them.
    let packets = ts::stream(7);
    source.send(&packets).expect("loopback takes it");
    let mut buffer = [0; 2048];
    let len = sink.recv(&mut buffer).expect("seven packets");
    assert_eq!(&buffer[..len], packets);
}

#[test]
fn ts_output_of_another_format_gives_a_warning() {
    let (_sink, output) = sink("127.0.0.1:0");
    let ts_output = format!("ts+{output}");
    let stream = Stream::start(&["--output", &ts_output], &["--input", "udp://127.0.0.1:0"]);
    let source = source(&stream.send);
    source.send(&no_packets(900)).expect("loopback takes it");
    let warning = stream.recv.event("warning");
    assert!(warning["text"].as_str().expect("words").contains("not MPEG-TS"), "{warning}");
    stream.recv.wait_for("the count", |row| row["output_skipped_bytes_total"] == 900);
}

#[test]
fn an_rtp_output_carries_the_stream_in_rtp() {
    let (sink, output) = sink("127.0.0.1:0");
    let output = output.replace("udp://", "rtp://");
    let stream = Stream::start(&["--output", &output], &["--input", "ts+udp://127.0.0.1:0"]);
    let source = source(&stream.send);
    let packets = ts::stream(70);
    let mut buffer = [0; 2048];
    let mut last = None;
    for datagram in packets.chunks(7 * 188) {
        source.send(datagram).expect("loopback takes it");
        let len = sink.recv(&mut buffer).expect("a packet");
        // RFC 3550 §5.1 and RFC 2250 §2: version 2, payload type 33, consecutive numbers, and whole packets.
        assert_eq!((buffer[0], buffer[1] & 0x7f, &buffer[12..len]), (0x80, 33, datagram));
        let sequence = u16::from_be_bytes([buffer[2], buffer[3]]);
        assert!(last.is_none_or(|last: u16| sequence == last.wrapping_add(1)), "{last:?} {sequence}");
        last = Some(sequence);
    }
}

#[test]
fn rtp_without_ts_payload_is_refused_counted_and_reported() {
    let (sink, output) = sink("127.0.0.1:0");
    let stream = Stream::start(&["--output", &output], &["--input", "rtp://127.0.0.1:0"]);
    let source = source(&stream.send);
    // RFC 3550 §5.1: version 2, payload type 33, a number, a time, a source.
    let header = |number| [0x80, 33, 0, number, 0, 0, 0, 0, 0, 0, 0, 7];
    for (number, payload) in (0..).zip([&b"hello world"[..], &[0; 100], &[], &no_packets(188)]) {
        source.send(&[&header(number)[..], payload].concat()).expect("loopback takes it");
    }
    let warning = stream.send.event("warning");
    assert!(warning["text"].as_str().expect("words").contains("rtp://"), "{warning}");
    stream.send.wait_for("the count", |row| row["input_refused_datagrams_total"] == 4);
    let packets = ts::stream(7);
    source.send(&[&header(4)[..], &packets].concat()).expect("loopback takes it");
    let mut buffer = [0; 2048];
    let len = sink.recv(&mut buffer).expect("seven packets");
    assert_eq!(&buffer[..len], packets, "nothing came before them");
}

#[test]
fn rtp_output_of_another_format_gives_a_warning() {
    let (_sink, output) = sink("127.0.0.1:0");
    let output = output.replace("udp://", "rtp://");
    let stream = Stream::start(&["--output", &output], &["--input", "udp://127.0.0.1:0"]);
    let source = source(&stream.send);
    source.send(&no_packets(900)).expect("loopback takes it");
    let warning = stream.recv.event("warning");
    assert!(warning["text"].as_str().expect("words").contains("not MPEG-TS"), "{warning}");
    stream.recv.wait_for("the count", |row| row["output_skipped_bytes_total"] == 900);
}

#[test]
fn partial_datagrams_are_sent_without_waiting() {
    let (sink, output) = sink("127.0.0.1:0");
    let stream = Stream::start(&["--output", &output], &["--input", "ts+udp://127.0.0.1:0"]);
    let source = source(&stream.send);
    let packets = ts::stream(10);
    source.send(&packets).expect("loopback takes it");
    let mut buffer = [0; 2048];
    for expected in packets.chunks(7 * 188) {
        let len = sink.recv(&mut buffer).expect("seven packets, then three");
        assert_eq!(&buffer[..len], expected);
    }
}

/// `ffmpeg ... udp://HOST:PORT` without a `pkt_size` cuts MPEG-TS into datagrams of 1472 bytes, within packets.
#[test]
fn the_default_datagrams_of_ffmpeg_arrive_whole() {
    let ffmpeg = |to: &str| {
        let clip = concat!(env!("CARGO_MANIFEST_DIR"), "/../assets/clip.ts");
        let words = ["-v", "error", "-y", "-re", "-i", clip, "-t", "2", "-map", "0", "-c", "copy", "-f", "mpegts", to];
        Command::new("ffmpeg").args(words).stdin(Stdio::null()).status()
    };
    let file = temporary("ffmpeg.ts");
    if !ffmpeg(&file.display().to_string()).is_ok_and(|status| status.success()) {
        println!("skipped: ffmpeg does not run here");
        return;
    }
    let original = std::fs::read(&file).expect("what ffmpeg wrote");
    std::fs::remove_file(&file).expect("it was there");

    let copy = temporary("ffmpeg-copy.ts");
    let mut stream = Stream::start(&["--once", "--output", &url(&copy)], &["--input", "udp://127.0.0.1:0"]);
    let input = stream.send.address("sending", "input_address");
    stream.send.event("connected");
    assert!(ffmpeg(&format!("udp://{input}")).expect("it ran before").success());
    let warning = stream.send.event("warning");
    assert!(warning["text"].as_str().expect("words").contains("1472 bytes"), "{warning}");
    let row = stream.send.wait_for("all of it", |row| row["media_bytes_total"] == original.len());
    assert_eq!((&row["input_refused_datagrams_total"], &row["input_skipped_bytes_total"]), (&0.into(), &0.into()));
    stream.send.interrupt();
    stream.send.succeeds();
    stream.recv.succeeds();
    let copied = std::fs::read(&copy).expect("the copy");
    std::fs::remove_file(&copy).expect("it was there");
    assert!(copied == original, "{} of {} bytes", copied.len(), original.len());
}

#[test]
fn oversized_non_ts_datagrams_are_refused_with_advice() {
    let stream = Stream::start(&["--output", "udp://127.0.0.1:9"], &["--input", "udp://127.0.0.1:0"]);
    let source = source(&stream.send);
    for _ in 0..3 {
        source.send(&no_packets(1472)).expect("loopback takes it");
    }
    let warning = stream.send.event("warning");
    let text = warning["text"].as_str().expect("words");
    assert!(text.contains("ts+udp://") && text.contains("pkt_size=1316"), "{warning}");
    stream.send.wait_for("the count", |row| row["input_refused_datagrams_total"] == 3);
}

#[test]
fn recording_does_not_overwrite_an_existing_file() {
    let path = temporary("precious.ts");
    std::fs::write(&path, "precious").expect("a temporary file");
    let (code, stdout, stderr) = run(&["recv", "--listen", "127.0.0.1:0", "--output", &url(&path)]);
    assert_eq!((code, stdout.as_str(), stderr.lines().count()), (2, "", 1), "{stderr}");
    assert!(stderr.contains("--overwrite") && stderr.contains("--append"), "{stderr}");
    for option in ["--overwrite", "--append"] {
        let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", &url(&path), option]);
        recv.event("listening");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"precious", "{option}");
    }
    std::fs::remove_file(&path).expect("it was there");
}

#[test]
fn each_stream_is_recorded_in_its_own_file_or_appended() {
    let original = temporary("take.ts");
    let stream = ts::stream(700);
    std::fs::write(&original, &stream).expect("a temporary file");
    for append in [false, true] {
        let paths = ["recorded.ts", "recorded-2.ts"].map(temporary);
        let append: &[&str] = if append { &["--append"] } else { &[] };
        let args = ["recv", "--listen", "127.0.0.1:0", "--latency", LATENCY, "--output", &url(&paths[0])];
        let mut recv = Running::start(&[&args, append].concat());
        let to = recv.address("listening", "address");
        assert!(!paths[0].exists(), "nothing has come");
        for take in 0..2 {
            let input = url(&original);
            let mut send = Running::start(&["send", "--to", &to, "--latency", LATENCY, "--input", &input]);
            let file = &paths[if append.is_empty() { take } else { 0 }];
            assert_eq!(recv.event("recording")["file"], file.display().to_string());
            send.succeeds();
            assert_eq!(recv.event("ended")["reason"], "bye");
        }
        recv.interrupt();
        recv.succeeds();
        let read = |path: &PathBuf| std::fs::read(path).unwrap_or_default();
        match append.is_empty() {
            true => assert!(read(&paths[0]) == stream && read(&paths[1]) == stream),
            false => assert!(read(&paths[0]) == stream.repeat(2) && !paths[1].exists()),
        }
        for path in paths {
            let _ = std::fs::remove_file(path);
        }
    }
    std::fs::remove_file(&original).expect("it was there");
}
