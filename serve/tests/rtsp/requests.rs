//! Requests by hand, also such as a well-behaved player never sends.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use thalweg_serve::{Event, Limits};

use super::stage::{Client, Stage, mp4};

fn stage(name: &str) -> Option<Stage> {
    Stage::new(name, |folder| {
        std::fs::write(folder.join("no.mp4"), b"not a video").expect("a file");
        mp4(folder, "a b.mp4", 3)
    })
}

const INTERLEAVED: &str = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n";

fn set_up(client: &mut Client, url: &str) {
    assert_eq!(client.ask("SETUP", &format!("{url}/track1"), INTERLEAVED).status, 200);
    let second = "Transport: RTP/AVP/TCP;unicast;interleaved=2-3\r\n";
    assert_eq!(client.ask("SETUP", &format!("{url}/track2"), second).status, 200);
}

#[test]
fn errors_have_the_status_codes_of_the_rfc() {
    let Some(stage) = stage("errors") else { return };
    let (url, mut client) = (stage.url("a%20b.mp4"), stage.connect());
    let options = client.ask("OPTIONS", "*", "");
    assert_eq!(options.field("Public"), Some("OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, TEARDOWN, GET_PARAMETER"));
    let mut status = |method: &str, url: &str, lines: &str| client.ask(method, url, lines).status;
    assert_eq!(status("DESCRIBE", &stage.url("none.mp4"), ""), 404);
    assert_eq!(status("DESCRIBE", &stage.url("../a.mp4"), ""), 404);
    assert_eq!(status("DESCRIBE", &stage.url("no.mp4"), ""), 415);
    assert_eq!(status("DESCRIBE", &url, "Accept: text/html\r\n"), 406);
    assert_eq!(status("DESCRIBE", &url, "Require: a.b\r\n"), 551);
    assert_eq!(status("ANNOUNCE", &url, ""), 501);
    assert_eq!(status("PLAY", &url, ""), 455);
    assert_eq!(status("PLAY", &url, "Session: 1\r\n"), 454);
    assert_eq!(status("SETUP", &url, INTERLEAVED), 459);
    assert_eq!(status("SETUP", &format!("{url}/track3"), INTERLEAVED), 404);
    let track = format!("{url}/track1");
    assert_eq!(status("SETUP", &track, "Transport: RTP/AVP;multicast\r\n"), 461);
    let elsewhere = "Transport: RTP/AVP;unicast;destination=127.0.0.2;client_port=5000-5001\r\n";
    assert_eq!(status("SETUP", &track, elsewhere), 461);
    set_up(&mut client, &url);
    let mut status = |method: &str, url: &str, lines: &str| client.ask(method, url, lines).status;
    assert_eq!(status("PLAY", &track, ""), 460);
    assert_eq!(status("PLAY", &url, "Range: npt=3600-\r\n"), 457);
    assert_eq!(status("PLAY", &url, "Range: npt=2-1\r\n"), 457);
    assert_eq!(status("PLAY", &url, "Range: clock=19961108T142300Z-\r\n"), 457);
    assert_eq!(status("GET_PARAMETER", &url, ""), 200);
    assert_eq!(status("GET_PARAMETER", &url, "Content-Length: 3\r\n\r\nabc"), 451);
    assert_eq!(status("TEARDOWN", &url, ""), 200);
    assert_eq!(client.stream.read(&mut [0]).expect("the end"), 0, "the connection ends with its session");
    let mut client = stage.connect();
    client.stream.write_all(b"GET / HTTP/1.1\r\n\r\n").expect("a request");
    assert_eq!(client.response().status, 400);
    assert_eq!(client.stream.read(&mut [0]).expect("the end"), 0);
}

