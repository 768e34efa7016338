//! Failures and refusals of `thalweg play`, each in one line.

use std::fs;
use std::io::{self, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;

use super::scripted::{scripted, sound};
use super::{MP4, folder, serving};
use crate::common::{Running, run};

/// The URL of a server of another protocol, which greets with these bytes.
fn greeting(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("rtsp://{}/a", listener.local_addr().expect("its address"));
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a player");
        stream.write_all(bytes).expect("a player");
        // Silent, and open.
        let _ = io::copy(&mut stream, &mut io::sink());
    });
    url
}

#[test]
fn failures_are_one_line_each() {
    let folder = folder("failures");
    fs::write(folder.join("a.txt"), "no video").expect("a file");
    let server = Running::start(&["serve", folder.to_str().expect("UTF-8"), "--rtsp", "127.0.0.1:0"]);
    let base = server.address("listening", "rtsp_url");
    let unused = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address");
    for (url, expected) in [
        (format!("{base}absent.mp4"), "refused by the server: no such file (RTSP 404)"),
        (format!("{base}a.txt"), "refused by the server: neither MP4 nor an MPEG transport stream (RTSP 415)"),
        (format!("rtsp://{unused}/a.mp4"), &format!("connection refused by {unused}, where serve --rtsp must listen")),
        (scripted(|_| "200 OK\r\n".to_owned()), "the server sent an empty description"),
        ("rtsp://nosuch.invalid/a.mp4".to_owned(), "name or service not known"),
        (scripted(|_| "401 Unauthorized\r\n".to_owned()), "the server asks for a user and a password"),
        (scripted(|_| "302 Moved\r\nLocation: rtsp://b/c\r\n".to_owned()), "the server redirects to rtsp://b/c"),
        (scripted(|_| "200 OK\r\n\r\nv=0\r\nm=video x\r\n".to_owned()), "malformed response: SDP: line 2"),
        (scripted(|_| "200 OK\r\n\r\nv=0\r\ns=-\r\nt=0 0\r\n".to_owned()), "no track is H.264"),
        (scripted(|_| format!("200 OK\r\nX: {}\r\n", "x".repeat(70_000))), "malformed response"),
        (scripted(|_| "2000000 OK\r\n".to_owned()), "malformed response"),
        (scripted(|method| sound(method, "Transport: RTP/AVP/TCP;interleaved=9-x")), "malformed response: "),
        (scripted(|method| sound(method, "X: no transport")), "malformed response: "),
    ] {
        let (code, stdout, stderr) = run(&["play", &url, "--quiet", "--output", "udp://127.0.0.1:9"]);
        assert_eq!((code, stdout.as_str(), stderr.lines().count()), (1, "", 1), "{stderr}");
        assert!(stderr.starts_with(&format!("thalweg: {url}: {expected}")), "{stderr}");
    }
}

#[test]
fn options_that_cannot_be_kept_are_refused_in_one_line() {
    for (args, expected) in [
        (&["http://a/b", "--quiet"][..], "expected rtsp://HOST[:PORT]/NAME"),
        (&["rtsp://a/b", "--from=1:75"], "expected seconds, M:SS or H:MM:SS"),
        (&["rtsp://a/b", "--set=speed=1"], "speed"),
        (&["rtsp://a/b", "--control=bbr"], "r3cp+, r3cp, tfcc or none"),
        (&["rtsp://a/b", "--transport=quic"], "udp"),
        (
            &["rtsp://a/b", "--transport=tcp", "--control=r3cp"],
            "--transport tcp has no control, which --control is for",
        ),
        (&["rtsp://a/b", "--transport=tcp", "--store=1s"], "--transport tcp has no control, which --store is for"),
        (&["rtsp://a/b", "--max-rate=20kbit"], "must be at least 50kbit"),
        (&["rtsp://a/b", "--max-rate=0"], "must be at least 50kbit"),
        (&["rtsp://a/b", "--output=/a/b.ts"], "; for a file: file:/a/b.ts"),
    ] {
        let (code, _, stderr) = run(&[&["play", "--output", "udp://127.0.0.1:9"], args].concat());
        assert_eq!((code, stderr.lines().count()), (2, 1), "{stderr}");
        assert!(stderr.contains(expected), "{stderr}");
    }
}

#[test]
fn peer_of_another_protocol_is_named_before_it_has_answered() {
    for (bytes, protocol) in [(&b"SSH-2.0-OpenSSH_9.6\r\n"[..], "SSH"), (b"HTTP/1.1 400 Bad Request\r\n", "HTTP")] {
        let url = greeting(bytes);
        let (code, _, line) = run(&["play", &url, "--quiet", "--output", "udp://127.0.0.1:9"]);
        let peer = url["rtsp://".len()..].trim_end_matches("/a");
        let expected = format!("thalweg: {url}: {peer} speaks {protocol}, not RTSP; use the port of serve --rtsp\n");
        assert_eq!((code, line), (1, expected));
    }
}

#[test]
fn terminal_is_refused_as_output() {
    let Ok(there) = Command::new("script").arg("--version").output() else {
        println!("skipped: no script");
        return;
    };
    assert!(there.status.success());
    let command = format!("{} play rtsp://127.0.0.1:9/a.mp4", env!("CARGO_BIN_EXE_thalweg"));
    let output = Command::new("script").args(["-qec", &command, "/dev/null"]).stdin(Stdio::null()).output();
    let output = output.expect("it was there");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!((output.status.code(), text.lines().count()), (Some(2), 1), "{text}");
    assert!(text.starts_with("thalweg: play: standard output is a terminal"), "{text}");
}

#[test]
fn start_behind_the_end_is_refused_in_one_line() {
    let Some((_server, url, _)) = serving("behind", "a.mp4", MP4) else { return };
    let (code, _, line) = run(&["play", &url, "--from", "1:00", "--quiet", "--output", "udp://127.0.0.1:9"]);
    assert_eq!((code, line.lines().count()), (1, 1), "{line}");
    assert!(line.contains(" is not before the end of the video, 3.0") && line.contains("(RTSP 457)"), "{line}");
}
