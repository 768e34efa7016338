//! A server on loopback, and clients that behave well and badly.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use thalweg_serve::law::Choice;
use thalweg_serve::{Event, Limits};

use crate::common::{Stage, TIMEOUT, parts, video};

#[test]
fn video_is_served_whole_and_in_ranges_over_one_connection() {
    let stage = Stage::new("whole", Choice::Paced, Limits::default());
    let (head, content) = stage.get("GET /video.webm HTTP/1.1");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("content-type: video/webm\r\n"), "{head}");
    assert!(content == video(3_000_000));
    let mut stream = stage.connect();
    for first in [0_usize, 1_000_000, 2_999_000] {
        let last = first + 999;
        write!(stream, "GET /video.webm HTTP/1.1\r\nHost: a\r\nRange: bytes={first}-{last}\r\n\r\n")
            .expect("a request");
        let mut bytes = vec![0; 4096];
        let mut read = 0;
        while !bytes[..read].windows(4).any(|four| four == b"\r\n\r\n") || parts(bytes[..read].to_vec()).1.len() < 1000
        {
            read += stream.read(&mut bytes[read..]).expect("an answer");
        }
        let (head, content) = parts(bytes[..read].to_vec());
        assert!(head.starts_with("HTTP/1.1 206 ") && head.contains(&format!("bytes {first}-{last}/3000000")), "{head}");
        assert!(content == video(3_000_000)[first..=last]);
    }
    let (head, content) = stage.get("HEAD /video.webm HTTP/1.1");
    assert!(head.contains("content-length: 3000000\r\n") && content.is_empty(), "{head}");
    let (head, content) = stage.get("GET / HTTP/1.1");
    let page = String::from_utf8(content).expect("text");
    assert!(head.contains("text/html") && page.contains("<a href=\"/video.webm\""), "{head}{page}");
    let (head, _) = stage.get("GET /.thalweg/dash.min.js HTTP/1.1");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert_eq!((stage.value("requests_total"), stage.value("refused_requests_total")), (7.0, 0.0));
}

#[test]
fn invalid_requests_are_answered_and_the_server_continues() {
    let stage = Stage::new("wrong", Choice::Paced, Limits::default());
    for (request, status) in [
        ("GET /../../etc/passwd HTTP/1.1", 400),
        ("GET /none HTTP/1.1", 404),
        ("GET /video.webm HTTP/1.1\r\nRange: bytes=3000000-", 416),
        ("DELETE /video.webm HTTP/1.1", 405),
        ("nonsense", 400),
        (&format!("GET /{} HTTP/1.1", "a".repeat(100_000)), 414),
    ] {
        // A client that sends too much may be cut off before its end.
        let mut stream = stage.connect();
        let _ = write!(stream, "{request}\r\nHost: a\r\nConnection: close\r\n\r\n");
        let mut bytes = vec![0; 12];
        match stream.read_exact(&mut bytes) {
            Ok(()) => {
                let line = String::from_utf8_lossy(&bytes).into_owned();
                let other = if status == 414 { "431" } else { "400" };
                assert!(line.ends_with(&status.to_string()) || line.ends_with(other), "{request:.40}: {line}");
            }
            Err(error) => assert_eq!((error.kind(), status), (ErrorKind::ConnectionReset, 414)),
        }
    }
    assert!(stage.get("GET /video.webm HTTP/1.1").1 == video(3_000_000));
    assert_eq!((stage.value("requests_total"), stage.value("refused_requests_total")), (5.0, 4.0));
    stage.wait_until("count", |stage| stage.value("bad_requests_total") == 2.0);
}

