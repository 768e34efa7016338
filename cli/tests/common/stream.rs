//! A stream between two processes, with its source and its sink.

use std::net::{SocketAddr, UdpSocket};

use thalweg_core::session::live::MAX_PAYLOAD;

use super::{Running, TIMEOUT};

/// Latency far above the need of any of these streams, so that a machine busy with other work makes no packet late.
pub(crate) const LATENCY: &str = "5s";

/// A running stream.
pub(crate) struct Stream {
    pub(crate) send: Running,
    pub(crate) recv: Running,
}

impl Stream {
    /// Starts the receiver, and once it listens, the sender.
    pub(crate) fn start(recv: &[&str], send: &[&str]) -> Stream {
        let listen = if send.contains(&"udp://[::1]:0") { "[::1]:0" } else { "127.0.0.1:0" };
        let recv = Running::start(&[&["recv", "--listen", listen, "--latency", LATENCY], recv].concat());
        let to = recv.address("listening", "address");
        let send = Running::start(&[&["send", "--to", &to, "--latency", LATENCY], send].concat());
        Stream { send, recv }
    }

    /// Starts the sender, and once it listens, the receiver, which calls it.
    pub(crate) fn called(recv: &[&str], send: &[&str]) -> Stream {
        let send = Running::start(&[&["send", "--listen", "127.0.0.1:0", "--latency", LATENCY], send].concat());
        let to = send.address("sending", "from");
        let recv = Running::start(&[&["recv", "--call", &to, "--latency", LATENCY], recv].concat());
        Stream { send, recv }
    }
}

/// A socket that takes the output, and its URL.
pub(crate) fn sink(address: &str) -> (UdpSocket, String) {
    let sink = UdpSocket::bind(address).expect("a free port");
    sink.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    let url = format!("udp://{}", sink.local_addr().expect("bound"));
    (sink, url)
}

/// A socket that feeds a sender, once the sender has a receiver.
pub(crate) fn source(send: &Running) -> UdpSocket {
    let input: SocketAddr = send.address("sending", "input_address").parse().expect("an address");
    send.event("connected");
    let source = UdpSocket::bind(if input.is_ipv6() { "[::1]:0" } else { "127.0.0.1:0" }).expect("a free port");
    source.connect(input).expect("loopback has a way");
    source
}

/// Sends datagrams of all sizes, a few at a time, and expects all of them at the output before the next few are sent.
pub(crate) fn expect_everything_in_order(source: &UdpSocket, sink: &UdpSocket) {
    expect_in_order(source, sink, MAX_PAYLOAD);
}

/// The same where the longest datagram has `longest` bytes.
pub(crate) fn expect_in_order(source: &UdpSocket, sink: &UdpSocket, longest: usize) {
    let sizes = [1316, 1316, 188, longest, 1, 700, 0, 1316, 1316, 1316, 4, 999];
    let datagrams: Vec<Vec<u8>> = (0u8..96).zip(sizes.iter().cycle()).map(|(mark, &len)| vec![mark; len]).collect();
    let mut buffer = [0; 2048];
    for few in datagrams.chunks(16) {
        for datagram in few {
            source.send(datagram).expect("loopback takes it");
        }
        for datagram in few {
            let len = sink.recv(&mut buffer).expect("what was sent arrives");
            assert_eq!(&buffer[..len], &datagram[..], "datagram {:?}", datagram.first());
        }
    }
}
