//! `thalweg send` and `thalweg recv` as two processes on loopback.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV6, UdpSocket};
use std::path::PathBuf;

use rustix::process::Signal;
use thalweg_core::metric::{Kind, Metric};
use thalweg_net::endpoint::{Endpoint, ReceiverEndpoint, SenderEndpoint};

use crate::common::stream::{LATENCY, Stream, expect_everything_in_order, sink, source};
use crate::common::{self, Running, TIMEOUT, scrape, ts};

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("thalweg-{}-{name}", std::process::id()))
}

fn url(path: &std::path::Path) -> String {
    format!("file:{}", path.display())
}

#[test]
fn every_datagram_arrives_unchanged_and_in_order() {
    for repair in ["none", "static:3", "geneva"] {
        let (sink, output) = sink("127.0.0.1:0");
        let stream = Stream::start(&["--output", &output], &["--input", "udp://127.0.0.1:0", "--repair", repair]);
        let source = source(&stream.send);
        expect_everything_in_order(&source, &sink);
    }
}

#[test]
fn ipv6_works_like_ipv4() {
    if UdpSocket::bind("[::1]:0").is_err() {
        println!("skipped: this machine has no IPv6");
        return;
    }
    let (sink, output) = sink("[::1]:0");
    let stream = Stream::start(&["--output", &output], &["--input", "udp://[::1]:0"]);
    let source = source(&stream.send);
    expect_everything_in_order(&source, &sink);
}

#[test]
fn a_multicast_group_can_be_an_output_and_an_input() {
    let (sink, output) = sink("127.0.0.1:0");
    let group = "udp://239.255.42.99:0?iface=lo";
    let second = Stream::start(&["--output", &output], &["--input", group]);
    let group = second.send.address("sending", "input_address");
    second.send.event("connected");

    let first = Stream::start(&["--output", &format!("udp://{group}?iface=lo")], &["--input", "udp://127.0.0.1:0"]);
    let source = source(&first.send);
    expect_everything_in_order(&source, &sink);
}

#[test]
fn file_is_delivered_unchanged() {
    let (original, copy) = (temporary("original.ts"), temporary("copy.ts"));
    let stream = ts::stream(2_000);
    std::fs::write(&original, &stream).expect("a temporary file");
    let mut both = Stream::start(&["--once", "--output", &url(&copy)], &["--input", &url(&original)]);
    both.send.succeeds();
    both.recv.succeeds();
    let copied = std::fs::read(&copy).expect("the copy");
    for path in [&original, &copy] {
        std::fs::remove_file(path).expect("it was there");
    }
    assert!(copied == stream, "{} of {} bytes", copied.len(), stream.len());
}

#[test]
fn standard_input_is_delivered_to_standard_output() {
    let stream = ts::stream(2_000);
    let mut both = Stream::start(&["--once", "--output", "-"], &["--input", "-"]);
    let (mut stdin, mut stdout) = (both.send.child.stdin.take(), both.recv.child.stdout.take());
    let written = stream.clone();
    let writer = std::thread::spawn(move || stdin.take().expect("piped").write_all(&written));
    let mut copied = Vec::new();
    stdout.take().expect("piped").read_to_end(&mut copied).expect("what went in");
    writer.join().expect("the writer").expect("it is read");
    both.send.succeeds();
    both.recv.succeeds();
    assert!(copied == stream, "{} of {} bytes", copied.len(), stream.len());
}

#[test]
fn unread_output_does_not_block_the_others() {
    // Standard output is a pipe that this test never reads.
    let (sink, output) = sink("127.0.0.1:0");
    let stream = Stream::start(&["--output", "-", "--output", &output], &["--input", "udp://127.0.0.1:0"]);
    let source = source(&stream.send);
    // A pipe holds 64 KiB; one round is 80.
    for _ in 0..3 {
        expect_everything_in_order(&source, &sink);
    }
}

