//! The command lines of docs/peers.md and of README.md, run as they are printed.

use std::process::Command;
use std::time::Duration;

use crate::peers::clip::{Clip, decode_with_errors, expect_frames};
use crate::peers::program::Program;
use crate::peers::stage::{FFMPEG, GSTREAMER, SRT, Stage, Tool, VLC, free_port, is_open, unprivileged};

const PAGE: &str = include_str!("../../../docs/peers.md");
const README: &str = include_str!("../../../README.md");
/// Ports of the page; each is replaced by a free one.
const PORTS: [&str; 5] = ["5000", "5001", "6000", "7000", "8000"];

#[test]
fn documented_ffmpeg_commands_work() {
    run(PAGE, "## ffmpeg", &[FFMPEG], 25);
}

#[test]
fn documented_gstreamer_commands_work() {
    run(PAGE, "## GStreamer", &[FFMPEG, GSTREAMER], 25);
}

#[test]
fn documented_vlc_commands_work() {
    // VLC's buffers are lost when it ends, at the source and behind the receiver.
    run(PAGE, "## VLC", &[FFMPEG, VLC], 100);
}

#[test]
fn readme_commands_work() {
    run(README, "## A video", &[FFMPEG, GSTREAMER, VLC], 100);
}

#[test]
fn documented_srt_commands_work() {
    // The buffer of the last program is lost when it is stopped.
    run(PAGE, "## SRT", &[FFMPEG, SRT], 25);
}

/// Runs every block of a section of a page; up to `unfinished` pictures may be missing at the end.
fn run(page: &str, section: &str, tools: &[Tool], unfinished: usize) {
    let Some(stage) = Stage::enter(tools) else { return };
    let clip = Clip::synthetic(&stage, 5);
    std::fs::rename(&clip.path, stage.path("video.ts")).expect("in one directory");
    let (_, section) = page.split_once(section).expect("the page has the section");
    let section = section.split("\n## ").next().expect("its text");
    let blocks: Vec<&str> = section.split("```sh\n").skip(1).filter_map(|text| text.split("```").next()).collect();
    assert!(blocks.len() > 1, "{section}");
    for block in blocks {
        println!("{block}");
        run_block(&stage, block);
        expect_pictures(&stage, &clip, unfinished);
    }
}

/// Starts one line after the other, each once the previous one has opened its port. The last ends by itself; the others
/// are then asked to stop.
fn run_block(stage: &Stage, block: &str) {
    let ports = PORTS.map(|port| (port, free_port()));
    let lines: Vec<String> = block.lines().map(|line| with_ports(line, &ports)).collect();
    let (last, before) = lines.split_last().expect("a line");
    let open = || ports.iter().filter(|(_, port)| is_open(*port)).count();
    let mut running = Vec::new();
    for line in before {
        let before = open();
        running.push(start(stage, &format!("line{}", running.len()), line));
        crate::common::wait_until(&format!("port of {line}"), || open() > before);
    }
    // Time for the handshake of sender and receiver, and for programs to open their outputs.
    std::thread::sleep(Duration::from_secs(1));
    let source = start(stage, "last", last).end();
    assert_eq!(source.code, Some(0), "{last}\n{}", source.errors);
    // Time for the latency, and for the buffer of a decoder.
    std::thread::sleep(Duration::from_secs(1));
    running.iter().rev().for_each(Program::interrupt);
    for program in running {
        program.end();
    }
}

fn with_ports(line: &str, ports: &[(&str, u16)]) -> String {
    // By marks: a free port can begin with the digits of the next one to be replaced.
    let marked = ports.iter().enumerate().fold(line.to_owned(), |line, (nth, (port, _))| {
        line.replace(&format!(":{port}"), &format!(":<{nth}>"))
            .replace(&format!("port={port}"), &format!("port=<{nth}>"))
    });
    ports.iter().enumerate().fold(marked, |line, (nth, (_, free))| line.replace(&format!("<{nth}>"), &free.to_string()))
}

/// Starts a line in a shell that finds `thalweg`.
fn start(stage: &Stage, name: &str, line: &str) -> Program {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_thalweg")).parent().expect("a directory").display();
    let path = format!("{binary}:{}", std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(line).env("PATH", path);
    if line.starts_with("cvlc") {
        unprivileged(&mut shell, stage.directory());
    }
    Program::start(stage, name, &mut shell)
}

/// Expects the video in `out.ts`: from its first or second group of pictures on, without a gap, all pictures but the
/// `unfinished` last ones. The picture at which a program was stopped may be cut.
fn expect_pictures(stage: &Stage, clip: &Clip, unfinished: usize) {
    let out = stage.path("out.ts");
    let mut frames = decode_with_errors(stage, &out);
    std::fs::remove_file(out).expect("our own directory");
    frames.pop();
    expect_frames(&frames, &clip.frames, 12, unfinished);
}