#[test]
fn requests_for_other_versions_or_tls_are_refused_and_counted() {
    let stage = Stage::new("other", Choice::Paced, Limits::default());
    let answer = |request: &[u8]| {
        let mut stream = stage.connect();
        stream.write_all(request).expect("a request");
        let mut bytes = Vec::new();
        // A close, or a reset if bytes were left unread.
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let response = answer(b"\x16\x03\x01\x00\x04\x01\x00\x00\x00");
    assert!(
        response.starts_with("HTTP/1.1 400 ")
            && response.ends_with("\r\n\r\nthis port does not use TLS; use http://\r\n"),
        "{response}"
    );
    let (head, content) = parts(response.into_bytes());
    assert!(head.contains(&format!("content-length: {}\r\n", content.len())), "{head}");
    stage.wait_until("word of it", |stage| stage.server.poll_event() == Some(Event::AskedForTls));
    assert!(answer(b"GET / HTTP/2.0\r\n\r\n").starts_with("HTTP/1.1 400 "));
    answer(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    stage.wait_until("count", |stage| stage.value("bad_requests_total") == 3.0);
    assert_eq!(stage.value("requests_total"), 0.0);
    assert!(answer(b"GET / HTTP/1.0\r\n\r\n").starts_with("HTTP/1.0 200 "));
    assert_eq!((stage.value("requests_total"), stage.value("refused_requests_total")), (1.0, 0.0));
}

/// RFC 9112 §3.2: one Host, with a host and perhaps a port, or with nothing.
#[test]
fn requests_without_one_valid_host_are_refused() {
    let stage = Stage::new("host", Choice::Paced, Limits::default());
    let answer = |version: &str, fields: &str| {
        let mut stream = stage.connect();
        write!(stream, "GET / HTTP/{version}\r\n{fields}Connection: close\r\n\r\n").expect("a request");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("an answer");
        response
    };
    for host in ["a", "videos.example:8080", "192.0.2.1", "[2001:db8::1]:80", "a:", ""] {
        let response = answer("1.1", &format!("Host: {host}\r\n"));
        assert!(response.starts_with("HTTP/1.1 200 "), "{host}: {response}");
    }
    let invalid = ["a b c/<>", "a/b", "http://a", "me@a", "a@a", "a:b", "a:1:2", "[::1", "\u{fc}"];
    let invalid = invalid.map(|host| format!("Host: {host}\r\n"));
    for fields in ["", "Host: a\r\nHost: b\r\n"].into_iter().chain(invalid.iter().map(String::as_str)) {
        let response = answer("1.1", fields);
        assert!(response.starts_with("HTTP/1.1 400 ") && response.ends_with(" Host field\n"), "{fields}{response}");
    }
    // HTTP/1.0 does not require one.
    assert!(answer("1.0", "Host: a b\r\n").starts_with("HTTP/1.0 400 "));
    assert!(answer("1.0", "").starts_with("HTTP/1.0 200 "));
    assert_eq!((stage.value("requests_total"), stage.value("refused_requests_total")), (19.0, 12.0));
}

#[test]
fn paced_video_has_a_burst_then_its_rate_and_ends_with_its_client() {
    let stage = Stage::new("paced", Choice::Paced, Limits::default());
    fs::write(stage.folder.join("long.webm"), vec![7; 40_000_000]).expect("a file");
    let start = Instant::now();
    let mut stream = stage.ask("GET /long.webm HTTP/1.1");
    let mut bytes = vec![0; 1 << 16];
    let mut read = 0;
    while read < 10_600_000 {
        read += stream.read(&mut bytes).expect("a video");
    }
    // 10 MB at once; 0.6 MB more at 10 Mb/s take 0.48 s, and no machine makes time shorter.
    assert!(start.elapsed() >= Duration::from_millis(400), "{:?}", start.elapsed());
    assert_eq!((stage.value("playing"), stage.value("playing_rate_bps"), stage.value("paced")), (1.0, 8e6, 1.0));
    drop(stream);
    stage.wait_until("end of the connection", |stage| stage.value("connections") == 0.0);
    assert_eq!((stage.value("playing"), stage.value("paced")), (0.0, 0.0));
}

#[test]
fn stalled_and_idle_clients_are_closed() {
    let brief = Duration::from_millis(300);
    let limits = Limits { request: brief, stall: brief, ..Limits::default() };
    let stage = Stage::new("slow", Choice::System, limits);
    fs::write(stage.folder.join("long.webm"), vec![7; 40_000_000]).expect("a file");
    let stalled = stage.ask("GET /long.webm HTTP/1.1");
    let silent = stage.connect();
    let mut half_request = stage.connect();
    half_request.write_all(b"GET / HT").expect("half a request");
    stage.wait_until("connections", |stage| stage.value("connections_total") == 3.0);
    stage.wait_until("end of the connections", |stage| stage.value("connections") == 0.0);
    assert_eq!(stage.value("stalled_connections_total"), 1.0);
    drop((stalled, silent, half_request));
}

#[test]
fn slow_reader_is_served_and_does_not_delay_others() {
    let stage = Stage::new("trickle", Choice::System, Limits { stall: Duration::from_secs(5), ..Limits::default() });
    fs::write(stage.folder.join("long.webm"), video(40_000_000)).expect("a file");
    let mut slow = stage.ask("GET /long.webm HTTP/1.1");
    let mut bytes = Vec::new();
    // 4 MB/s for three seconds, of 40 MB, which no buffer holds.
    for _ in 0..30 {
        let at = bytes.len();
        bytes.resize(at + 400_000, 0);
        slow.read_exact(&mut bytes[at..]).expect("a video");
        thread::sleep(Duration::from_millis(100));
    }
    assert!(stage.get("GET /video.webm HTTP/1.1").1 == video(3_000_000));
    slow.read_to_end(&mut bytes).expect("the rest");
    assert!(parts(bytes).1 == video(40_000_000));
    assert_eq!(stage.value("stalled_connections_total"), 0.0);
}

#[test]
fn truncated_or_replaced_video_ends_its_connection() {
    let stage = Stage::new("changed", Choice::Paced, Limits::default());
    let path = stage.folder.join("long.webm");
    let whole = 40_000_000;
    for fault in ["cut off", "replaced"] {
        fs::write(&path, vec![7; whole]).expect("a file");
        let mut stream = stage.ask("GET /long.webm HTTP/1.1");
        let mut first = [0; 1000];
        stream.read_exact(&mut first).expect("a video");
        match fault {
            "cut off" => fs::File::options().write(true).open(&path).and_then(|file| file.set_len(1000)).expect("ours"),
            _ => {
                fs::write(stage.folder.join("new"), vec![8; whole]).expect("a file");
                fs::rename(stage.folder.join("new"), &path).expect("ours");
            }
        }
        let mut rest = Vec::new();
        // The end is early, as a close or as a reset.
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.len() < whole && !rest.contains(&8), "{fault}: {}", rest.len());
        let expected =
            Event::Broken { name: "long.webm".to_owned(), why: "the file changed while it was sent".to_owned() };
        let deadline = Instant::now() + TIMEOUT;
        while stage.server.poll_event().is_none_or(|event| event != expected) {
            assert!(Instant::now() < deadline, "{fault}: nothing is reported");
            thread::sleep(Duration::from_millis(5));
        }
    }
    assert_eq!(stage.value("changed_files_total"), 2.0);
    assert!(stage.get("GET /video.webm HTTP/1.1").1 == video(3_000_000));
}

#[test]
fn five_hundred_clients_are_served_concurrently_and_others_wait() {
    let stage = Stage::new("many", Choice::Paced, Limits { connections: 500, ..Limits::default() });
    let part = "GET /video.webm HTTP/1.1\r\nRange: bytes=1000-50999";
    let expected = video(51_000)[1000..].to_vec();
    let request = format!("{part}\r\nHost: a\r\n\r\n");
    let first: Vec<_> = (0..500)
        .map(|_| {
            let mut client = stage.connect();
            client.write_all(request.as_bytes()).expect("a request");
            client
        })
        .collect();
    stage.wait_until("five hundred", |stage| stage.value("requests_total") == 500.0);
    let waiting: Vec<_> = (0..100).map(|_| stage.ask(part)).collect();
    for mut client in &first {
        let mut bytes = Vec::new();
        while !bytes.ends_with(&expected) {
            let at = bytes.len();
            bytes.resize(at + 4096, 0);
            let read = client.read(&mut bytes[at..]).expect("an answer");
            assert_ne!(read, 0, "an end");
            bytes.truncate(at + read);
        }
        assert!(parts(bytes).1 == expected);
    }
    assert_eq!((stage.value("connections"), stage.value("connections_total")), (500.0, 500.0));
    drop(first);
    for mut client in waiting {
        let mut bytes = Vec::new();
        client.read_to_end(&mut bytes).expect("an answer");
        assert!(parts(bytes).1 == expected);
    }
    assert_eq!(stage.value("connections_total"), 600.0);
}

#[test]
fn rescan_finds_a_new_video_and_reports_its_fault() {
    let interval = Duration::from_millis(50);
    let stage = Stage::new("later", Choice::Paced, Limits { recheck: interval, ..Limits::default() });
    let _ = fs::remove_file(stage.folder.join("later.mp4"));
    fs::write(stage.folder.join("later.mp4"), "nonsense").expect("a file");
    stage.wait_until("video", |stage| stage.value("videos") == 2.0);
    let expected = Event::Fault { name: "later.mp4".to_owned(), why: "not an MP4 file".to_owned() };
    stage.wait_until("word of it", |stage| stage.server.poll_event().is_some_and(|event| event == expected));
    assert!(String::from_utf8_lossy(&stage.get("GET / HTTP/1.1").1).contains("later.mp4"));
    fs::remove_file(stage.folder.join("later.mp4")).expect("it is there");
}

#[test]
fn idle_connections_do_not_keep_other_addresses_out() {
    let stage = Stage::new("share", Choice::Paced, Limits { connections: 20, ..Limits::default() });
    fs::write(stage.folder.join("long.webm"), vec![7; 40_000_000]).expect("a file");
    let mut viewing = stage.ask("GET /long.webm HTTP/1.1");
    let mut bytes = [0; 1000];
    viewing.read_exact(&mut bytes).expect("a video");
    // Twenty have places, this one included; as many wait in line, and the line takes no more.
    let crowd: Vec<_> = (0..50).map(|_| stage.connect()).collect();
    stage.wait_until("twenty", |stage| stage.value("connections") == 20.0);
    let mut viewers = Vec::new();
    for last in 2..=9 {
        let mut viewer = stage.connect_from(last);
        viewer.write_all(b"GET /video.webm HTTP/1.1\r\nHost: a\r\nRange: bytes=0-9\r\n\r\n").expect("a request");
        let mut line = [0; 12];
        viewer.read_exact(&mut line).expect("an answer, with the crowd still there");
        assert_eq!(&line, b"HTTP/1.1 206");
        viewers.push(viewer);
    }
    // A displaced connection ends in its own time, after its successor has been answered.
    stage.wait_until("eight", |stage| stage.value("displaced_connections_total") == 8.0);
    assert_eq!(stage.value("connections"), 20.0);
    // The oldest of all, but not idle.
    for _ in 0..100 {
        viewing.read_exact(&mut bytes).expect("the video goes on");
    }
    drop(crowd);
    stage.wait_until("place", |stage| stage.value("connections") == 9.0);
}

#[test]
fn download_is_neither_counted_as_playing_nor_paced() {
    let stage = Stage::new("download", Choice::Paced, Limits::default());
    fs::write(stage.folder.join("long.webm"), vec![7; 40_000_000]).expect("a file");
    let mut stream = stage.ask("GET /long.webm HTTP/1.1");
    stream.read_exact(&mut [0; 1000]).expect("a video");
    assert_eq!(["downloads", "playing", "paced"].map(|name| stage.value(name)), [0.0, 1.0, 1.0]);
    drop(stream);
    stage.wait_until("end", |stage| stage.value("connections") == 0.0);
    let mut stream = stage.ask("GET /long.webm?download HTTP/1.1");
    stream.read_exact(&mut [0; 1000]).expect("a video");
    assert_eq!(["downloads", "playing", "paced"].map(|name| stage.value(name)), [1.0, 0.0, 0.0]);
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).expect("all of it");
    stage.wait_until("end", |stage| stage.value("downloads") == 0.0);
}
