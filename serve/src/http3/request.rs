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
use crate::law::ConnectionRate;
use crate::ledger::{Carrier, Ledger};
use crate::shared::Shared;

type Resolver = RequestResolver<Bounded<h3_quinn::Connection>, Bytes>;

/// The outcome of an answer.
enum End {
    Whole,
    /// The content could not be read.
    Broken,
    /// The client has gone, or has canceled the request.
    Canceled,
    /// The client has read nothing for too long.
    Stalled,
}

/// Answers a request to its end, regular or not.
pub(super) async fn serve(resolver: Resolver, shared: Arc<Shared>, control: Arc<ConnectionRate>) {
    let (request, mut stream) = match timeout(shared.limits.request, resolver.resolve_request()).await {
        Ok(Ok(resolved)) => resolved,
        Ok(Err(error)) if is_bad(&error) => return Ledger::add(&shared.ledger.bad, 1),
        _ => return,
    };
    // Data after the head is not read.
    stream.stop_sending(Code::H3_NO_ERROR);
    // As many files at a time as connections, over all connections.
    let Ok(_file) = shared.files.acquire().await else { return };
    let (head, flow) = answer(request.into_parts().0, shared.clone(), control, Carrier::Quic).await.into_parts();
    let head = hyper::Response::from_parts(head, ());
    let sent = timeout(shared.limits.stall, stream.send_response(head)).await;
    let end = match sent {
        Ok(Ok(())) => send(flow, &mut stream, &shared).await,
        Ok(Err(_)) => End::Canceled,
        Err(_) => End::Stalled,
    };
    match end {
        End::Whole => drop(stream.finish().await),
        End::Broken => stream.stop_stream(Code::H3_INTERNAL_ERROR),
        End::Canceled => stream.stop_stream(Code::H3_REQUEST_CANCELLED),
        End::Stalled => {
            Ledger::add(&shared.ledger.stalled, 1);
            stream.stop_stream(Code::H3_REQUEST_CANCELLED);
        }
    }
}

/// True if the data received is not a request, or too long for one; false if the client has gone.
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
            Ok(Err(_)) => return End::Canceled,
            Err(_) => return End::Stalled,
        }
    }
    flow.linger();
    End::Whole
}
