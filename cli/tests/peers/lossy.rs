//! ffmpeg sends, a lossy path loses, ffmpeg decodes what arrived.
//!
//! 2 % of the packets are lost in bursts of two on average. Blocks of 120 ms at 6 Mb/s hold some 70 packets and at
//! least 26 of repair; that more than these are lost of one block is a matter of one in a million. The latency is far
//! longer than repair needs, so that a busy machine makes no packet late; and at twice the rate the bursts in which ffmpeg
//! sends would pass what a socket of Linux holds (212 992 bytes, of which each datagram takes 2304).

use std::time::Duration;

use crate::clip::{Clip, decode, decoder, expect_frames, seen};
use crate::common::Running;
use crate::program::Program;
use crate::stage::{FFMPEG, Stage, free_port, wait_for_port};

/// Gilbert-Elliott: p / (p + r) = 2 % of the packets are lost, 1 / r = 2 of them in a row.
const BURSTY: &str = r#"
seed = 1
forward.element = [
    { kind = "gilbert_elliott", p = 0.0102, r = 0.5, loss_bad = 1.0 },
    { kind = "wire", delay = "20ms" },
]
reverse.element = [{ kind = "wire", delay = "20ms" }]
"#;

const LATENCY: &str = "1s";
const BLOCK: &str = "120ms";
/// What ffmpeg fills its streams up to, so that quiet pictures make no smaller blocks.
const RATE: &str = "6M";

#[test]
fn ts_over_udp_arrives_whole_as_datagrams() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let clip = Clip::synthetic(&stage, 8);
    survives(&stage, &clip, "udp://127.0.0.1:0", "-f mpegts udp://ADDRESS?pkt_size=1316", "geneva");
}

#[test]
fn ts_over_udp_arrives_whole_when_it_is_aligned_anew() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let clip = Clip::synthetic(&stage, 8);
    // ffmpeg's own size of datagrams is 1472, no multiple of 188.
    survives(&stage, &clip, "ts+udp://127.0.0.1:0", "-f mpegts udp://ADDRESS", "static:8");
}

#[test]
fn ts_over_rtp_arrives_whole() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let clip = Clip::synthetic(&stage, 8);
    survives(&stage, &clip, "rtp://127.0.0.1:0", "-f rtp_mpegts rtp://ADDRESS", "geneva");
}

#[test]
fn a_recorded_film_arrives_whole() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let Some(clip) = Clip::film(&stage, "sintel_trailer_720p24_13s_copy.ts", 10) else { return };
    survives(&stage, &clip, "ts+udp://127.0.0.1:0", "-f mpegts udp://ADDRESS?pkt_size=1316", "geneva");
}

/// Sends `clip` as ffmpeg's `output` into `input`, and expects its pictures, unharmed, in a file and at a live decoder.
fn survives(stage: &Stage, clip: &Clip, input: &str, output: &str, repair: &str) {
    let (copy, live_port) = (stage.path("copy.ts"), free_port());
    let (file, udp) = (format!("file:{copy}"), format!("udp://127.0.0.1:{live_port}"));
    let mut recv = Running::start(&[
        "recv",
        "--listen",
        "127.0.0.1:0",
        "--latency",
        LATENCY,
        "--once",
        "--output",
        &file,
        "--output",
        &udp,
    ]);
    let to = recv.address("listening", "address");
    let path =
        Running::start(&["emulate", &stage.write("bursty.toml", BURSTY), "--listen", "127.0.0.1:0", "--to", &to]);
    let to = path.address("listening", "address");
    let mut send = Running::start(&[
        "send",
        "--input",
        input,
        "--to",
        &to,
        "--latency",
        LATENCY,
        "--repair",
        repair,
        "--block",
        BLOCK,
    ]);
    let input = send.address("sending", "input_address");
    send.event("connected");
    let live = Program::line(stage, "live", &decoder(&format!("{udp}?fifo_size=50000&timeout=6000000")));
    wait_for_port(live_port);

    let output = output.replace("ADDRESS", &input);
    let line = format!("ffmpeg -v error -re -i {} -map 0 -c copy -muxrate {RATE} {output}", clip.path);
    Program::line(stage, "source", &line).end().expect_no_complaint(|_| false);
    // What is still in sockets is taken within a turn or two of the sender.
    std::thread::sleep(Duration::from_millis(500));
    send.interrupt();
    send.succeeds();

    recv.event("ended");
    let figures = recv.wait_for("its last figures", |value| value["event"].is_null());
    recv.succeeds();
    let count = |name: &str| figures[name].as_u64().unwrap_or_else(|| panic!("{name}: {figures}"));
    assert!(count("lost_packets_total") > count("source_packets_total") / 200, "little was lost: {figures}");
    assert_eq!(count("residual_lost_packets_total"), 0, "{figures}");

    expect_frames(&decode(stage, &copy), &clip.frames, 0, 0);
    expect_frames(&seen(live), &clip.frames, 0, 0);
}
