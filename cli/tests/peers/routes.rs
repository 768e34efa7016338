//! ffmpeg at both ends over IPv6 and through multicast groups.

use std::net::UdpSocket;

use crate::common::Running;
use crate::peers::clip::{Clip, decoder, expect_frames, seen};
use crate::peers::program::Program;
use crate::peers::stage::{FFMPEG, Stage, free_port, wait_for_port};

/// The addresses of a stream; `PORT` stands for the port of the input, or of the output.
struct Route {
    listen: &'static str,
    /// The address that ffmpeg sends to, and the input of Thalweg.
    source: [&'static str; 2],
    /// The output of Thalweg, and the address that ffmpeg receives at.
    sink: [&'static str; 2],
}

#[test]
fn frames_are_delivered_over_ipv6() {
    if UdpSocket::bind("[::1]:0").is_err() {
        println!("skipped: this machine has no IPv6");
        return;
    }
    passes(&Route {
        listen: "[::1]:0",
        source: ["udp://[::1]:PORT?pkt_size=1316", "udp://[::1]:0"],
        sink: ["udp://[::1]:PORT", "udp://[::1]:PORT?"],
    });
}

#[test]
fn frames_are_delivered_through_multicast_groups() {
    passes(&Route {
        listen: "127.0.0.1:0",
        source: ["udp://239.255.42.98:PORT?pkt_size=1316&localaddr=127.0.0.1&ttl=0", "udp://@239.255.42.98:0?iface=lo"],
        sink: ["udp://239.255.42.97:PORT?iface=lo&ttl=0", "udp://239.255.42.97:PORT?localaddr=127.0.0.1&"],
    });
}

fn passes(route: &Route) {
    let Some(stage) = Stage::enter(&[FFMPEG]) else { return };
    let clip = Clip::synthetic(&stage, 5);
    let port = free_port();
    let [output, live] = route.sink.map(|url| url.replace("PORT", &port.to_string()));
    let recv = Running::start(&["recv", "--listen", route.listen, "--latency", "1s", "--output", &output]);
    let to = recv.address("listening", "address");
    let send = Running::start(&["send", "--input", route.source[1], "--to", &to, "--latency", "1s"]);
    let input = send.address("sending", "input_address");
    send.event("connected");
    let live = Program::line(&stage, "live", &decoder(&format!("{live}fifo_size=50000&timeout=6000000")));
    wait_for_port(port);

    let (_, input_port) = input.rsplit_once(':').expect("an address");
    let source = route.source[0].replace("PORT", input_port);
    let line = format!("ffmpeg -v error -re -i {} -map 0 -c copy -f mpegts {source}", clip.path);
    Program::line(&stage, "source", &line).end().expect_no_complaint(|_| false);
    expect_frames(&seen(live), &clip.frames, 0, 0);
}
