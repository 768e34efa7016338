//! One endpoint of a QUIC connection: the server writes an endless video, the client reads and checks it.

use std::net::SocketAddr;
use std::time::Instant;

use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, ReadError, StreamId, Transmit, WriteError,
};

/// The byte of the video at a position.
fn byte_at(place: u64) -> u8 {
    (place % 251) as u8
}

/// The bytes of the video from a position on.
fn piece(from: u64, length: u64) -> Vec<u8> {
    (from..from + length).map(byte_at).collect()
}

pub(crate) struct Host {
    endpoint: Endpoint,
    peer: SocketAddr,
    pub(crate) connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    /// Bytes of the video written, or read.
    pub(crate) bytes: u64,
    out: Vec<u8>,
}

impl Host {
    pub(crate) fn new(endpoint: Endpoint, peer: SocketAddr) -> Host {
        Host { endpoint, peer, connection: None, stream: None, bytes: 0, out: Vec::new() }
    }

    pub(crate) fn connect(&mut self, now: Instant, config: ClientConfig) {
        let connection = self.endpoint.connect(now, config, self.peer, "localhost").expect("an address and a name");
        self.connection = Some(connection);
    }

    /// Handles a received datagram.
    pub(crate) fn handle(&mut self, now: Instant, datagram: &[u8]) {
        let mut answer = Vec::new();
        match self.endpoint.handle(now, self.peer, None, None, BytesMut::from(datagram), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                self.connection.as_mut().expect("a connection that is known").1.handle_event(event);
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                self.connection = Some(accepted.unwrap_or_else(|error| panic!("refused: {:?}", error.cause)));
            }
            Some(DatagramEvent::Response(_)) | None => {}
        }
    }

    /// Handles timeouts and events that are due; returns the next datagram to send, if there is one.
    pub(crate) fn poll(&mut self, now: Instant) -> Option<&[u8]> {
        let (handle, connection) = self.connection.as_mut()?;
        if connection.poll_timeout().is_some_and(|due| due <= now) {
            connection.handle_timeout(now);
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while connection.poll().is_some() {}
        match connection.side() {
            quinn_proto::Side::Server => self.write(),
            quinn_proto::Side::Client => self.read(),
        }
        let (_, connection) = self.connection.as_mut()?;
        self.out.clear();
        let Transmit { size, .. } = connection.poll_transmit(now, 1, &mut self.out)?;
        Some(&self.out[..size])
    }

    /// The time of the next timeout.
    pub(crate) fn timeout(&mut self) -> Option<Instant> {
        self.connection.as_mut()?.1.poll_timeout()
    }

    fn write(&mut self) {
        let (_, connection) = self.connection.as_mut().expect("a connection");
        if self.stream.is_none() && !connection.is_handshaking() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(stream) = self.stream else { return };
        loop {
            match connection.send_stream(stream).write(&piece(self.bytes, 16 * 1024)) {
                Ok(written) => self.bytes += written as u64,
                Err(WriteError::Blocked) => return,
                Err(error) => panic!("the video broke off: {error}"),
            }
        }
    }

    fn read(&mut self) {
        let (_, connection) = self.connection.as_mut().expect("a connection");
        if self.stream.is_none() {
            self.stream = connection.streams().accept(Dir::Uni);
        }
        let Some(stream) = self.stream else { return };
        let mut stream = connection.recv_stream(stream);
        let mut chunks = stream.read(true).expect("a stream that is open");
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    let length = chunk.bytes.len() as u64;
                    assert!(chunk.bytes[..] == piece(self.bytes, length)[..], "the video, byte for byte");
                    self.bytes += length;
                }
                Err(ReadError::Blocked) => break,
                Ok(None) | Err(ReadError::Reset(_)) => panic!("a video without end has ended"),
            }
        }
        let _ = chunks.finalize();
    }
}
