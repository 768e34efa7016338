//! One request and its answer, counted and paced, over any version of HTTP.

use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::ALT_SVC;
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use thalweg_core::time::Span;
use tokio::task::spawn_blocking;

use crate::answer::{Answer, Content};
use crate::body::{Flow, Playing};
use crate::law::{ConnectionRate, Download};
use crate::ledger::{Carrier, GaugeGuard, Ledger};
use crate::shared::Shared;

/// Answers a request that arrived over `carrier`.
pub(crate) async fn answer(
    parts: Parts,
    shared: Arc<Shared>,
    control: Arc<ConnectionRate>,
    carrier: Carrier,
) -> Response<Flow> {
    let busy = control.busy();
    let site = shared.clone();
    let answered = spawn_blocking(move || site.site.answer(&parts)).await;
    let Answer { head, content, video, download } = answered.unwrap_or_else(|_| broken());
    count(&head, &shared, carrier);
    let download = download.then(|| Download::of(control.clone()));
    let video = video.filter(|_| matches!(&content, Content::Piece(piece) if piece.left() > 0)).map(|(name, rate)| {
        if let Some(change) = control.play(rate) {
            shared.report(change.into());
        }
        Playing { name, rate, control, waits: Span::ZERO, _counted: GaugeGuard::playing(&shared.ledger, rate) }
    });
    let mut response = head.map(|()| Flow::new(content, shared.clone(), video, Some((busy, download))));
    if let Some(port) = shared.alt_svc.clone().filter(|_| carrier == Carrier::Tls) {
        response.headers_mut().insert(ALT_SVC, port);
    }
    response
}

/// Returns a fixed answer, whatever the request.
pub(crate) fn respond(answer: Answer, shared: Arc<Shared>, carrier: Carrier) -> Response<Flow> {
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

/// The answer if answering itself has failed.
fn broken() -> Answer {
    let mut head = Response::new(());
    *head.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
    Answer { head, content: Content::Whole(Bytes::new()), video: None, download: false }
}
