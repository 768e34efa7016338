//! ffmpeg sends, a lossy path drops packets, and ffmpeg decodes the received video.
//!
//! 2 % of the packets are lost in bursts of two on average, of which one in 2^n is longer than n. The strength of
//! repair depends on the packets in a block, and so on rate and latency. At 30 Mb/s the default latency of 90 ms on a
//! round trip of 40 ms allows blocks of 85 packets and 24 of repair. At 6 Mb/s it allows 19 packets and 6 of repair,
//! and of the 60 bursts of 8 s one is longer than that: this rate needs the 300 ms of the README's lines for ffmpeg,
//! and blocks of 68 packets and 23 of repair. The probability that a block loses more than these is one in a million.

use std::time::Duration;

use crate::common::Running;
use crate::common::bursts::Bursts;
use crate::peers::clip::{Clip, decode, decoder, expect_frames, seen};
use crate::peers::program::Program;
use crate::peers::stage::{FFMPEG, Stage, free_port, wait_for_port};

/// Gilbert-Elliott: p / (p + r) = 2 % of the packets are lost, 1 / r = 2 of them in a row.
const BURSTY: Bursts = Bursts { seed: 1, p: 0.0102, r: 0.5, loss_bad: 1.0 };

/// The settings of a stream.
struct Setting {
    latency: &'static str,
    block: &'static str,
    /// The rate to which ffmpeg pads its streams, so that quiet pictures make no smaller blocks.
    rate: &'static str,
}

/// ffmpeg sends a picture at a time. At twice the rate its bursts exceed the buffer of a socket of Linux (212 992
/// bytes, of which each datagram takes 2304).
const SLOW: Setting = Setting { latency: "300ms", block: "120ms", rate: "6M" };
/// At this rate ffmpeg is set to pace its output.
const FAST: Setting = Setting { latency: "90ms", block: "30ms", rate: "30M" };

#[test]
fn ts_over_udp_arrives_whole_as_datagrams() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let clip = Clip::synthetic(&stage, 8);
    survives(&stage, &clip, &SLOW, "udp://127.0.0.1:0", "-f mpegts udp://ADDRESS?pkt_size=1316", "geneva");
}

#[test]
fn thirty_megabits_arrive_whole_within_the_default_latency() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let clip = Clip::synthetic(&stage, 8);
    // In bursts of no more than ten datagrams.
    let output = "-f mpegts udp://ADDRESS?pkt_size=1316&bitrate=31000000&burst_bits=105280";
    survives(&stage, &clip, &FAST, "udp://127.0.0.1:0", output, "geneva");
}

#[test]
fn ts_over_udp_arrives_whole_after_realignment() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let clip = Clip::synthetic(&stage, 8);
    // ffmpeg's own size of datagrams is 1472, no multiple of 188.
    survives(&stage, &clip, &SLOW, "ts+udp://127.0.0.1:0", "-f mpegts udp://ADDRESS", "static:8");
}

#[test]
fn ts_over_rtp_arrives_whole() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let clip = Clip::synthetic(&stage, 8);
    // The padding of a stream in RTP has an option of its own.
    let output = "-f rtp_mpegts -mpegts_muxer_options muxrate=6M rtp://ADDRESS";
    survives(&stage, &clip, &SLOW, "rtp://127.0.0.1:0", output, "geneva");
}

#[test]
fn recorded_video_arrives_whole() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let Some(clip) = Clip::recorded(&stage, "sintel_trailer_720p24_13s_copy.ts", 10) else { return };
    survives(&stage, &clip, &SLOW, "ts+udp://127.0.0.1:0", "-f mpegts udp://ADDRESS?pkt_size=1316", "geneva");
}

/// Sends `clip` as ffmpeg's `output` into `input`, and expects its pictures, unharmed, in a file and at a live decoder.
fn survives(stage: &Stage, clip: &Clip, setting: &Setting, input: &str, output: &str, repair: &str) {
    let Setting { latency, block, rate } = *setting;
    let (copy, live_port) = (stage.path("copy.ts"), free_port());
    let (file, udp) = (format!("file:{copy}"), format!("udp://127.0.0.1:{live_port}"));
    let mut recv = Running::start(&[
        "recv",
        "--listen",
        "127.0.0.1:0",
        "--latency",
        latency,
        "--once",
        "--output",
        &file,
        "--output",
        &udp,
    ]);
    let to = recv.address("listening", "address");
    let path = Running::start(&[
        "emulate",
        &stage.write("bursty.toml", &BURSTY.scenario()),
        "--listen",
        "127.0.0.1:0",
        "--to",
        &to,
    ]);
    let to = path.address("listening", "address");
    let mut send = Running::start(&[
        "send",
        "--input",
        input,
        "--to",
        &to,
        "--latency",
        latency,
        "--repair",
        repair,
        "--block",
        block,
    ]);
    let input = send.address("sending", "input_address");
    send.event("connected");
    let live = Program::line(stage, "live", &decoder(&format!("{udp}?fifo_size=50000&timeout=6000000")));
    wait_for_port(live_port);

    let output = output.replace("ADDRESS", &input);
    let line = format!("ffmpeg -v error -re -i {} -map 0 -c copy -muxrate {rate} {output}", clip.path);
    Program::line(stage, "source", &line).end().expect_no_complaint(|_| false);
    // The sender takes data that is still in sockets within one or two turns of its event loop.
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
