//! `thalweg play` as its users run it, beside `thalweg serve --rtsp` and a scripted server without R3CP+. ffmpeg makes the
//! videos and decodes the output, where it is installed.

mod failures;
mod scripted;

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;

use crate::common::Running;

/// A folder of its own, which is empty.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("play-{name}"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The output of ffmpeg, if it is installed.
fn ffmpeg(line: &str) -> Option<String> {
    let words = line.split_whitespace();
    let Ok(output) = Command::new("ffmpeg").args(["-v", "error", "-y"]).args(words).stdin(Stdio::null()).output()
    else {
        println!("skipped: no ffmpeg");
        return None;
    };
    assert!(output.status.success(), "ffmpeg {line}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The hash of each decoded picture or piece of sound.
fn decoded(file: &str, stream: &str) -> Vec<String> {
    let text = ffmpeg(&format!("-i {file} -map 0:{stream} -fps_mode passthrough -f framemd5 -")).expect("ffmpeg");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.rsplit(", ").next()).map(str::to_owned).collect()
}

/// A server of a folder with this video of 3 s, made by ffmpeg, if it is installed.
fn serving(name: &str, video: &str, coding: &str) -> Option<(Running, String, String)> {
    serving_for(3, name, video, coding)
}

/// The same for a video of this length in seconds.
fn serving_for(length: u32, name: &str, video: &str, coding: &str) -> Option<(Running, String, String)> {
    let folder = folder(name);
    let path = folder.join(video).to_str().expect("UTF-8").to_owned();
    ffmpeg(&format!(
        "-f lavfi -i testsrc=s=320x240:r=25:d={length} -f lavfi -i sine=d={length} -shortest {coding} {path}"
    ))?;
    let server = Running::start(&["serve", folder.to_str().expect("UTF-8"), "--rtsp", "127.0.0.1:0"]);
    let url = format!("{}{video}", server.address("listening", "rtsp_url"));
    Some((server, url, path))
}

const MP4: &str = "-c:v libx264 -bf 2 -g 25 -pix_fmt yuv420p -c:a aac";

/// The output of the player, which must end with 0. The server is there all the time, and no standstill is reported.
fn play(url: &str, more: &[&str]) -> Vec<String> {
    let control: &[&str] = if more.contains(&"--transport") { &[] } else { &["--control", "r3cp"] };
    let mut player = Running::start(&[&["play", url], control, more].concat());
    player.succeeds();
    let lines = player.rest();
    assert!(!lines.iter().any(|line| line.contains("\"event\":\"still\"")), "{lines:?}");
    lines
}

#[test]
fn pictures_and_sound_are_those_of_the_file() {
    let Some((_server, url, file)) = serving("mp4", "a.mp4", MP4) else { return };
    let out = format!("{file}.ts");
    let events = play(&url, &["--output", &format!("file:{out}")]);
    assert!(events.iter().any(|line| line.contains("\"transport\":\"r3cp+\"")), "{events:?}");
    assert_eq!((decoded(&out, "v").len(), decoded(&out, "v")), (75, decoded(&file, "v")));
    // The encoder's delay is a frame that the edit list of the file leaves out.
    assert_eq!(decoded(&out, "a")[1..], decoded(&file, "a"));

    let plain = format!("{file}.plain.ts");
    let events = play(&url, &["--transport", "tcp", "--output", &format!("file:{plain}")]);
    assert!(events.iter().any(|line| line.contains("\"transport\":\"plain\"")), "{events:?}");
    assert_eq!(decoded(&plain, "v"), decoded(&file, "v"), "over TCP");

    let late = format!("{file}.late.ts");
    let events = play(&url, &["--from", "0:01.5", "--output", &format!("file:{late}")]);
    assert!(events.iter().any(|line| line.contains("\"from_seconds\":1,")), "{events:?}");
    assert_eq!(decoded(&late, "v"), decoded(&file, "v")[25..], "from the I picture before");
}

#[test]
fn mpeg_video_and_sound_are_those_of_the_transport_stream() {
    let coding = "-c:v mpeg1video -bf 2 -g 12 -b:v 800k -c:a mp2";
    let Some((_server, url, file)) = serving("ts", "a.ts", coding) else { return };
    let out = format!("{file}.out.ts");
    play(&url, &["--output", &format!("file:{out}")]);
    assert_eq!([decoded(&out, "v"), decoded(&out, "a")], [decoded(&file, "v"), decoded(&file, "a")]);
}

#[test]
fn frames_that_are_skipped_disturb_no_decoder() {
    let Some((_server, url, file)) = serving("skip", "a.mp4", MP4) else { return };
    let out = format!("{file}.ts");
    // Less than half of the pictures' rate, so that B and P are skipped.
    let mut player = Running::start(&["play", &url, "--max-rate", "100kbit", "--output", &format!("file:{out}")]);
    player.succeeds();
    let last = player.rest().into_iter().rfind(|line| line.contains("b_skipped_total")).expect("figures");
    let last: serde_json::Value = serde_json::from_str(&last).expect("JSON");
    assert!(last["b_skipped_total"].as_f64() > Some(0.0), "{last}");
    let decoder = Command::new("ffmpeg").args(["-v", "error", "-i", &out, "-f", "null", "-"]).output().expect("ffmpeg");
    assert_eq!(
        (decoder.status.success(), String::from_utf8_lossy(&decoder.stderr).into_owned()),
        (true, String::new())
    );
}

#[test]
fn pictures_at_the_videos_own_pace_are_in_time() {
    // Without B no picture is decoded before its display, and none has time to spare but by the buffer.
    let coding = "-c:v libx264 -bf 0 -g 25 -pix_fmt yuv420p -c:a aac";
    let Some((_server, url, file)) = serving("none", "a.mp4", coding) else { return };
    let output = format!("file:{file}.ts");
    let mut player = Running::start(&["play", &url, "--control", "none", "--store", "0s", "--output", &output]);
    player.succeeds();
    let last = player.rest().into_iter().rfind(|line| line.contains("playable_ratio")).expect("figures");
    let last: serde_json::Value = serde_json::from_str(&last).expect("JSON");
    assert!(last["playable_ratio"].as_f64() > Some(0.95), "{last}");
}

#[test]
fn video_that_is_cut_off_is_a_failure_at_its_position() {
    let Some((_server, url, file)) = serving_for(12, "cut", "a.mp4", MP4) else { return };
    let whole = fs::read(&file).expect("a file");
    for transport in [["--control", "r3cp"], ["--transport", "tcp"]] {
        let out = format!("file:{file}{}.ts", transport[0]);
        let mut player = Running::start(&[&["play", &url, "--output", &out], &transport[..]].concat());
        player.wait_for("a picture", |value| value["position_seconds"].as_f64().is_some_and(|at| at > 0.5));
        fs::write(&file, &whole[..whole.len() / 2]).expect("a file");
        let ended = player.event("ended");
        assert_eq!(ended["reason"], "cut_off");
        // What the server had sent, and not what the file had before.
        assert!(ended["position_seconds"].as_f64().is_some_and(|at| (0.5..9.0).contains(&at)), "{ended}");
        assert_eq!(player.end().code(), Some(1));
        let line = player.last_line();
        assert!(line.starts_with(&format!("thalweg: {url}: the server has ended the video at 0:00:0")), "{line}");
        assert!(line.contains(" of 0:00:12.0; "), "{line}");
        fs::write(&file, &whole).expect("a file");
    }
}

#[test]
fn command_gets_the_stream_and_its_exit_code_is_that_of_play() {
    let Some((_server, url, file)) = serving("exec", "a.mp4", MP4) else { return };
    let mut player = Running::start(&["play", &url, "--exec", &format!("cat > {file}.ts; exit 7")]);
    assert_eq!(player.end().code(), Some(7));
    let lines = player.rest();
    assert!(lines.iter().any(|line| line.contains("exit 7': ended with exit code 7; playback ends")), "{lines:?}");
    assert!(fs::metadata(format!("{file}.ts")).expect("a file").len() > 10_000);
    let mut player = Running::start(&["play", &url, "--exec", "head -c 188 > /dev/null; exit 3"]);
    assert_eq!(player.end().code(), Some(3), "a player that ends before the video");
    let mut player = Running::start(&["play", &url, "--exec", "no-such-player -"]);
    assert_eq!(player.end().code(), Some(127));
    let text =
        "command 'no-such-player -': ended with exit code 127: the shell has not found it; playback ends with it";
    let lines = player.rest();
    assert!(lines.iter().any(|line| line.contains(text)), "{lines:?}");
}

#[test]
fn seek_by_key_is_timed_and_counts_go_on() {
    let Some((_server, url, _)) = serving_for(30, "seek", "a.mp4", MP4) else { return };
    let line = format!("{} play {url} --json 2>&1 > /dev/null", env!("CARGO_BIN_EXE_thalweg"));
    let script =
        Command::new("script").args(["-qfec", &line, "/dev/null"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut script) = script else {
        println!("skipped: no script");
        return;
    };
    let mut keys = script.stdin.take().expect("a pipe");
    let lines = BufReader::new(script.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    let mut lines = lines.filter_map(|line| serde_json::from_str::<serde_json::Value>(&line).ok());
    let packets = |line: &serde_json::Value| line["received_packets"].as_f64();
    let before = lines.find(|line| packets(line) > Some(10.0)).expect("figures");
    keys.write_all(b"\x1b[C").expect("a terminal");
    let to = lines.find(|line| line["event"] == "playing").expect("a seek");
    assert!(to["from_seconds"].as_f64() >= Some(9.0) && to["control"] == "r3cp+", "{to}");
    // Over loopback: probes of 0.2 s, and half a second of the video at its rate.
    let begun = lines.find(|line| line["event"] == "started").expect("a picture");
    assert!((0.2..1.5).contains(&begun["after_seconds"].as_f64().expect("a time")), "{begun}");
    let after = lines.find(|line| packets(line).is_some()).expect("figures");
    assert!(packets(&after) >= packets(&before), "{after}");
    keys.write_all(b"q").expect("a terminal");
    assert!(lines.any(|line| line["event"] == "ended"));
    assert!(script.wait().expect("a process").success());
}

#[test]
fn playback_continues_once_the_server_is_back() {
    let Some((mut server, url, file)) = serving("back", "a.mp4", MP4) else { return };
    let out = format!("{file}.ts");
    let output = format!("file:{out}");
    let mut player = Running::start(&["play", &url, "--control", "r3cp", "--store", "0s", "--output", &output]);
    player.wait_for("a picture", |value| value["position_seconds"].as_f64().is_some_and(|at| at > 0.5));
    server.child.kill().expect("a server");
    server.end();
    let lost = player.event("interrupted");
    assert_eq!(lost["reason"], "the server has closed the connection");
    let (address, _) = url["rtsp://".len()..].split_once('/').expect("a path");
    let folder = file.strip_suffix("/a.mp4").expect("its folder");
    let _server = Running::start(&["serve", folder, "--rtsp", address]);
    player.event("still");
    let back = player.event("playing");
    assert!(back["from_seconds"].as_f64().is_some_and(|from| from > 0.0), "{back}");
    player.succeeds();
    assert!(decoded(&out, "v").ends_with(&decoded(&file, "v")[50..]), "the last second");
}

/// The resident memory of a process in bytes.
fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024
}

#[test]
fn memory_without_a_store_is_small_and_does_not_grow() {
    let Some((_server, url, file)) = serving_for(14, "memory", "a.mp4", MP4) else { return };
    let output = format!("file:{file}.ts");
    let mut player = Running::start(&["play", &url, "--store", "0s", "--output", &output]);
    let at = |seconds: f64| {
        let is_there = |value: &serde_json::Value| value["position_seconds"].as_f64().is_some_and(|at| at >= seconds);
        player.wait_for("a position", is_there);
        resident(player.child.id())
    };
    let (early, late) = (at(3.0), at(12.0));
    assert!(late <= 40 << 20 && late <= early + (1 << 20), "{early} bytes, then {late}");
    player.succeeds();
}

#[test]
fn video_is_played_over_tcp_where_udp_is_blocked() {
    let Some((_server, url, file)) = serving("blocked", "a.mp4", MP4) else { return };
    // An address that forwards TCP and has no UDP.
    let (server, name) = url["rtsp://".len()..].split_once('/').expect("a path");
    let front = TcpListener::bind("127.0.0.2:0").expect("a port");
    let url = format!("rtsp://{}/{name}", front.local_addr().expect("its address"));
    let server = server.to_owned();
    thread::spawn(move || {
        for near in front.incoming().map_while(Result::ok) {
            let far = TcpStream::connect(&server).expect("a server");
            let ends = |stream: &TcpStream| stream.try_clone().expect("a descriptor");
            for (mut from, mut to) in [(ends(&near), ends(&far)), (ends(&far), ends(&near))] {
                thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        }
    });
    let out = format!("{file}.ts");
    let events = play(&url, &["--output", &format!("file:{out}")]);
    assert!(events.iter().any(|line| line.contains("playing over TCP without control")), "{events:?}");
    assert!(events.iter().any(|line| line.contains("\"transport\":\"plain\"")), "{events:?}");
    assert_eq!(decoded(&out, "v"), decoded(&file, "v"));
}