#[test]
fn truncated_file_is_sent_up_to_its_last_whole_packet() {
    let path = temporary("short.ts");
    let stream = ts::stream(500);
    std::fs::write(&path, &stream[..stream.len() - 100]).expect("a temporary file");
    let copy = temporary("short-copy.ts");
    let mut both = Stream::start(&["--once", "--output", &url(&copy)], &["--input", &url(&path)]);
    let warning = both.send.event("warning");
    assert!(warning["text"].as_str().expect("words").contains("88 bytes"), "{warning}");
    both.send.succeeds();
    both.recv.succeeds();
    let copied = std::fs::read(&copy).expect("the copy");
    for path in [&path, &copy] {
        std::fs::remove_file(path).expect("it was there");
    }
    assert!(copied == stream[..499 * 188], "{} bytes", copied.len());
}

const GROUP: Ipv6Addr = Ipv6Addr::new(0xff15, 0, 0, 0, 0, 0, 0, 0x2a63);

/// An interface that hands datagrams for [`GROUP`] back to this machine; loopback alone often has no route for them.
fn interface_of_groups() -> Option<String> {
    let works = |name: &str| {
        let index = std::fs::read_to_string(format!("/sys/class/net/{name}/ifindex")).ok()?.trim().parse().ok()?;
        let receiver = UdpSocket::bind("[::]:0").ok()?;
        receiver.join_multicast_v6(&GROUP, index).ok()?;
        receiver.set_read_timeout(Some(std::time::Duration::from_millis(500))).ok()?;
        let to = SocketAddrV6::new(GROUP, receiver.local_addr().ok()?.port(), 0, index);
        UdpSocket::bind("[::]:0").ok()?.send_to(b"?", to).ok()?;
        receiver.recv(&mut [0; 1]).ok()
    };
    let mut names =
        std::fs::read_dir("/sys/class/net").ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    names.find(|name| works(name).is_some())
}

#[test]
fn an_ipv6_multicast_group_can_be_an_output_and_an_input() {
    let Some(interface) = interface_of_groups() else {
        println!("skipped: no interface of this machine carries IPv6 multicast");
        return;
    };
    let (sink, output) = sink("127.0.0.1:0");
    let group = |port: &str| format!("udp://[{GROUP}]:{port}?iface={interface}");
    let second = Stream::start(&["--output", &output], &["--input", &group("0")]);
    let input = second.send.address("sending", "input_address");
    second.send.event("connected");
    let port = input.rsplit_once(':').expect("a port").1;
    let first = Stream::start(&["--output", &group(port)], &["--input", "udp://127.0.0.1:0"]);
    let source = source(&first.send);
    // Small enough for the interface, whatever it is.
    let mut buffer = [0; 2048];
    for mark in 0..50 {
        source.send(&[mark; 188]).expect("loopback takes it");
    }
    for mark in 0..50 {
        let len = sink.recv(&mut buffer).expect("what was sent arrives");
        assert_eq!(&buffer[..len], [mark; 188]);
    }
}

#[test]
fn restarted_sender_is_received_again() {
    let (sink, output) = sink("127.0.0.1:0");
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--latency", LATENCY, "--output", &output]);
    let address = recv.address("listening", "address");
    let args = ["send", "--to", &address, "--latency", LATENCY, "--input", "udp://127.0.0.1:0"];
    for _ in 0..2 {
        // Each sender is killed at the end of its turn, without a goodbye.
        let send = Running::start(&args);
        let source = source(&send);
        recv.event("started");
        expect_everything_in_order(&source, &sink);
    }
}

#[test]
fn restarted_receiver_gets_the_stream_again() {
    let (sink, output) = sink("127.0.0.1:0");
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--latency", LATENCY, "--output", &output]);
    let address = recv.address("listening", "address");
    let args = ["send", "--to", &address, "--latency", LATENCY, "--input", "udp://127.0.0.1:0"];
    let send = Running::start(&args);
    let source = source(&send);
    expect_everything_in_order(&source, &sink);

    drop(recv);
    let recv = Running::start(&["recv", "--listen", &address, "--latency", LATENCY, "--output", &output]);
    // The sender goes on sending to the new receiver.
    sink.set_read_timeout(Some(std::time::Duration::from_millis(50))).expect("a timeout");
    let started = std::time::Instant::now();
    while sink.recv(&mut [0; 2048]).is_err() {
        assert!(started.elapsed() < TIMEOUT, "nothing is delivered");
        source.send(&[1; 100]).expect("loopback takes it");
    }
    recv.event("started");
}