#[test]
fn datagrams_without_reports_end_by_the_breaker_of_rfc_8083() {
    let make = |folder: &std::path::Path| mp4(folder, "long.mp4", 40);
    let Some(stage) = Stage::new("breaker", make) else { return };
    let (url, mut client) = (stage.url("long.mp4"), stage.connect());
    let [rtp, rtcp] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a port"));
    let [first, second] = [&rtp, &rtcp].map(|socket| socket.local_addr().expect("an address").port());
    let transport = format!("Transport: RTP/AVP;unicast;client_port={first}-{second}\r\n");
    assert_eq!(client.ask("SETUP", &format!("{url}/track1"), &transport).status, 200);
    assert_eq!(client.ask("PLAY", &url, "").status, 200);
    let start = Instant::now();
    rtcp.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    let mut buf = [0; 2000];
    // Goodbye is packet type 203, the last of its datagram: four bytes of header, the source, and an empty reason.
    while {
        let len = rtcp.recv(&mut buf).expect("a report");
        !buf[..len].windows(4).any(|window| window[..2] == [0x81, 203])
    } {}
    // Three intervals of five seconds without a report (§4.1), noticed with the next report of the sender.
    let after = start.elapsed().as_secs_f64();
    assert!((15.0..24.0).contains(&after), "after {after} s");
    assert!(matches!(stage.server.poll_event(), Some(Event::Broken { why, .. }) if why.contains("no report arrives")));
}

#[test]
fn session_ends_after_its_timeout_unless_the_client_is_heard() {
    let limits = Limits { session: Duration::from_secs(2), ..Limits::default() };
    let make = |folder: &std::path::Path| mp4(folder, "a.mp4", 12);
    let Some(stage) = Stage::with("timeout", limits, make) else { return };
    let (url, mut client) = (stage.url("a.mp4"), stage.connect());
    let (rtp, mut buf) = (UdpSocket::bind("127.0.0.1:0").expect("a port"), [0; 2000]);
    rtp.set_read_timeout(Some(Duration::from_secs(1))).expect("a timeout");
    let port = rtp.local_addr().expect("an address").port();
    let transport = format!("Transport: RTP/AVP;unicast;client_port={port}\r\n");
    let setup = client.ask("SETUP", &format!("{url}/track1"), &transport);
    assert!(setup.field("Session").expect("a session").ends_with(";timeout=2"), "{setup:?}");
    assert_eq!(client.ask("PLAY", &url, "").status, 200);
    let start = Instant::now();
    for _ in 0..3 {
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(client.ask("GET_PARAMETER", &url, "").status, 200, "kept alive");
    }
    while rtp.recv(&mut buf).is_ok() {}
    // The last packet leaves two seconds after the last request; the wait for another one takes a second.
    let silent = start.elapsed().as_secs_f64();
    assert!((5.5..8.0).contains(&silent), "silent after {silent} s");
    assert_eq!(client.stream.read(&mut [0]).expect("the end"), 0);
}

#[test]
fn half_open_connections_do_not_disturb_a_viewer_or_keep_out_others() {
    let Some(stage) = stage("half-open") else { return };
    let (url, mut viewer) = (stage.url("a%20b.mp4"), stage.connect());
    set_up(&mut viewer, &url);
    assert_eq!(viewer.ask("PLAY", &url, "").status, 200);
    let (start, begun) = (Instant::now(), packets(&mut viewer, 1)[0].0);
    let crowd: Vec<_> = (0..1000).map(|_| stage.connect()).collect();
    let mut half = stage.connect();
    half.stream.write_all(b"DESCRIBE rtsp://127.0.0.1/").expect("half a request");
    assert_eq!(stage.connect().ask("DESCRIBE", &url, "").status, 200);
    // Two seconds of the video, at its pace.
    while packets(&mut viewer, 1)[0].0.wrapping_sub(begun) < 2 * 90_000 {}
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    drop(crowd);
}

#[test]
fn file_that_changes_ends_its_streams_with_a_goodbye() {
    let Some(stage) = stage("changed") else { return };
    let (url, mut client) = (stage.url("a%20b.mp4"), stage.connect());
    set_up(&mut client, &url);
    assert_eq!(client.ask("PLAY", &url, "").status, 200);
    packets(&mut client, 5);
    let path = stage.folder.join("a b.mp4");
    let file = std::fs::File::options().write(true).open(path).expect("a file");
    file.set_len(20_000).expect("it is truncated");
    let mut goodbyes = 0;
    while goodbyes < 2 {
        assert_eq!(client.byte(), b'$');
        let (channel, bytes) = client.packet();
        let is_goodbye = bytes.windows(2).any(|window| window == [0x81, 203]);
        goodbyes += usize::from(channel % 2 == 1 && is_goodbye);
    }
    let mut events = std::iter::from_fn(|| stage.server.poll_event());
    assert!(events.any(|event| matches!(event, Event::Broken { why, .. } if why.contains("has changed"))));
    // The connection is as good as before.
    assert_eq!(client.ask("DESCRIBE", &url, "").status, 415);
}

