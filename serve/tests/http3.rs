//! HTTP/3 from a server on loopback, to clients that behave well and badly. The tests of the program use `gtlsclient`.

use std::fs;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hyper::{Method, Request, StatusCode};
use quinn::VarInt;
use thalweg_serve::Limits;
use thalweg_serve::law::Choice;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::common::http3::{Client, connect, endpoint, endpoint_at, read, runtime};
use crate::common::{Stage, TIMEOUT, video};

/// Checks that a new client gets the whole video.
fn assert_video_is_served(stage: &Stage) {
    runtime().block_on(async {
        let mut client = Client::new(&endpoint(1 << 20), stage.local()).await;
        assert!(client.get("/video.webm", &[]).await.1 == video(3_000_000));
    });
}

#[test]
fn videos_are_served_whole_and_in_ranges_and_bad_requests_answered() {
    let stage = Stage::secure("h3-whole", Choice::TcpStream, Limits::default());
    runtime().block_on(async {
        let endpoint = endpoint(1 << 20);
        let mut client = Client::new(&endpoint, stage.local()).await;
        let (head, content) = client.get("/video.webm", &[]).await;
        assert_eq!(
            (head.status(), &head.headers()["content-type"]),
            (StatusCode::OK, &"video/webm".parse().expect("it"))
        );
        assert!(content == video(3_000_000));
        let (head, content) = client.get("/video.webm", &[("range", "bytes=1000000-1000999")]).await;
        assert_eq!(
            (head.status(), &head.headers()["content-range"]),
            (StatusCode::PARTIAL_CONTENT, &"bytes 1000000-1000999/3000000".parse().expect("it"))
        );
        assert!(content == video(3_000_000)[1_000_000..1_001_000]);
        for (path, range, status) in [
            ("/video.webm", "bytes=3000000-", 416),
            ("/none", "", 404),
            ("/../../etc/passwd", "", 400),
            ("/%2e%2e/%2e%2e/etc/passwd", "", 400),
            ("/.hidden", "", 404),
            ("/", "", 200),
        ] {
            let (head, _) = client.get(path, &[("range", range)]).await;
            assert_eq!(head.status(), status, "{path}");
        }
        let (head, _) = client.ask(Method::DELETE, "/video.webm", &[]).await;
        assert_eq!(head.status(), 405);
        let (head, mut stream) = client.ask(Method::HEAD, "/video.webm", &[]).await;
        assert_eq!(head.headers()["content-length"], "3000000");
        assert!(read(&mut stream, usize::MAX).await.is_empty());
        assert_eq!((stage.value("quic_connections"), stage.value("connections")), (1.0, 1.0));
        client.connection.close(VarInt::from_u32(0x100), b"");
        endpoint.wait_idle().await;
    });
    stage.wait_until("end", |stage| stage.value("connections") == 0.0);
    assert_eq!((stage.value("quic_requests_total"), stage.value("requests_total")), (10.0, 10.0));
    assert_eq!((stage.value("refused_requests_total"), stage.value("failed_handshakes_total")), (6.0, 0.0));
}

#[test]
fn concurrent_streams_of_a_connection_carry_their_own_bytes() {
    let stage = Stage::secure("h3-many", Choice::TcpStream, Limits::default());
    runtime().block_on(async {
        let mut client = Client::new(&endpoint(1 << 20), stage.local()).await;
        let mut streams = Vec::new();
        // More than the server takes at a time: the rest waits until one has ended.
        for part in 0..30 {
            let range = format!("bytes={}-", part * 90_000);
            streams.push((part * 90_000, client.ask(Method::GET, "/video.webm", &[("range", &range)]).await.1));
        }
        for (first, mut stream) in streams {
            assert!(read(&mut stream, usize::MAX).await == video(3_000_000)[first..]);
        }
    });
}

#[test]
fn two_hundred_clients_are_served_concurrently() {
    let stage = Stage::secure("h3-clients", Choice::TcpStream, Limits::default());
    runtime().block_on(async {
        let (endpoint, server) = (endpoint(1 << 20), stage.local());
        let mut clients = JoinSet::new();
        for first in 0..200 {
            let endpoint = endpoint.clone();
            clients.spawn(async move {
                let range = format!("bytes={first}-{}", first + 49_999);
                let mut client = Client::new(&endpoint, server).await;
                let (_, content) = client.get("/video.webm", &[("range", &range)]).await;
                assert!(content == video(first + 50_000)[first..]);
            });
        }
        while let Some(served) = clients.join_next().await {
            served.expect("all of its bytes");
        }
    });
    assert_eq!(stage.value("quic_requests_total"), 200.0);
}