#[test]
fn prometheus_page_has_every_metric() {
    let text = |event: &serde_json::Value, key| event[key].as_str().expect("an address").to_owned();
    let recv = ["recv", "--listen", "127.0.0.1:0", "--output", "udp://127.0.0.1:9", "--metrics", "0"];
    let recv = Running::start(&recv);
    let listening = recv.event("listening");
    let to = text(&listening, "address");
    let send = Running::start(&["send", "--to", &to, "--input", "udp://127.0.0.1:0", "--metrics", "0"]);
    let page = scrape(&text(&send.event("sending"), "metrics"));
    let expect = |page: &str, metric: &Metric, labels: &str| {
        assert!(page.contains(&format!("\nthalweg_{}{{{labels}}} ", metric.name)), "{}\n{page}", metric.name);
    };
    for metric in SenderEndpoint::metrics() {
        let Kind::States(states) = metric.kind else {
            expect(&page, metric, "side=\"send\"");
            continue;
        };
        for state in states {
            expect(&page, metric, &format!("side=\"send\",state=\"{state}\""));
        }
    }
    let page = scrape(&text(&listening, "metrics"));
    for metric in ReceiverEndpoint::metrics() {
        expect(&page, metric, "side=\"recv\"");
    }
}

#[test]
fn unanswered_sender_reports_waiting_and_times_out() {
    let closed = UdpSocket::bind("127.0.0.1:0").expect("a free port").local_addr().expect("bound").to_string();
    let mut send = Running::start(&["send", "--to", &closed, "--input", "udp://127.0.0.1:0", "--timeout", "2s"]);
    let waiting = send.event("waiting");
    let command = waiting["command"].as_str().expect("a command");
    assert!(command.starts_with("thalweg recv --listen :"), "{waiting}");
    let ended = send.event("ended");
    assert_eq!(ended["reason"], "no_answer");
    assert_eq!(send.end().code(), Some(1));
}

#[test]
fn second_sender_is_refused_as_busy_immediately() {
    let stream =
        Stream::start(&["--output", "udp://127.0.0.1:9"], &["--input", "udp://127.0.0.1:0", "--block", "10ms"]);
    stream.recv.event("started");
    let sending = stream.send.event("sending");
    let [to, input] = ["to", "input_address"].map(|key| sending[key].as_str().expect("an address").to_owned());
    // The sender with media holds the receiver, for ten seconds.
    let media = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let hold = || {
        media.send_to(&[9; 1000], &input).expect("loopback takes it");
        let has_left = |row: &serde_json::Value| row["delivered_packets_total"].as_f64() > Some(0.0);
        stream.send.wait_for("reports of it", has_left);
    };
    stream.send.event("connected");
    hold();
    let mut second = Running::start(&["send", "--to", &to, "--input", "udp://127.0.0.1:0", "--retry", "never"]);
    second.event("busy");
    assert_eq!(second.event("ended")["reason"], "busy");
    assert_eq!(second.end().code(), Some(1));
    // A sender that would retry is stopped between two attempts.
    hold();
    let mut second = Running::start(&["send", "--to", &to, "--input", "udp://127.0.0.1:0", "--retry"]);
    assert_eq!(second.event("retry")["wait_seconds"], 30.0);
    second.interrupt();
    assert_eq!(second.event("ended")["reason"], "bye");
    second.succeeds();
}

#[test]
fn interrupted_sender_says_goodbye() {
    let mut stream = Stream::start(&["--once", "--output", "udp://127.0.0.1:9"], &["--input", "udp://127.0.0.1:0"]);
    stream.send.event("connected");
    stream.send.interrupt();
    assert_eq!(stream.send.event("ended")["reason"], "bye");
    stream.send.succeeds();
    assert_eq!(stream.recv.event("ended")["reason"], "bye");
    stream.recv.succeeds();
}

