//! HTTP/1.1 over TCP, by hyper.

mod patient;

use std::convert::Infallible;
use std::os::fd::AsFd;
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;

use self::patient::Patient;
use crate::answer::{Answer, Content};
use crate::body::{Flow, Playing};
use crate::law::Lane;
use crate::ledger::{Ledger, While};
use crate::server::{Event, Shared};

/// Bytes that wait for a client, and of the head of a request.
const BUFFER: usize = 64 << 10;

/// Serves a connection to its end, good or bad.
pub(crate) async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let Ok(socket) = stream.as_fd().try_clone_to_owned() else { return };
    let lane = Arc::new(Lane::new(shared.law.clone(), socket, shared.ledger.clone()));
    let io = TokioIo::new(Patient::new(stream, shared.limits.stall));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(shared.limits.request).max_buf_size(BUFFER);
    let stalls = shared.clone();
    let service = service_fn(move |request| answer(request, shared.clone(), lane.clone()));
    if let Err(error) = builder.serve_connection(io, service).await
        && patient::is_stall(&error)
    {
        Ledger::add(&stalls.ledger.stalled, 1);
    }
}

async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    lane: Arc<Lane>,
) -> Result<Response<Flow>, Infallible> {
    let (parts, _) = request.into_parts();
    let site = shared.clone();
    let answered = spawn_blocking(move || site.site.answer(&parts)).await;
    let Answer { head, content, film } = answered.unwrap_or_else(|_| broken());
    Ledger::add(&shared.ledger.requests, 1);
    if head.status().is_client_error() || head.status().is_server_error() {
        Ledger::add(&shared.ledger.refused, 1);
    }
    let film = film.filter(|_| matches!(&content, Content::Piece(piece) if piece.left() > 0)).map(|(name, rate)| {
        if let Err(why) = lane.play(rate) {
            shared.tell(Event::LawLost { why });
        }
        Playing { name, lane, _counted: While::playing(&shared.ledger, rate) }
    });
    Ok(head.map(|()| Flow::new(content, shared, film)))
}

/// What is left to say where answering has failed.
fn broken() -> Answer {
    let mut head = Response::new(());
    *head.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    Answer { head, content: Content::Whole(hyper::body::Bytes::new()), film: None }
}
