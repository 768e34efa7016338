//! TCP connections through a tunnel: taken from programs on one side, made to a program on the other.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Protocol, Socket, Type};
use thalweg_core::session::tunnel::Id;

use super::tunnel::{LocalSide, LocalStream};
use crate::watch::Watch;

/// Backlog of connections to accept, as far as the system permits (net.core.somaxconn). With the 128 of std, if a
/// thousand arrive at once, most have to retry and some are reset.
const BACKLOG: i32 = 4096;

/// The side to which local programs connect.
#[derive(Debug)]
pub struct TcpAccept {
    listener: TcpListener,
    local: SocketAddr,
}

/// The side that connects to a program.
#[derive(Debug)]
pub struct TcpConnect {
    targets: Vec<SocketAddr>,
}

/// One TCP connection.
#[derive(Debug)]
pub struct Tcp {
    stream: TcpStream,
    peer: SocketAddr,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// The kernel is connecting; the addresses that are left are tried if it fails.
    Connecting {
        left: VecDeque<SocketAddr>,
        is_watched: bool,
    },
    /// The connection came from the listener.
    Accepted,
    Connected,
}

impl TcpAccept {
    /// Listens at `address`.
    ///
    /// # Errors
    /// The address is not ours, or its port is in use.
    pub fn bind(address: SocketAddr) -> io::Result<TcpAccept> {
        allow_many_files();
        let listener = TcpListener::bind(address)?;
        rustix::net::listen(&listener, BACKLOG)?;
        listener.set_nonblocking(true)?;
        Ok(TcpAccept { local: listener.local_addr()?, listener })
    }

    /// The address that the listener is bound to.
    pub fn local(&self) -> SocketAddr {
        self.local
    }
}

impl TcpConnect {
    /// Connects each connection to the first of `targets` that accepts.
    pub fn new(targets: Vec<SocketAddr>) -> TcpConnect {
        allow_many_files();
        TcpConnect { targets }
    }
}

/// Raises the limit on open files to the maximum that the system permits; the default is for old programs.
fn allow_many_files() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // On failure, fewer connections are possible.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

impl LocalSide for TcpAccept {
    type LocalStream = Tcp;

    const SIDE: &'static str = "tunnel";

    fn watch(&self, watch: &Watch, token: u64) -> io::Result<()> {
        watch.add(&self.listener, token).map(drop)
    }

    fn accept(&mut self) -> io::Result<Option<Tcp>> {
        loop {
            match self.listener.accept() {
                Ok((stream, peer)) => return Tcp::new(stream, peer, Stage::Accepted).map(Some),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                // The client has gone before it was accepted (accept(2)).
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn admit(&mut self, _id: Id) -> io::Result<Tcp> {
        Err(io::Error::other("this end accepts no connections from the peer"))
    }

    fn is_over(&self) -> bool {
        false
    }

    fn survives(&self, was_up: bool) -> bool {
        was_up
    }
}

impl LocalSide for TcpConnect {
    type LocalStream = Tcp;

    const SIDE: &'static str = "tunnel";

    fn watch(&self, _watch: &Watch, _token: u64) -> io::Result<()> {
        Ok(())
    }

    fn accept(&mut self) -> io::Result<Option<Tcp>> {
        Ok(None)
    }

    fn admit(&mut self, _id: Id) -> io::Result<Tcp> {
        Tcp::reach(self.targets.iter().copied().collect())
    }

    fn is_over(&self) -> bool {
        false
    }
}

impl Tcp {
    fn new(stream: TcpStream, peer: SocketAddr, stage: Stage) -> io::Result<Tcp> {
        stream.set_nonblocking(true)?;
        // No delay for a single keystroke; and a program whose machine has gone is detected eventually.
        stream.set_nodelay(true)?;
        socket2::SockRef::from(&stream).set_keepalive(true)?;
        // Whatever ends this process, a truncated connection must not look complete: until its end is written, closing
        // it is a reset (RFC 9293 §3.10.4 ABORT; socket(7), SO_LINGER).
        linger(&stream, Some(Duration::ZERO))?;
        Ok(Tcp { stream, peer, stage })
    }

    /// Begins to connect to the first of `left` that does not fail at once.
    fn reach(mut left: VecDeque<SocketAddr>) -> io::Result<Tcp> {
        let mut failure = io::Error::other("no address to connect to");
        while let Some(to) = left.pop_front() {
            match connect(to).and_then(|stream| {
                let stage = Stage::Connecting { left: std::mem::take(&mut left), is_watched: false };
                Tcp::new(stream, to, stage)
            }) {
                Ok(tcp) => return Ok(tcp),
                Err(error) => failure = io::Error::new(error.kind(), format!("{to}: {}", crate::error::plain(&error))),
            }
        }
        Err(failure)
    }
}

fn linger(stream: &TcpStream, time: Option<Duration>) -> io::Result<()> {
    socket2::SockRef::from(stream).set_linger(time)
}

fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    match socket.connect(&to.into()) {
        Err(error) if error.raw_os_error() != Some(rustix::io::Errno::INPROGRESS.raw_os_error()) => Err(error),
        _ => Ok(socket.into()),
    }
}

impl LocalStream for Tcp {
    fn name(&self) -> String {
        self.peer.to_string()
    }

    fn settle(&mut self, watch: &Watch, token: u64) -> io::Result<bool> {
        if let Stage::Connecting { is_watched, .. } = &mut self.stage {
            if !std::mem::replace(is_watched, true) {
                watch.add(&self.stream, token)?;
            }
            if let Some(error) = self.stream.take_error()? {
                let Stage::Connecting { left, .. } = &mut self.stage else { return Err(error) };
                if left.is_empty() {
                    return Err(error);
                }
                *self = Tcp::reach(std::mem::take(left))?;
                return self.settle(watch, token);
            }
            if self.stream.peer_addr().is_err() {
                return Ok(false);
            }
        }
        if let Stage::Accepted = self.stage {
            watch.add(&self.stream, token)?;
        }
        self.stage = Stage::Connected;
        Ok(true)
    }

    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buf)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn finish(&mut self) -> io::Result<()> {
        // The kernel delivers the data that it has, and then the end, even if this process dies.
        linger(&self.stream, None)?;
        match self.stream.shutdown(Shutdown::Write) {
            // The connection has ended already.
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(()),
            outcome => outcome,
        }
    }

    fn abort(self, _why: &str) {
        // A reset even if one direction has ended: data that the program wrote in the other may not have arrived.
        let _ = linger(&self.stream, Some(Duration::ZERO));
    }
}
