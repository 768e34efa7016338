//! The beginning of a connection, with TLS or without.

use std::sync::Arc;

use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::limits::Limits;
use crate::write_timeout::WriteTimeout;

/// The first byte from a TLS client: a record of a handshake (RFC 8446 §5.1).
const HANDSHAKE: u8 = 22;

/// The protocol that a client speaks.
pub(crate) enum Accepted {
    /// TLS, with a completed handshake.
    Tls(Box<TlsStream<WriteTimeout>>),
    /// Plain HTTP, over which the client can be answered.
    Plain(WriteTimeout),
}

/// True if a client of a port without TLS begins a handshake; none if it is silent for as long as a request may take.
pub(crate) async fn wants_tls(stream: &TcpStream, limits: &Limits) -> Option<bool> {
    let mut first = [0];
    timeout(limits.request, stream.peek(&mut first)).await.ok()?.ok()?;
    Some(first == [HANDSHAKE])
}

/// Waits for a handshake, as long as a request may take; none if it fails.
pub(crate) async fn accept(stream: TcpStream, config: &Arc<ServerConfig>, limits: &Limits) -> Option<Accepted> {
    let accepted = async {
        let mut first = [0];
        if stream.peek(&mut first).await.ok()? == 0 {
            return None;
        }
        let stream = WriteTimeout::new(stream, limits.stall);
        match first {
            [HANDSHAKE] => Some(Accepted::Tls(Box::new(TlsAcceptor::from(config.clone()).accept(stream).await.ok()?))),
            // Methods of HTTP are in capitals.
            [b'A'..=b'Z'] => Some(Accepted::Plain(stream)),
            _ => None,
        }
    };
    timeout(limits.request, accepted).await.ok().flatten()
}