#[test]
fn paced_video_has_a_burst_and_then_its_rate() {
    let stage = Stage::secure("h3-paced", Choice::Paced, Limits::default());
    fs::write(stage.folder.join("long.webm"), vec![7; 40_000_000]).expect("a file");
    runtime().block_on(async {
        let mut client = Client::new(&endpoint(1 << 20), stage.local()).await;
        let start = Instant::now();
        let (_, mut stream) = client.ask(Method::GET, "/long.webm", &[]).await;
        assert!(read(&mut stream, 10_600_000).await.len() >= 10_600_000);
        // 10 MB at once; 0.6 MB more at 10 Mb/s take 0.48 s, and no machine makes time shorter.
        assert!(start.elapsed() >= Duration::from_millis(400), "{:?}", start.elapsed());
        assert_eq!((stage.value("playing"), stage.value("playing_rate_bps"), stage.value("paced")), (1.0, 8e6, 1.0));
        // The player cancels the video, and requests another part.
        stream.stop_sending(h3::error::Code::H3_REQUEST_CANCELLED);
        let (_, content) = client.get("/video.webm", &[("range", "bytes=0-99")]).await;
        assert!(content == video(100));
        stage.wait_until("end of the video", |stage| stage.value("playing") == 0.0);
    });
}

#[test]
fn stalled_idle_and_vanished_clients_are_closed() {
    let brief = Duration::from_secs(1);
    let stage = Stage::secure("h3-slow", Choice::System, Limits { request: brief, stall: brief, ..Limits::default() });
    fs::write(stage.folder.join("long.webm"), vec![7; 40_000_000]).expect("a file");
    runtime().block_on(async {
        let small = endpoint(10_000);
        let mut stalled = Client::new(&small, stage.local()).await;
        let (_, unread) = stalled.ask(Method::GET, "/long.webm", &[]).await;
        // The connection is not idle meanwhile: other requests are made over it.
        while stage.value("stalled_connections_total") == 0.0 {
            assert_eq!(stalled.get("/none", &[]).await.0.status(), 404);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert_eq!(stage.value("playing"), 0.0);
        drop(unread);
        let silent = connect(&small, stage.local()).await;
        let mut idle = Client::new(&small, stage.local()).await;
        assert_eq!(idle.get("/none", &[]).await.0.status(), 404);
        for connection in [silent, idle.connection] {
            timeout(TIMEOUT, connection.closed()).await.expect("it is closed");
        }
    });
    // Its socket is gone with the runtime, in the middle of a video.
    let vanishing = runtime();
    vanishing.block_on(async {
        let mut client = Client::new(&endpoint(1 << 20), stage.local()).await;
        let (_, mut stream) = client.ask(Method::GET, "/long.webm", &[]).await;
        read(&mut stream, 100_000).await;
        std::mem::forget((client, stream));
    });
    vanishing.shutdown_background();
    stage.wait_until("end of all", |stage| stage.value("connections") == 0.0 && stage.value("playing") == 0.0);
    assert_video_is_served(&stage);
}

#[test]
fn clients_beyond_the_limit_are_refused_at_once() {
    let stage = Stage::secure("h3-places", Choice::Paced, Limits { connections: 6, ..Limits::default() });
    runtime().block_on(async {
        let endpoint = endpoint(1 << 20);
        let mut clients = Vec::new();
        // The last of these validate their addresses first.
        for _ in 0..6 {
            clients.push(Client::new(&endpoint, stage.local()).await);
        }
        let refused = endpoint.connect(stage.local(), "localhost").expect("a try").await;
        let why = refused.err().map(|error| error.to_string()).unwrap_or_default();
        assert!(why.contains("refused"), "{why}");
        for client in &mut clients {
            assert!(client.get("/video.webm", &[("range", "bytes=0-99")]).await.1 == video(100));
        }
        clients.pop().expect("one").connection.close(VarInt::from_u32(0x100), b"");
        while stage.value("connections") != 5.0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Client::new(&endpoint, stage.local()).await;
    });
}

/// Pseudorandom bytes, the same each time.
fn noise(seed: &mut u64, len: usize) -> Vec<u8> {
    let mut next = || {
        // Marsaglia's xorshift.
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        *seed as u8
    };
    (0..len).map(|_| next()).collect()
}

#[test]
fn invalid_data_ends_only_its_stream_or_connection() {
    static PANICS: AtomicUsize = AtomicUsize::new(0);
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |what| {
        // Panics of the server's threads; a test's own are reported anyway.
        PANICS.fetch_add(1, Ordering::Relaxed);
        before(what);
    }));
    let stage = Stage::secure("h3-nonsense", Choice::Paced, Limits::default());
    let mut seed = 0x2545_f491_4f6c_dd1d;
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    for turn in 0..2000 {
        let mut datagram = noise(&mut seed, 1 + turn % 1400);
        // The long header of version 1, or of an unknown version.
        datagram[0] |= if turn % 2 == 0 { 0xc0 } else { 0x40 };
        if let Some(version) = datagram.get_mut(1..5) {
            version.copy_from_slice(if turn % 3 == 0 { &[0, 0, 0, 1] } else { &[0xab; 4] });
        }
        let _ = socket.send_to(&datagram, stage.local());
    }
    runtime().block_on(async {
        let endpoint = endpoint(1 << 20);
        let mut closed = 0;
        for turn in 0..200 {
            let connection = connect(&endpoint, stage.local()).await;
            if turn % 3 == 0
                && let Ok(mut control) = connection.open_uni().await
            {
                // A stream of control, of QPACK, or of an unknown type.
                let kind = [0, 2, 3, 0x21][turn / 3 % 4];
                let _ = control.write_all(&[&[kind][..], &noise(&mut seed, turn)].concat()).await;
            }
            // Some of them end the connection, and the rest then fail.
            let mut answers = Vec::new();
            for stream in 0..8 {
                let Ok((mut send, receive)) = connection.open_bi().await else { break };
                // HEADERS, DATA, SETTINGS or an unknown frame, of a length that fits (RFC 9000 §16).
                let kind = [1, 1, 1, 0, 4, 0x21][(turn + stream) % 6];
                let section = noise(&mut seed, (turn * 7 + stream) * stream % 300);
                // A section of fields that begins as `GET https://a/` does, without a dynamic table (RFC 9204 §4.5, Appendix A).
                let section =
                    if turn % 4 > 0 { [&b"\0\0\xd1\xd7\xc1\x50\x01a"[..], &section].concat() } else { section };
                let len = 0x4000 | section.len() as u16;
                let frame = [&[kind][..], &len.to_be_bytes(), &section].concat();
                let _ = send.write_all(&frame).await;
                let _ = send.finish();
                answers.push(receive);
            }
            for mut answer in answers {
                let _ = timeout(TIMEOUT, answer.read_to_end(10_000)).await.expect("in time");
            }
            closed += usize::from(connection.close_reason().is_some());
            connection.close(VarInt::from_u32(0), b"");
        }
        endpoint.wait_idle().await;
        // The first request of a connection may be answered before another ends the connection.
        let answered = stage.value("requests_total");
        let bad = stage.value("bad_requests_total");
        assert!(closed > 100 && answered > 0.0 && bad > 0.0, "closed {closed}, answered {answered}, bad {bad}");
    });
    assert_video_is_served(&stage);
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
}