#[test]
fn description_has_tracks_and_duration() {
    let Some(stage) = stage("describe") else { return };
    let url = stage.url("a%20b.mp4");
    let response = stage.connect().ask("DESCRIBE", &url, "Accept: application/sdp\r\n");
    assert_eq!((response.status, response.field("Content-Base")), (200, Some(&*format!("{url}/"))));
    for line in [
        "s=a b.mp4",
        "a=range:npt=0-3.0",
        "m=video 0 RTP/AVP 96",
        "a=control:track1",
        "a=rtpmap:97 mpeg4-generic/44100/1",
    ] {
        assert!(response.body.contains(line), "{line}: {}", response.body);
    }
}

/// The timestamps and numbers of the next packets of video on channel 0.
fn packets(client: &mut Client, count: usize) -> Vec<(u32, u16)> {
    let mut packets = Vec::new();
    while packets.len() < count {
        assert_eq!(client.byte(), b'$');
        let (channel, bytes) = client.packet();
        if channel == 0 {
            let word = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().expect("a word"));
            packets.push((word(4), word(0) as u16));
        }
    }
    packets
}

/// The value of `rtptime` or `seq` of the first track.
fn info(response: &super::stage::Response, name: &str) -> u32 {
    let info = response.field("RTP-Info").expect("RTP-Info");
    let value = info.split([';', ',']).find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
    value.expect("a value").parse().expect("a number")
}

#[test]
fn play_begins_where_the_response_says_and_goes_on_after_a_pause() {
    let Some(stage) = stage("play") else { return };
    let (url, mut client) = (stage.url("a%20b.mp4"), stage.connect());
    set_up(&mut client, &url);
    let played = client.ask("PLAY", &url, "Range: npt=1.7-\r\n");
    // Random access points are a second apart.
    assert!(played.field("Range").expect("a range").starts_with("npt=1.0"), "{played:?}");
    let first = packets(&mut client, 5);
    assert_eq!((first[0].0, u32::from(first[0].1)), (info(&played, "rtptime"), info(&played, "seq")));
    let paused = client.ask("PAUSE", &url, "");
    assert_eq!(paused.status, 200);
    client.stream.set_read_timeout(Some(Duration::from_millis(300))).expect("a timeout");
    assert!(client.stream.read(&mut [0]).is_err(), "nothing is sent while it is paused");
    client.stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a timeout");
    let resumed = client.ask("PLAY", &url, "");
    let next = packets(&mut client, 1);
    assert_eq!(u32::from(next[0].1), info(&resumed, "seq"));
    assert!(next[0].0.wrapping_sub(first[0].0) < 90_000, "timestamps go on");
}

#[test]
fn datagrams_come_at_the_pace_of_the_video_and_end_with_the_connection() {
    let Some(stage) = stage("datagrams") else { return };
    let (url, mut client) = (stage.url("a%20b.mp4"), stage.connect());
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = socket.local_addr().expect("an address").port();
    let transport = format!("Transport: RTP/AVP;unicast;client_port={port}\r\n");
    let setup = client.ask("SETUP", &format!("{url}/track1"), &transport);
    assert!(setup.field("Transport").expect("a transport").contains(";server_port="), "{setup:?}");
    assert_eq!(client.ask("PLAY", &url, "").status, 200);
    let start = Instant::now();
    let mut buf = [0; 2000];
    let mut last = 0;
    while start.elapsed() < Duration::from_secs(1) {
        let len = socket.recv(&mut buf).expect("a datagram");
        assert!(len > 12 && len <= 1412);
        last = u32::from_be_bytes(buf[4..8].try_into().expect("a word"));
    }
    let first = info(&client.ask("PLAY", &url, ""), "rtptime");
    // The response has the timestamp of the instant; frames leave up to their reordering, two frames and one, ahead.
    let ahead = f64::from(last.wrapping_sub(first) as i32) / 90_000.0;
    assert!(ahead.abs() < 0.25, "{ahead} s from the pace of the video");
    drop(client);
    socket.set_read_timeout(Some(Duration::from_millis(500))).expect("a timeout");
    std::thread::sleep(Duration::from_millis(300));
    while let Ok((_, _)) = {
        socket.set_nonblocking(true).expect("a socket");
        socket.recv_from(&mut buf)
    } {}
    socket.set_nonblocking(false).expect("a socket");
    assert!(socket.recv(&mut buf).is_err(), "nothing is sent to a client that is gone");
}
