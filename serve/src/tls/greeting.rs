//! How a connection begins, of TLS or without.

use std::sync::Arc;

use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::http1::Patient;
use crate::server::Limits;

/// The first byte of a TLS client: a record of a handshake (RFC 8446 §5.1).
const HANDSHAKE: u8 = 22;

/// What a client turned out to speak.
pub(crate) enum Greeting {
    /// TLS, and the handshake is done.
    Tls(Box<TlsStream<Patient>>),
    /// HTTP as it is; it can be told so.
    Plain(Patient),
}

/// Whether a client of a port without TLS begins a handshake; none if it says nothing for as long as a request may take.
pub(crate) async fn wants_tls(stream: &TcpStream, limits: &Limits) -> Option<bool> {
    let mut first = [0];
    timeout(limits.request, stream.peek(&mut first)).await.ok()?.ok()?;
    Some(first == [HANDSHAKE])
}

/// Waits for a handshake, as long as a request may take; none if it fails.
pub(crate) async fn greet(stream: TcpStream, config: &Arc<ServerConfig>, limits: &Limits) -> Option<Greeting> {
    let greeting = async {
        let mut first = [0];
        if stream.peek(&mut first).await.ok()? == 0 {
            return None;
        }
        let stream = Patient::new(stream, limits.stall);
        match first {
            [HANDSHAKE] => Some(Greeting::Tls(Box::new(TlsAcceptor::from(config.clone()).accept(stream).await.ok()?))),
            // Methods are in capitals.
            [b'A'..=b'Z'] => Some(Greeting::Plain(stream)),
            _ => None,
        }
    };
    timeout(limits.request, greeting).await.ok().flatten()
}
