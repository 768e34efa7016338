//! How connections end, and that the other side learns of it.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::time::Duration;

use crate::common::{PATIENCE, wait_until};
use crate::noise::Noise;
use crate::stage::{Tunnel, break_off, hoard, program, resident};

fn kind(stream: &mut TcpStream) -> Result<usize, ErrorKind> {
    stream.read(&mut [0; 100]).map_err(|error| error.kind())
}

#[test]
fn each_direction_ends_by_itself() {
    let tunnel = Tunnel::start("halves", &program("127.0.0.1:0", hoard));
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
fn resets_pass_both_ways() {
    let (sender, streams) = channel();
    let target = program("127.0.0.1:0", move |stream| sender.send(stream).expect("the test waits"));
    let tunnel = Tunnel::start("resets", &target);
    let pair = || {
        let mut near = tunnel.open();
        near.write_all(b"a").expect("room");
        let mut far = streams.recv_timeout(PATIENCE).expect("a connection");
        far.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        assert_eq!(kind(&mut far), Ok(1));
        (near, far)
    };
    let (near, mut far) = pair();
    break_off(near);
    assert_eq!(kind(&mut far), Err(ErrorKind::ConnectionReset));
    let (mut near, far) = pair();
    break_off(far);
    assert_eq!(kind(&mut near), Err(ErrorKind::ConnectionReset));
    // The tunnel and its other connections live on.
    drop(pair());
}

#[test]
fn a_target_that_refuses_is_a_reset_with_a_line() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let nobody = free.local_addr().expect("bound").to_string();
    drop(free);
    let tunnel = Tunnel::start("refused", &nobody);
    let mut stream = tunnel.open();
    assert_eq!(kind(&mut stream), Err(ErrorKind::ConnectionReset));
    let told = tunnel.serve.wait_for("a line", |value| value["event"] == "broken" || value["event"] == "refused");
    assert!(told["why"].as_str().is_some_and(|why| why.contains("connection refused")), "{told}");
    let told = tunnel.connect.event("reset");
    assert!(told["why"].as_str().is_some_and(|why| why.contains("could not reach")), "{told}");
}

#[test]
fn a_slow_reader_holds_up_nobody_and_costs_no_memory() {
    let target = program("127.0.0.1:0", |mut stream| {
        let mut first = [0];
        // The first byte says whether to read on.
        if stream.read_exact(&mut first).is_ok() && first == [0] {
            std::thread::sleep(PATIENCE * 2);
        }
        hoard(stream);
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
    // Credit, the buffers of the tunnel, and what the kernel keeps for four sockets (tcp(7)).
    assert!(taken < 64 << 20, "{taken} bytes were taken");
    // Of one connection that nobody reads, and the stream below it.
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