#[test]
fn overlong_head_is_refused_and_endless_head_not_buffered() {
    let stage = Stage::secure("h3-long", Choice::Paced, Limits::default());
    runtime().block_on(async {
        let endpoint = endpoint(1 << 20);
        let mut client = Client::new(&endpoint, stage.local()).await;
        // Each field counts 32 bytes more (RFC 9114 §4.2.2): within 80 kB as it is sent, and above 64 KiB as it counts.
        let long = "a".repeat(70_000);
        let connection = connect(&endpoint, stage.local()).await;
        let (mut send, mut receive) = connection.open_bi().await.expect("a stream");
        // HEADERS of 2^30 bytes (RFC 9000 §16): only a part of these is ever read.
        let endless = async {
            send.write_all(&[1, 0xc0, 0, 0, 0, 0x40, 0, 0, 0]).await?;
            loop {
                send.write_all(&[0; 10_000]).await?;
            }
        };
        let ended: Result<(), quinn::WriteError> = timeout(TIMEOUT, endless).await.expect("an end");
        assert!(ended.is_err());
        let _ = receive.read_to_end(1000).await;
        drop(connection);
        let request = Request::get("https://localhost/video.webm").header("x", &long).body(()).expect("a request");
        match client.requests.send_request(request).await {
            Ok(mut stream) => assert_eq!(stream.recv_response().await.expect("an answer").status(), 431),
            // The server has announced its limit, and the client respects it.
            Err(error) => assert!(error.to_string().to_lowercase().contains("header"), "{error}"),
        }
    });
    assert_video_is_served(&stage);
}

#[test]
fn idle_connections_do_not_keep_other_addresses_out() {
    let stage = Stage::secure("h3-share", Choice::Paced, Limits { connections: 6, ..Limits::default() });
    let _over_tcp: Vec<_> = (0..3).map(|_| stage.connect()).collect();
    stage.wait_until("places", |stage| stage.value("connections") == 3.0);
    runtime().block_on(async {
        let endpoint = endpoint(1 << 20);
        let crowd = [Client::new(&endpoint, stage.local()).await, Client::new(&endpoint, stage.local()).await];
        let _last = Client::new(&endpoint, stage.local()).await;
        let elsewhere = endpoint_at("127.0.0.2:0", 1 << 20);
        let mut viewer = Client::new(&elsewhere, stage.local()).await;
        let (head, _) = viewer.ask(Method::GET, "/video.webm", &[("range", "bytes=0-9")]).await;
        assert_eq!(head.status(), 206);
        assert_eq!((stage.value("displaced_connections_total"), stage.value("connections")), (1.0, 6.0));
        drop(crowd);
    });
}
