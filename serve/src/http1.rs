//! HTTP/1.1 over TCP, by hyper, under TLS or as it is.

mod patient;

use std::convert::Infallible;
use std::future::Future;
use std::os::fd::AsFd;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::http::request::Parts;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

pub(crate) use self::patient::Patient;
use crate::answer::speaks_tls;
use crate::body::Flow;
use crate::exchange::{answer, told};
use crate::law::{Lane, Way};
use crate::ledger::{Carrier, Ledger, While};
use crate::server::Shared;
use crate::tls::{Greeting, greet};

/// Bytes that wait for a client, and of the head of a request.
const BUFFER: usize = 64 << 10;

/// Serves a connection to its end, good or bad.
pub(crate) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let Ok(socket) = stream.as_fd().try_clone_to_owned() else { return };
    let lane = Arc::new(Lane::new(shared.law.clone(), Way::Tcp(socket), shared.ledger.clone()));
    let Some(tls) = &shared.tls else {
        let io = Patient::new(stream, shared.limits.stall);
        let each = |parts| answer(parts, shared.clone(), lane.clone(), Carrier::Tcp);
        return carry(io, &shared, each).await;
    };
    match greet(stream, tls, &shared.limits).await {
        Some(Greeting::Tls(io)) => {
            let _counted = While::new(&shared.ledger, 1, |ledger| &ledger.tls.connections);
            let each = |parts| answer(parts, shared.clone(), lane.clone(), Carrier::Tls);
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
    if let Err(error) = builder.serve_connection(TokioIo::new(io), service).await
        && patient::is_stall(&error)
    {
        Ledger::add(&shared.ledger.stalled, 1);
    }
}
