//! One request and its answer, counted and given its lane, over any version of HTTP.

use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::ALT_SVC;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use thalweg_core::time::Span;
use tokio::task::spawn_blocking;

use crate::answer::{Answer, Content};
use crate::body::{Flow, Playing};
use crate::law::{Download, Lane};
use crate::ledger::{Carrier, Ledger, While};
use crate::server::Shared;

/// Answers a request that came over `carrier`.
pub(crate) async fn answer(parts: Parts, shared: Arc<Shared>, lane: Arc<Lane>, carrier: Carrier) -> Response<Flow> {
    let busy = lane.busy();
    let site = shared.clone();
    let answered = spawn_blocking(move || site.site.answer(&parts)).await;
    let Answer { head, content, film, download } = answered.unwrap_or_else(|_| broken());
    count(&head, &shared, carrier);
    let download = download.then(|| Download::of(lane.clone()));
    let film = film.filter(|_| matches!(&content, Content::Piece(piece) if piece.left() > 0)).map(|(name, rate)| {
        if let Some(event) = lane.play(rate) {
            shared.tell(event);
        }
        Playing { name, rate, lane, waits: Span::ZERO, _counted: While::playing(&shared.ledger, rate) }
    });
    let mut response = head.map(|()| Flow::new(content, shared.clone(), film, Some((busy, download))));
    if let Some(port) = shared.alt_svc.clone().filter(|_| carrier == Carrier::Tls) {
        response.headers_mut().insert(ALT_SVC, port);
    }
    response
}

/// Answers in a line, whatever was asked for.
pub(crate) fn told(answer: Answer, shared: Arc<Shared>, carrier: Carrier) -> Response<Flow> {
    count(&answer.head, &shared, carrier);
    answer.head.map(|()| Flow::new(answer.content, shared, None, None))
}

fn count(head: &Response<()>, shared: &Shared, carrier: Carrier) {
    let ledger = &shared.ledger;
    Ledger::add(&ledger.requests, 1);
    if let Some(of) = ledger.of(carrier) {
        Ledger::add(&of.requests, 1);
    }
    if head.status().is_client_error() || head.status().is_server_error() {
        Ledger::add(&ledger.refused, 1);
    }
}

/// What is left to say where answering has failed.
fn broken() -> Answer {
    let mut head = Response::new(());
    *head.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    Answer { head, content: Content::Whole(Bytes::new()), film: None, download: false }
}
