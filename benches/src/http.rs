//! An HTTP/1.1 client that discards response bodies.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};

use crate::certificate::NAME;

/// The size of the read buffer.
const PIECE: usize = 1 << 20;

/// The read timeout: a server that is silent for longer is taken for dead.
const SILENCE: Duration = Duration::from_secs(20);

/// The end of a response head.
const END: &[u8] = b"\r\n\r\n";

/// A persistent connection.
#[derive(Debug)]
pub struct Client<S> {
    stream: S,
    room: Vec<u8>,
}

/// Opens a connection without TLS.
pub fn plain(to: SocketAddr) -> io::Result<Client<TcpStream>> {
    let stream = TcpStream::connect(to)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SILENCE))?;
    Ok(Client { stream, room: vec![0; PIECE] })
}

/// Opens a connection with TLS.
pub fn tls(to: SocketAddr, config: &Arc<ClientConfig>) -> io::Result<Client<StreamOwned<ClientConnection, TcpStream>>> {
    let Client { stream, room } = plain(to)?;
    let name = ServerName::try_from(NAME).map_err(io::Error::other)?;
    let session = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
    Ok(Client { stream: StreamOwned::new(session, stream), room })
}

impl<S: Read + Write> Client<S> {
    /// Reads a whole file; returns its length in bytes.
    pub fn fetch(&mut self, file: &str) -> io::Result<u64> {
        let (length, had) = self.ask(file)?;
        let mut left = length - had;
        while left > 0 {
            let most = left.min(PIECE as u64) as usize;
            match self.stream.read(&mut self.room[..most])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                len => left -= len as u64,
            }
        }
        Ok(length)
    }

    /// Requests a file and reads the head of the response. Returns the file's length, and the number of its bytes
    /// received with the head.
    pub fn ask(&mut self, file: &str) -> io::Result<(u64, u64)> {
        write!(self.stream, "GET /{file} HTTP/1.1\r\nHost: {NAME}\r\n\r\n")?;
        let mut had = 0;
        loop {
            let len = self.stream.read(&mut self.room[had..])?;
            had += len;
            if let Some(at) = self.room[..had].windows(END.len()).position(|bytes| bytes == END) {
                let head = String::from_utf8_lossy(&self.room[..at]).to_lowercase();
                let after = (had - at - END.len()) as u64;
                return length(&head).map(|length| (length, after));
            }
            if len == 0 || had == PIECE {
                return Err(io::Error::other("an answer without a head"));
            }
        }
    }

    /// The underlying connection.
    pub fn into_stream(self) -> S {
        self.stream
    }
}

fn length(head: &str) -> io::Result<u64> {
    let value = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length = value.and_then(|value| value.trim().parse().ok()).filter(|_| head.starts_with("http/1.1 200"));
    length.ok_or_else(|| io::Error::other(format!("an answer of another kind: {head}")))
}
