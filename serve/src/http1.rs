//! HTTP/1.1 over TCP, by hyper, with or without TLS.

use std::convert::Infallible;
use std::future::Future;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hyper::body::Incoming;
use hyper::header::{HOST, HeaderValue};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::answer::{invalid_host, tls_required};
use crate::body::Flow;
use crate::event::Event;
use crate::exchange::{answer, respond};
use crate::law::{ConnectionRate, Transport};
use crate::ledger::{Carrier, GaugeGuard, Ledger};
use crate::places::Occupant;
use crate::shared::Shared;
use crate::tls::{Accepted, accept, wants_tls};
use crate::write_timeout::{WriteTimeout, is_stall};

/// Limit in bytes on data that waits for a client, and on the head of a request.
const BUFFER: usize = 64 << 10;
/// Bytes read of the first flight of a TLS client, which is shorter.
const HELLO: usize = 4 << 10;
/// The answer to TLS on a port of plain HTTP. The client may not show it, but it says more than a closed connection.
const TLS_UNSUPPORTED: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n\
    content-length: 41\r\n\r\nthis port does not use TLS; use http://\r\n";

/// Serves a connection to its end, regular or not.
pub(crate) async fn serve(stream: TcpStream, shared: Arc<Shared>, occupant: Arc<Occupant>) {
    let _ = stream.set_nodelay(true);
    let Ok(socket) = stream.as_fd().try_clone_to_owned() else { return };
    let control =
        Arc::new(ConnectionRate::new(shared.law.clone(), Transport::Tcp(socket), shared.ledger.clone(), occupant));
    let Some(tls) = &shared.tls else {
        match wants_tls(&stream, &shared.limits).await {
            None => return,
            Some(true) => return refuse_tls(stream, &shared).await,
            Some(false) => {}
        }
        let io = WriteTimeout::new(stream, shared.limits.stall);
        let handler = |parts| answer_valid(parts, shared.clone(), control.clone(), Carrier::Tcp);
        return serve_http(io, &shared, handler).await;
    };
    match accept(stream, tls, &shared.limits).await {
        Some(Accepted::Tls(io)) => {
            let _counted = GaugeGuard::new(&shared.ledger, 1, |ledger| &ledger.tls.connections);
            let handler = |parts| answer_valid(parts, shared.clone(), control.clone(), Carrier::Tls);
            serve_http(io, &shared, handler).await;
        }
        Some(Accepted::Plain(io)) => {
            Ledger::add(&shared.ledger.handshakes, 1);
            let handler = |_| async { respond(tls_required(), shared.clone(), Carrier::Tcp) };
            serve_http(io, &shared, handler).await;
        }
        None => Ledger::add(&shared.ledger.handshakes, 1),
    }
}

async fn serve_http<Io, Handled>(io: Io, shared: &Shared, handler: impl Fn(Parts) -> Handled)
where
    Io: AsyncRead + AsyncWrite + Unpin,
    Handled: Future<Output = Response<Flow>>,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(shared.limits.request).max_buf_size(BUFFER);
    let service = service_fn(|request: Request<Incoming>| {
        let answered = handler(request.into_parts().0);
        async { Ok::<_, Infallible>(answered.await) }
    });
    match builder.serve_connection(TokioIo::new(io), service).await {
        Err(error) if is_stall(&error) => Ledger::add(&shared.ledger.stalled, 1),
        // hyper has answered it, without content.
        Err(error) if error.is_parse() => Ledger::add(&shared.ledger.bad, 1),
        _ => {}
    }
}

/// Answers a request; it is refused if it names two hosts or an invalid one, or none in HTTP/1.1 (RFC 9112 §3.2).
async fn answer_valid(
    parts: Parts,
    shared: Arc<Shared>,
    control: Arc<ConnectionRate>,
    carrier: Carrier,
) -> Response<Flow> {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let is_valid = match (hosts.next(), hosts.next()) {
        (None, _) => parts.version != Version::HTTP_11,
        (Some(host), None) => is_host(host),
        _ => false,
    };
    match is_valid {
        true => answer(parts, shared, control, carrier).await,
        false => respond(invalid_host(), shared, carrier),
    }
}

/// True if the value is a host with an optional port (RFC 9110 §7.2), or empty, as of a target without an authority.
fn is_host(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    // An authority may also name a user, and the part after its colon is not checked.
    let has_port = |rest: &str| {
        rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_named = |named: Authority| text.strip_prefix(named.host()).is_some_and(has_port);
    text.is_empty() || text.parse().is_ok_and(is_named)
}

/// Reports that this port has no TLS: to the operator, and in clear to clients that show it.
async fn refuse_tls(mut stream: TcpStream, shared: &Shared) {
    Ledger::add(&shared.ledger.bad, 1);
    if !shared.asked_for_tls.swap(true, Ordering::Relaxed) {
        shared.report(Event::AskedForTls);
    }
    // Unread data would turn the close into a reset, which would overtake the answer.
    let _ = stream.try_read(&mut [0; HELLO]);
    let _ = timeout(shared.limits.stall, stream.write_all(TLS_UNSUPPORTED)).await;
}
