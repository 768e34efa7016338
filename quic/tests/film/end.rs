//! One end of a QUIC connection: the server writes a film without end, the client reads and checks it.

use std::net::SocketAddr;
use std::time::Instant;

use bytes::BytesMut;
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, ReadError, StreamId, Transmit, WriteError,
};

/// What the film holds at a place.
fn byte_at(place: u64) -> u8 {
    (place % 251) as u8
}

/// A film's bytes from a place on.
fn piece(from: u64, length: u64) -> Vec<u8> {
    (from..from + length).map(byte_at).collect()
}

pub(crate) struct End {
    endpoint: Endpoint,
    peer: SocketAddr,
    pub(crate) connection: Option<(ConnectionHandle, Connection)>,
    stream: Option<StreamId>,
    /// Bytes of the film that were written, or read.
    pub(crate) bytes: u64,
    out: Vec<u8>,
}

impl End {
    pub(crate) fn new(endpoint: Endpoint, peer: SocketAddr) -> End {
        End { endpoint, peer, connection: None, stream: None, bytes: 0, out: Vec::new() }
    }

    pub(crate) fn connect(&mut self, now: Instant, config: ClientConfig) {
        let connection = self.endpoint.connect(now, config, self.peer, "localhost").expect("an address and a name");
        self.connection = Some(connection);
    }

    /// A datagram came.
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

    /// What is due is done; the next datagram, if one may go.
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

    /// When something is due.
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
                Err(error) => panic!("the film broke off: {error}"),
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
                    assert!(chunk.bytes[..] == piece(self.bytes, length)[..], "the film, byte for byte");
                    self.bytes += length;
                }
                Err(ReadError::Blocked) => break,
                Ok(None) | Err(ReadError::Reset(_)) => panic!("a film without end has ended"),
            }
        }
        let _ = chunks.finalize();
    }
}
