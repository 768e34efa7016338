//! Connections that are cut short: no program may take a part for the whole.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{JoinHandle, spawn};

use rustix::process::Signal;

use crate::common::{self, Running, TIMEOUT, wait_until};
use crate::tunnel::noise::Noise;
use crate::tunnel::stage::{Tunnel, is_long, program};

/// A tunnel, and the target's ends of its connections.
struct Stage {
    tunnel: Tunnel,
    streams: Receiver<TcpStream>,
}

/// An endless transfer from one program to another.
struct Transfer {
    arrived: Arc<AtomicU64>,
    writer: JoinHandle<ErrorKind>,
    reader: JoinHandle<Result<(), ErrorKind>>,
}

impl Stage {
    fn new(name: &str) -> Stage {
        let (sender, streams) = channel();
        let target = program("127.0.0.1:0", move |stream| sender.send(stream).expect("the test waits"));
        Stage { tunnel: Tunnel::with(name, &target, None, &["--patience", "1s"]), streams }
    }

    /// Both programs' ends of a new connection.
    fn pair(&self) -> (TcpStream, TcpStream) {
        let mut near = self.tunnel.open();
        near.write_all(b"a").expect("room");
        let mut far = self.streams.recv_timeout(TIMEOUT).expect("a connection");
        far.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        far.set_write_timeout(Some(TIMEOUT)).expect("a timeout");
        far.read_exact(&mut [0]).expect("a byte");
        (near, far)
    }

    fn end(&mut self, end: End) -> &mut Running {
        match end {
            End::Serve => &mut self.tunnel.serve,
            End::Connect => &mut self.tunnel.connect,
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Serve,
    Connect,
}

impl Transfer {
    fn start(mut from: TcpStream, mut to: TcpStream, seed: u64) -> Transfer {
        let arrived = Arc::new(AtomicU64::new(0));
        let count = arrived.clone();
        let writer = spawn(move || Noise::new(seed).write(&mut from, u64::MAX).expect_err("no end").kind());
        let reader = spawn(move || Noise::new(seed).recognise(&mut to, &count));
        Transfer { arrived, writer, reader }
    }

    fn expect_reset_writer(writer: JoinHandle<ErrorKind>) {
        assert_eq!(writer.join().expect("a writer"), ErrorKind::ConnectionReset);
    }

    fn expect_reset_reader(reader: JoinHandle<Result<(), ErrorKind>>) {
        assert_eq!(reader.join().expect("what was written, as far as it came"), Err(ErrorKind::ConnectionReset));
    }
}

/// Ends one endpoint while bytes flow both ways, and expects resets at its own program, and at the peer's once the peer
/// knows.
fn expect_resets(name: &str, end: End, signal: Signal) {
    let mut stage = Stage::new(name);
    let ((near_up, far_up), (near_down, far_down)) = (stage.pair(), stage.pair());
    let (up, down) = (Transfer::start(near_up, far_up, 1), Transfer::start(far_down, near_down, 2));
    wait_until("bytes", || [&up, &down].iter().all(|it| it.arrived.load(Ordering::Relaxed) > 1_000_000));
    common::signal(&stage.end(end).child, signal);
    let is_stopped = signal == Signal::INT;
    // A killed endpoint cannot notify the peer, which waits for 15 s and its `--patience`.
    let is_known = is_stopped || is_long();
    if is_known || end == End::Connect {
        Transfer::expect_reset_writer(up.writer);
        Transfer::expect_reset_reader(down.reader);
    }
    if is_known || end == End::Serve {
        Transfer::expect_reset_writer(down.writer);
        Transfer::expect_reset_reader(up.reader);
    }
    if is_stopped {
        stage.end(end).succeeds();
    }
}

#[test]
fn stopped_server_resets_open_connections() {
    expect_resets("cut-serve-int", End::Serve, Signal::INT);
}

#[test]
fn stopped_client_resets_open_connections() {
    expect_resets("cut-connect-int", End::Connect, Signal::INT);
}

#[test]
fn killed_server_resets_open_connections() {
    expect_resets("cut-serve-kill", End::Serve, Signal::KILL);
}

#[test]
fn killed_client_resets_open_connections() {
    expect_resets("cut-connect-kill", End::Connect, Signal::KILL);
}

/// The end of a request does not make the end of its answer a good one.
#[test]
fn half_closed_connection_is_reset_when_the_client_ends() {
    for (name, signal) in [("cut-half-int", Signal::INT), ("cut-half-kill", Signal::KILL)] {
        let mut stage = Stage::new(name);
        let (mut near, mut far) = stage.pair();
        Noise::new(1).write(&mut near, 100_000).expect("room");
        near.shutdown(Shutdown::Write).expect("a connection");
        Noise::new(1).expect(&mut far, 100_000);
        far.write_all(b"part").expect("room");
        near.read_exact(&mut [0; 4]).expect("a part of the answer");
        common::signal(&stage.end(End::Connect).child, signal);
        assert_eq!(near.read(&mut [0; 10]).map_err(|error| error.kind()), Err(ErrorKind::ConnectionReset), "{name}");
    }
}

#[test]
fn connection_closed_before_the_kill_is_complete() {
    let mut stage = Stage::new("cut-late");
    let (mut near, mut far) = stage.pair();
    near.shutdown(Shutdown::Write).expect("a connection");
    // The kernel buffers as much for a program that has not read yet (tcp(7), tcp_wmem).
    Noise::new(1).write(&mut far, 50_000).expect("room");
    drop(far);
    stage.end(End::Connect).event("closed");
    let connect = &mut stage.end(End::Connect).child;
    connect.kill().and_then(|()| connect.wait()).expect("it ran");
    Noise::new(1).expect(&mut near, 50_000);
}
