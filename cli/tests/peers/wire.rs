//! The datagrams of `thalweg send` and `thalweg recv`, read by a second decoder of RFC 6865, and by Wireshark.

use std::net::UdpSocket;
use std::time::Duration;

use crate::common::Running;
use crate::peers::pcap::pcap;
use crate::peers::program::Program;
use crate::peers::stage::{PYTHON, Stage, TSHARK};
use crate::peers::tap::{Direction, Tap, hexadecimal, is_rtcp};

/// The datagrams of a stream of two seconds on the wire, of all sizes and in both directions.
fn record(send: &[&str], bare: bool) -> Vec<(Direction, Vec<u8>)> {
    let sink = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let output = format!("udp://{}", sink.local_addr().expect("bound"));
    let mut recv =
        Running::start(&["recv", "--listen", "127.0.0.1:0", "--output", &output, "--once", "--latency", "1s"]);
    let tap = Tap::start(&recv.address("listening", "address"));
    let repair_port = tap.repair_port.to_string();
    let bare = if bare { vec!["--fec-port", &repair_port] } else { Vec::new() };
    let common = ["send", "--input", "udp://127.0.0.1:0", "--to", &tap.address, "--latency", "1s"];
    let mut send = Running::start(&[&common, send, &bare].concat());
    let input = send.address("sending", "input_address");
    send.event("connected");

    let source = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let sizes = [1316, 1316, 188, 1400, 1, 700, 0, 1316, 1316, 1316, 4, 999];
    for (mark, size) in (0..2000_u32).zip(sizes.into_iter().cycle()) {
        let datagram: Vec<u8> = (0..size).map(|at| (mark.wrapping_mul(31) ^ at) as u8).collect();
        source.send_to(&datagram, &*input).expect("loopback takes it");
        std::thread::sleep(Duration::from_millis(1));
    }
    send.interrupt();
    send.succeeds();
    recv.succeeds();
    tap.end()
}

/// Lets the other decoder drop packets and recover them.
fn decode(mode: &str, send: &[&str], bare: bool) {
    let Some(stage) = Stage::enter(&[PYTHON]) else { return };
    let record = record(send, bare);
    let has_bare = record.iter().any(|(direction, _)| *direction == Direction::Repair);
    assert_eq!(has_bare, bare, "where repair goes");
    let datagrams = stage.write("datagrams", &hexadecimal(&record));
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/rfc6865.py");
    let python = Program::line(&stage, "python3", &format!("python3 {script} {datagrams} {mode}")).end();
    python.expect_no_complaint(|_| false);
    let numbers: Vec<usize> = python.output.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    println!("{} blocks, {} packets recovered", numbers[0], numbers[1]);
    // 2000 packets and more in blocks of at most 255, each with several repair packets.
    assert!(numbers[0] >= 2000 / 255 && numbers[1] >= 4 * numbers[0], "{numbers:?}");
}

#[test]
fn independent_decoder_recovers_from_multiplexed_repair() {
    decode("explicit", &["--repair", "static:8"], false);
}

#[test]
fn independent_decoder_recovers_from_repair_on_its_own_port() {
    decode("explicit", &["--repair", "static:8"], true);
}

#[test]
fn independent_decoder_recovers_long_blocks() {
    decode("explicit", &["--repair", "static:8", "--block", "100ms"], false);
}

#[test]
fn independent_decoder_recovers_plain_rtp_by_block_bounds() {
    decode("plain", &["--repair", "static:8", "--plain-rtp"], false);
}

#[test]
fn wireshark_finds_nothing_malformed_in_our_rtcp() {
    let Some(stage) = Stage::enter(&[TSHARK]) else { return };
    let record = record(&["--repair", "static:4"], false);
    let rtcp = record.iter().map(|(_, datagram)| datagram).filter(|datagram| is_rtcp(datagram));
    let capture = stage.path("rtcp.pcap");
    std::fs::write(&capture, pcap(rtcp)).expect("the temporary directory can be written");
    let line =
        format!("tshark -r {capture} -d udp.port==6000,rtcp -T fields -e rtcp.pt -e _ws.malformed -e _ws.expert");
    let tshark = Program::line(&stage, "tshark", &line).end();
    assert_eq!(tshark.code, Some(0), "{}", tshark.errors);

    let complaint = tshark.output.lines().find(|line| line.split('\t').skip(1).any(|field| !field.is_empty()));
    assert_eq!(complaint, None, "packet types, malformed, expert information");
    let mut kinds: Vec<&str> = tshark.output.lines().flat_map(|line| line.trim().split(',')).collect();
    kinds.sort_unstable();
    kinds.dedup();
    // Sender and receiver reports, source description, goodbye, hello and answer, feedback, extended report.
    assert_eq!(kinds, ["200", "201", "202", "203", "204", "205", "207"]);
}
