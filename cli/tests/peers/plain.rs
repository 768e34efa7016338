//! ffmpeg, GStreamer and VLC receive `thalweg send --plain-rtp` directly.

use std::process::Command;

use crate::common::Running;
use crate::peers::clip::{Clip, decode, expect_frames};
use crate::peers::program::Program;
use crate::peers::stage::{FFMPEG, GSTREAMER, Stage, VLC, free_port, unprivileged, wait_for_port};

/// The parameters of RTP/MP2T that GStreamer needs; the SDP file has the same.
const CAPS: &str = "application/x-rtp,media=video,clock-rate=90000,encoding-name=MP2T,payload=33";

/// Sends `clip` as plain RTP to `port`, and returns when it has ended.
fn send(clip: &Clip, port: u16) {
    let (input, to) = (format!("file:{}", clip.path), format!("127.0.0.1:{port}"));
    let mut send = Running::start(&["send", "--input", &input, "--to", &to, "--plain-rtp"]);
    assert_eq!(send.event("ended")["reason"], "bye");
    send.succeeds();
}

/// Writes the description of the stream that [`send`] sends to `port`.
fn describe(stage: &Stage, port: u16) -> String {
    let (sdp, to) = (stage.path("plain.sdp"), format!("127.0.0.1:{port}"));
    let input = "ts+udp://127.0.0.1:0";
    Running::start(&["send", "--input", input, "--to", &to, "--plain-rtp", "--sdp", &sdp]).event("sending");
    sdp
}

#[test]
fn ffmpeg_plays_from_sdp_and_stops_at_the_rtcp_bye() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let clip = Clip::synthetic(&stage, 5);
    let (port, copy) = (free_port(), stage.path("copy.ts"));
    let sdp = describe(&stage, port);
    let line = format!("ffmpeg -v error -protocol_whitelist file,udp,rtp -i {sdp} -map 0:v -c copy {copy}");
    let ffmpeg = Program::line(&stage, "ffmpeg", &line);
    wait_for_port(port);
    send(&clip, port);
    // RTCP's BYE ends the file.
    ffmpeg.end().expect_no_complaint(|_| false);
    // A picture of unbounded length ends where the next one begins, and the last one has no next one.
    expect_frames(&decode(&stage, &copy), &clip.frames, 0, 1);
}

#[test]
fn ffmpeg_receives_from_an_rtp_url() {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let clip = Clip::synthetic(&stage, 5);
    let (port, copy) = (free_port(), stage.path("copy.ts"));
    let line = format!("ffmpeg -v fatal -i rtp://127.0.0.1:{port} -map 0:v -c copy {copy}");
    let ffmpeg = Program::line(&stage, "ffmpeg", &line);
    wait_for_port(port);
    send(&clip, port);
    ffmpeg.end().expect_no_complaint(|_| false);
    // ffmpeg probes one packet and discards it, so the copy begins with the second group of pictures.
    expect_frames(&decode(&stage, &copy), &clip.frames, 12, 1);
}

#[test]
fn gstreamer_receives_every_byte() {
    let Some(stage) = Stage::enter(&[FFMPEG, GSTREAMER]) else { return };
    let clip = Clip::synthetic(&stage, 5);
    let sent = std::fs::read(&clip.path).expect("the clip");
    for (nth, chain) in ["rtpjitterbuffer", "rtpbin.recv_rtp_sink_0 rtpbin name=rtpbin"].into_iter().enumerate() {
        let (port, copy) = (free_port(), stage.path(&format!("copy{nth}.ts")));
        let source = format!("udpsrc port={port} caps={CAPS}");
        let line = format!("gst-launch-1.0 -e {source} ! {chain} ! rtpmp2tdepay ! filesink location={copy}");
        let gstreamer = Program::line(&stage, "gst-launch", &line);
        wait_for_port(port);
        send(&clip, port);
        gstreamer.interrupt();
        let ended = gstreamer.end();
        assert_eq!(ended.code, Some(0), "{}", ended.errors);
        let got = std::fs::read(&copy).expect("a copy");
        assert!(got == sent, "{chain}: {} of {} bytes", got.len(), sent.len());
        expect_frames(&decode(&stage, &copy), &clip.frames, 0, 0);
    }
}

#[test]
fn vlc_receives_every_frame() {
    let Some(stage) = Stage::enter(&[FFMPEG, VLC]) else { return };
    let clip = Clip::synthetic(&stage, 5);
    let (port, copy) = (free_port(), stage.path("copy.ts"));
    let mut vlc = Command::new("vlc");
    vlc.args(["-q", "-I", "dummy", "--no-audio"]).arg(format!("rtp://127.0.0.1:{port}"));
    vlc.arg(format!("--sout=#std{{access=file,mux=ts,dst={copy}}}"));
    let vlc = Program::start(&stage, "vlc", unprivileged(&mut vlc, stage.directory()));
    wait_for_port(port);
    send(&clip, port);
    vlc.interrupt();
    vlc.end();
    // VLC's muxer holds half a second, and cuts the picture that it writes when it is stopped.
    let mut frames = decode(&stage, &copy);
    frames.pop();
    expect_frames(&frames, &clip.frames, 0, 13);
}
