//! The ends of connections, as the peer sees them.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::common::{TIMEOUT, wait_until};
use crate::tunnel::noise::Noise;
use crate::tunnel::stage::{Tunnel, close_with_reset, echo_at_end, program, resident};

fn kind(stream: &mut TcpStream) -> Result<usize, ErrorKind> {
    stream.read(&mut [0; 100]).map_err(|error| error.kind())
}

#[test]
fn each_direction_closes_independently() {
    let tunnel = Tunnel::start("halves", &program("127.0.0.1:0", echo_at_end));
    let mut stream = tunnel.open();
    Noise::new(1).write(&mut stream, 500_000).expect("room");
    stream.shutdown(Shutdown::Write).expect("a connection");
    // The program answers only now.
    Noise::new(1).expect(&mut stream, 500_000);
    for end in [&tunnel.serve, &tunnel.connect] {
        end.event("closed");
    }
}

#[test]
fn resets_propagate_in_both_directions() {
    let (sender, streams) = channel();
    let target = program("127.0.0.1:0", move |stream| sender.send(stream).expect("the test waits"));
    let tunnel = Tunnel::start("resets", &target);
    let pair = || {
        let mut near = tunnel.open();
        near.write_all(b"a").expect("room");
        let mut far = streams.recv_timeout(TIMEOUT).expect("a connection");
        far.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        assert_eq!(kind(&mut far), Ok(1));
        (near, far)
    };
    let (near, mut far) = pair();
    close_with_reset(near);
    assert_eq!(kind(&mut far), Err(ErrorKind::ConnectionReset));
    let (mut near, far) = pair();
    close_with_reset(far);
    assert_eq!(kind(&mut near), Err(ErrorKind::ConnectionReset));
    // The tunnel and its other connections live on.
    drop(pair());
}

#[test]
fn refused_target_resets_the_connection_and_is_reported() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let closed_address = free.local_addr().expect("bound").to_string();
    drop(free);
    let tunnel = Tunnel::start("refused", &closed_address);
    let mut stream = tunnel.open();
    assert_eq!(kind(&mut stream), Err(ErrorKind::ConnectionReset));
    let event = tunnel.serve.wait_for("a line", |value| value["event"] == "broken" || value["event"] == "refused");
    assert!(event["why"].as_str().is_some_and(|why| why.contains("connection refused")), "{event}");
    let event = tunnel.connect.event("reset");
    assert!(event["why"].as_str().is_some_and(|why| why.contains("could not reach")), "{event}");
}

#[test]
fn slow_reader_blocks_no_other_connection_and_uses_bounded_memory() {
    let target = program("127.0.0.1:0", |mut stream| {
        let mut first = [0];
        // After a first byte of 0 the program does not read on for a long time.
        if stream.read_exact(&mut first).is_ok() && first == [0] {
            std::thread::sleep(TIMEOUT * 2);
        }
        echo_at_end(stream);
    });
    let tunnel = Tunnel::start("slow", &target);
    let before = [&tunnel.serve, &tunnel.connect].map(resident);
    let mut slow = tunnel.open();
    slow.set_nonblocking(true).expect("a socket");
    let mut taken = 0;
    wait_until("back-pressure", || {
        let mut still = 0;
        while still < 20 {
            match slow.write(&[0; 1 << 16]) {
                Ok(len) => (taken, still) = (taken + len, 0),
                Err(_) => {
                    std::thread::sleep(Duration::from_millis(10));
                    still += 1;
                }
            }
        }
        true
    });
    // Credit, the buffers of the tunnel, and the kernel's buffers of four sockets (tcp(7)).
    assert!(taken < 64 << 20, "{taken} bytes were taken");
    // The memory of one unread connection, and of the stream below it.
    for (end, before) in [&tunnel.serve, &tunnel.connect].into_iter().zip(before) {
        let now = resident(end);
        assert!(now < before + (16 << 10), "{now} kB, {before} kB before");
    }
    let mut neighbour = tunnel.open();
    neighbour.write_all(&[1]).expect("room");
    Noise::new(7).write(&mut neighbour, 1_000_000).expect("room");
    neighbour.shutdown(Shutdown::Write).expect("a connection");
    Noise::new(7).expect(&mut neighbour, 1_000_000);
}
