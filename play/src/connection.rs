//! An RTSP connection: a TCP socket that never blocks, and the client over it.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use socket2::{Domain, Protocol, Type};
use thalweg_core::time::{Span, Time};
use thalweg_net::error::plain;
use thalweg_net::poll::{Interests, Ready};
use thalweg_rtsp::client::{Client, Event};
use thalweg_rtsp::url::Url;

/// Bytes read at a time.
const READ: usize = 64 << 10;
/// The time that a connection may take to open.
const PATIENCE: Span = Span::from_secs(10);
const AGENT: &str = concat!("Thalweg/", env!("CARGO_PKG_VERSION"));

/// A connection.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    pub(crate) client: Client,
    /// The server as `HOST:PORT`.
    peer: String,
    /// The time at which the attempt to connect is given up; none once it is connected.
    connecting_until: Option<Time>,
    outgoing: Vec<u8>,
}

impl Connection {
    /// Begins to connect to `server`.
    pub(crate) fn open(now: Time, url: &Url, server: SocketAddr) -> io::Result<Connection> {
        let socket = socket2::Socket::new(Domain::for_address(server), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        match socket.connect(&server.into()) {
            Err(error) if error.raw_os_error() != Some(Errno::INPROGRESS.raw_os_error()) => return Err(error),
            _ => {}
        }
        let stream = TcpStream::from(socket);
        let _ = stream.set_nodelay(true);
        let client = Client::new(now, url.clone(), AGENT);
        let peer = url.authority();
        Ok(Connection { stream, client, peer, connecting_until: Some(now + PATIENCE), outgoing: Vec::new() })
    }

    /// Registers the descriptor.
    pub(crate) fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        if self.connecting_until.is_some() || !self.outgoing.is_empty() {
            interests.write(&self.stream);
        } else {
            interests.read(&self.stream);
        }
    }

    /// The time of the next timeout.
    pub(crate) fn next(&self) -> Option<Time> {
        self.connecting_until.or_else(|| self.client.poll_timeout())
    }

    /// Reads and writes. Returns true if more may be waiting.
    ///
    /// # Errors
    /// The connection has ended, with the reason.
    pub(crate) fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, String> {
        let is_ready = ready.take();
        if let Some(until) = self.connecting_until {
            if is_ready {
                match self.stream.take_error() {
                    Ok(None) => self.connecting_until = None,
                    Ok(Some(error)) if error.kind() == ErrorKind::ConnectionRefused => {
                        return Err(format!("connection refused by {}, where serve --rtsp must listen", self.peer));
                    }
                    Ok(Some(error)) | Err(error) => return Err(plain(&error)),
                }
            } else if now >= until {
                return Err(format!(
                    "no answer from {} within 10 s; check the address, the port of serve --rtsp, and that firewalls let \
                     TCP through to it",
                    self.peer
                ));
            } else {
                return Ok(false);
            }
        }
        let more = is_ready && self.read(now)?;
        self.client.handle_timeout(now);
        self.flush().map_err(|error| plain(&error))?;
        Ok(more)
    }

    /// Sends what the client has written.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.connecting_until.is_some() {
            return Ok(());
        }
        self.outgoing.extend(self.client.poll_transmit().into_iter().flatten());
        while !self.outgoing.is_empty() {
            match self.stream.write(&self.outgoing) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(written) => drop(self.outgoing.drain(..written)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self, now: Time) -> Result<bool, String> {
        let mut buf = vec![0; READ];
        match self.stream.read(&mut buf) {
            Ok(0) => Err("the server has closed the connection".to_owned()),
            Ok(len) => {
                self.client.handle_bytes(now, &buf[..len]);
                Ok(len == READ)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(false),
            Err(error) => Err(plain(&error)),
        }
    }

    /// The next event.
    pub(crate) fn poll_event(&mut self) -> Option<Event> {
        self.client.poll_event()
    }
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}
