//! HTTP/1.1 over TCP, by hyper, under TLS or as it is.

mod patient;

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

pub(crate) use self::patient::Patient;
use crate::answer::{names_no_host, speaks_tls};
use crate::body::Flow;
use crate::exchange::{answer, told};
use crate::law::{Lane, Way};
use crate::ledger::{Carrier, Ledger, While};
use crate::places::Occupant;
use crate::server::{Event, Shared};
use crate::tls::{Greeting, greet, wants_tls};

/// Bytes that wait for a client, and of the head of a request.
const BUFFER: usize = 64 << 10;
/// More than the greeting of a TLS client has.
const HELLO: usize = 4 << 10;
/// To whoever speaks TLS to a port of HTTP. He may not see it, but it says more than an end.
const SPEAKS_HTTP: &[u8] =
    b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n\
    content-length: 43\r\n\r\nthis port speaks no TLS: ask with http://\r\n";

/// Serves a connection to its end, good or bad.
pub(crate) async fn serve(stream: TcpStream, shared: Arc<Shared>, occupant: Arc<Occupant>) {
    let _ = stream.set_nodelay(true);
    let Ok(socket) = stream.as_fd().try_clone_to_owned() else { return };
    let lane = Arc::new(Lane::new(shared.law.clone(), Way::Tcp(socket), shared.ledger.clone(), occupant));
    let Some(tls) = &shared.tls else {
        match wants_tls(&stream, &shared.limits).await {
            None => return,
            Some(true) => return turn_away(stream, &shared).await,
            Some(false) => {}
        }
        let io = Patient::new(stream, shared.limits.stall);
        let each = |parts| asked(parts, shared.clone(), lane.clone(), Carrier::Tcp);
        return carry(io, &shared, each).await;
    };
    match greet(stream, tls, &shared.limits).await {
        Some(Greeting::Tls(io)) => {
            let _counted = While::new(&shared.ledger, 1, |ledger| &ledger.tls.connections);
            let each = |parts| asked(parts, shared.clone(), lane.clone(), Carrier::Tls);
            carry(io, &shared, each).await;
        }
        Some(Greeting::Plain(io)) => {
            Ledger::add(&shared.ledger.handshakes, 1);
            let each = |_| async { told(speaks_tls(), shared.clone(), Carrier::Tcp) };
            carry(io, &shared, each).await;
        }
        None => Ledger::add(&shared.ledger.handshakes, 1),
    }
}

async fn carry<Io, Each>(io: Io, shared: &Shared, each: impl Fn(Parts) -> Each)
where
    Io: AsyncRead + AsyncWrite + Unpin,
    Each: Future<Output = Response<Flow>>,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(shared.limits.request).max_buf_size(BUFFER);
    let service = service_fn(|request: Request<Incoming>| {
        let answered = each(request.into_parts().0);
        async { Ok::<_, Infallible>(answered.await) }
    });
    match builder.serve_connection(TokioIo::new(io), service).await {
        Err(error) if patient::is_stall(&error) => Ledger::add(&shared.ledger.stalled, 1),
        // hyper has answered it, without a word.
        Err(error) if error.is_parse() => Ledger::add(&shared.ledger.bad, 1),
        _ => {}
    }
}

/// Answers a request; one that names two hosts or what is none, and of HTTP/1.1 one that names none, is refused (RFC 9112 §3.2).
async fn asked(parts: Parts, shared: Arc<Shared>, lane: Arc<Lane>, carrier: Carrier) -> Response<Flow> {
    let mut hosts = parts.headers.get_all(HOST).iter();
    let is_well = match (hosts.next(), hosts.next()) {
        (None, _) => parts.version != Version::HTTP_11,
        (Some(host), None) => is_host(host),
        _ => false,
    };
    match is_well {
        true => answer(parts, shared, lane, carrier).await,
        false => told(names_no_host(), shared, carrier),
    }
}

/// A host and perhaps a port (RFC 9110 §7.2), or nothing, as of a target without an authority.
fn is_host(value: &HeaderValue) -> bool {
    let Ok(text) = value.to_str() else { return false };
    // An authority may also name a user, and what follows the colon is looked at by nobody.
    let has_port = |rest: &str| {
        rest.is_empty() || rest.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_named = |named: Authority| text.strip_prefix(named.host()).is_some_and(has_port);
    text.is_empty() || text.parse().is_ok_and(is_named)
}

/// Tells whoever runs this server, and who looks at what comes in clear, that this port has no TLS.
async fn turn_away(mut stream: TcpStream, shared: &Shared) {
    Ledger::add(&shared.ledger.bad, 1);
    if !shared.asked_for_tls.swap(true, Ordering::Relaxed) {
        shared.tell(Event::AskedForTls);
    }
    // What is left unread makes a reset of the end, which would overtake the answer.
    let _ = stream.try_read(&mut [0; HELLO]);
    let _ = timeout(shared.limits.stall, stream.write_all(SPEAKS_HTTP)).await;
}