#[test]
fn stopped_receiver_reports_the_end_of_its_stream_once() {
    for (signal, once) in [(Signal::INT, true), (Signal::TERM, false)] {
        let once: &[&str] = if once { &["--once"] } else { &[] };
        let recv = [&["--output", "udp://127.0.0.1:9"], once].concat();
        let mut stream = Stream::start(&recv, &["--input", "udp://127.0.0.1:0"]);
        stream.recv.event("started");
        common::signal(&stream.recv.child, signal);
        stream.recv.succeeds();
        let is_end = |line: &String| {
            let row: serde_json::Value = serde_json::from_str(line).expect("JSON");
            row["event"] == "ended" && row["reason"] == "bye"
        };
        let rest = stream.recv.rest();
        assert_eq!(rest.iter().filter(|line| is_end(line)).count(), 1, "{rest:?}");
    }
    let mut idle = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", "udp://127.0.0.1:9"]);
    idle.event("listening");
    idle.interrupt();
    idle.succeeds();
    assert!(idle.rest().iter().all(|line| !line.contains("ended")), "there was no stream");
}

#[test]
fn sender_lost_without_goodbye_fails_a_receiver_of_one_stream() {
    let mut stream = Stream::start(&["--once", "--output", "udp://127.0.0.1:9"], &["--input", "udp://127.0.0.1:0"]);
    stream.recv.event("started");
    stream.send.child.kill().expect("it still runs");
    assert_eq!(stream.recv.event("ended")["reason"], "silent");
    assert_eq!(stream.recv.end().code(), Some(1));
}

