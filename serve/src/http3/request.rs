//! One request of an HTTP/3 connection, and its answer.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use h3::error::{Code, ConnectionError, StreamError};
use h3::quic::BidiStream;
use h3::server::{RequestResolver, RequestStream};
use hyper::body::{Body, Bytes};
use tokio::time::timeout;

use super::bounded::Bounded;
use crate::body::Flow;
use crate::exchange::answer;
use crate::law::Lane;
use crate::ledger::{Carrier, Ledger};
use crate::server::Shared;

type Asked = RequestResolver<Bounded<h3_quinn::Connection>, Bytes>;

/// How an answer ended.
enum End {
    Whole,
    /// What is sent could not be read.
    Broken,
    /// The client has gone, or does not want it any more.
    Unwanted,
    /// It has read nothing for long.
    Stalled,
}

/// Answers to the end, good or bad.
pub(super) async fn serve(asked: Asked, shared: Arc<Shared>, lane: Arc<Lane>) {
    let (request, mut stream) = match timeout(shared.limits.request, asked.resolve_request()).await {
        Ok(Ok(resolved)) => resolved,
        Ok(Err(error)) if is_bad(&error) => return Ledger::add(&shared.ledger.bad, 1),
        _ => return,
    };
    // Nothing that may follow the head is read.
    stream.stop_sending(Code::H3_NO_ERROR);
    // As many files at a time as connections, over all connections.
    let Ok(_file) = shared.files.acquire().await else { return };
    let (head, flow) = answer(request.into_parts().0, shared.clone(), lane, Carrier::Quic).await.into_parts();
    let head = hyper::Response::from_parts(head, ());
    let sent = timeout(shared.limits.stall, stream.send_response(head)).await;
    let end = match sent {
        Ok(Ok(())) => send(flow, &mut stream, &shared).await,
        Ok(Err(_)) => End::Unwanted,
        Err(_) => End::Stalled,
    };
    match end {
        End::Whole => drop(stream.finish().await),
        End::Broken => stream.stop_stream(Code::H3_INTERNAL_ERROR),
        End::Unwanted => stream.stop_stream(Code::H3_REQUEST_CANCELLED),
        End::Stalled => {
            Ledger::add(&shared.ledger.stalled, 1);
            stream.stop_stream(Code::H3_REQUEST_CANCELLED);
        }
    }
}

/// Whether what came is no request or too long for one, rather than that the client has gone.
fn is_bad(error: &StreamError) -> bool {
    match error {
        StreamError::StreamError { .. } | StreamError::HeaderTooBig { .. } | StreamError::Undefined { .. } => true,
        StreamError::ConnectionError { 0: error, .. } => matches!(error, ConnectionError::Local { .. }),
        _ => false,
    }
}

async fn send<S: BidiStream<Bytes>>(flow: Flow, stream: &mut RequestStream<S, Bytes>, shared: &Shared) -> End {
    let mut flow = pin!(flow);
    while let Some(next) = poll_fn(|cx| flow.as_mut().poll_frame(cx)).await {
        let Ok(frame) = next else { return End::Broken };
        let Ok(bytes) = frame.into_data() else { continue };
        match timeout(shared.limits.stall, stream.send_data(bytes)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return End::Unwanted,
            Err(_) => return End::Stalled,
        }
    }
    flow.linger();
    End::Whole
}