#[test]
fn packets_not_sent_for_max_rate_are_not_counted_as_lost() {
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", "udp://127.0.0.1:9"]);
    let to = recv.address("listening", "address");
    let args = ["send", "--to", &to, "--latency", "500ms", "--input", "udp://127.0.0.1:0", "--max-rate", "2mbit"];
    let send = Running::start(&args);
    let source = source(&send);
    // 3.5 Mb/s: after a second the queue is as long as it may be.
    for _ in 0..1000 {
        source.send(&[7; 1316]).expect("loopback takes it");
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
    send.event("over_rate");
    send.wait_for("what was left out", |row| row["unsent_packets_total"].as_f64() > Some(100.0));
    let row = recv.wait_for("what came", |row| row["source_packets_total"].as_f64() > Some(500.0));
    assert_eq!(row["residual_lost_packets_total"], 0.0, "{row}");
}

#[test]
fn sender_shows_the_losses_that_the_receiver_counts() {
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", "udp://127.0.0.1:9"]);
    let to = recv.address("listening", "address");
    let send = Running::start(&["send", "--to", &to, "--input", "udp://127.0.0.1:0"]);
    let source = source(&send);
    for _ in 0..700 {
        source.send(&[7; 1316]).expect("loopback takes it");
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
    let row = send.wait_for("the loss after repair", |row| row["loss_after_repair_ratio"] == 0.0);
    for name in ["recovered_packets_total", "residual_lost_packets_total", "resent_packets_total"] {
        assert_eq!(row[name], 0.0, "{row}");
    }
    assert!(row.as_object().is_some_and(|row| row["loss_cause"].is_null()), "{row}");
}

#[test]
fn rate_law_carries_a_stream_and_shows_the_rate_that_it_leaves() {
    let recv = Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", "udp://127.0.0.1:9"]);
    let to = recv.address("listening", "address");
    let send = Running::start(&["send", "--to", &to, "--input", "udp://127.0.0.1:0", "--rate", "tfrc"]);
    let source = source(&send);
    // 3.5 Mb/s; loopback allows far more.
    for _ in 0..1000 {
        source.send(&[7; 1316]).expect("loopback takes it");
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
    send.wait_for("the rate that the law leaves", |row| row["wanted_rate_bps"].as_f64() > Some(3.5e6));
    let row = recv.wait_for("what came", |row| row["source_packets_total"].as_f64() > Some(800.0));
    assert_eq!(row["residual_lost_packets_total"], 0.0, "{row}");
}

#[test]
fn fec_port_towards_a_receiver_without_it_gives_a_warning() {
    let send = ["--input", "udp://127.0.0.1:0", "--fec-port", "9"];
    let stream = Stream::start(&["--output", "udp://127.0.0.1:9"], &send);
    stream.send.event("connected");
    let warning = stream.send.event("warning");
    assert!(warning["text"].as_str().expect("words").contains("repair at port 9"), "{warning}");
}

#[test]
fn sdp_is_written_before_the_session_begins() {
    let path = temporary("session.sdp");
    let sdp = path.display().to_string();
    let args = ["send", "--to", "127.0.0.1:9", "--input", "ts+udp://127.0.0.1:0", "--plain-rtp", "--sdp", &sdp];
    Running::start(&args).event("sending");
    let text = std::fs::read_to_string(&path).expect("a description");
    // The same to standard output, but for the session's number.
    let mut send = Running::start(&[&args[..args.len() - 1], &["-"]].concat());
    send.event("sending");
    let mut shown = vec![0; text.len() - 12];
    send.child.stdout.take().expect("piped").read_exact(&mut shown).expect("a description");
    assert!(shown.starts_with(b"v=0\r\no=- "), "{}", String::from_utf8_lossy(&shown));
    assert!(!std::path::Path::new("-").exists());
    std::fs::remove_file(&path).expect("it was there");
    assert!(text.starts_with("v=0\r\no=- ") && text.contains(" IN IP4 127.0.0.1\r\n"), "{text}");
    assert!(text.contains("m=video 9 RTP/AVP 33"), "{text}");
}

#[test]
fn sdp_of_a_multicast_group_has_its_ttl() {
    let path = temporary("group.sdp");
    let sdp = path.display().to_string();
    // RFC 1112 §6.1: by default, over one network.
    for (query, ttl) in [("?iface=lo", 1), ("?iface=lo&ttl=5", 5)] {
        let to = format!("239.255.42.98:5004{query}");
        let args = ["send", "--to", &to, "--input", "ts+udp://127.0.0.1:0", "--plain-rtp", "--sdp", &sdp];
        let send = Running::start(&args);
        assert_eq!(send.event("sending")["to"], "239.255.42.98:5004");
        let text = std::fs::read_to_string(&path).expect("a description");
        assert!(text.contains(&format!("c=IN IP4 239.255.42.98/{ttl}\r\n")), "{text}");
    }
    std::fs::remove_file(&path).expect("it was there");
}

#[test]
fn plain_rtp_reaches_a_group_through_the_named_interface() {
    let receiver = UdpSocket::bind("0.0.0.0:0").expect("a free port");
    receiver.join_multicast_v4(&Ipv4Addr::new(239, 255, 42, 97), &Ipv4Addr::LOCALHOST).expect("loopback");
    receiver.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    let to = format!("239.255.42.97:{}?iface=lo&ttl=0", receiver.local_addr().expect("bound").port());
    let send = Running::start(&["send", "--to", &to, "--input", "udp://127.0.0.1:0", "--plain-rtp"]);
    let input = send.address("sending", "input_address");
    let source = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let mut buffer = [0; 2048];
    let deadline = std::time::Instant::now() + TIMEOUT;
    receiver.set_read_timeout(Some(std::time::Duration::from_millis(50))).expect("a timeout");
    // RFC 3550 §5.1: version 2; reports are sent beside the media.
    let is_media = |packet: &[u8]| packet.len() == 112 && packet[0] == 0x80 && packet.ends_with(&[7; 100]);
    while !receiver.recv(&mut buffer).is_ok_and(|len| is_media(&buffer[..len])) {
        assert!(std::time::Instant::now() < deadline, "nothing is delivered");
        source.send_to(&[7; 100], &*input).expect("loopback takes it");
    }
}
