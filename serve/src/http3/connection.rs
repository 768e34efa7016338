//! An HTTP/3 connection.

use std::sync::Arc;

use hyper::body::Bytes;
use quinn::Incoming;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::bounded::Bounded;
use super::request;
use crate::law::{ConnectionRate, Transport};
use crate::ledger::{GaugeGuard, Ledger};
use crate::places::Occupant;
use crate::shared::Shared;

/// Limit in bytes on the head of a request.
const HEAD: u64 = 64 << 10;

/// A connection under h3.
type Connection = h3::server::Connection<Bounded<h3_quinn::Connection>, Bytes>;

/// Serves a connection to its end, regular or not.
pub(super) async fn serve(incoming: Incoming, shared: Arc<Shared>, occupant: Arc<Occupant>) {
    let handshake = async { incoming.accept().ok()?.await.ok() };
    let Some(connection) = timeout(shared.limits.request, handshake).await.ok().flatten() else {
        return Ledger::add(&shared.ledger.handshakes, 1);
    };
    let _counted = GaugeGuard::new(&shared.ledger, 1, |ledger| &ledger.quic.connections);
    let control =
        ConnectionRate::new(shared.law.clone(), Transport::Quic(connection.clone()), shared.ledger.clone(), occupant);
    let mut builder = h3::server::builder();
    builder.max_field_section_size(HEAD);
    let bounded = Bounded::new(h3_quinn::Connection::new(connection));
    let built = timeout(shared.limits.request, builder.build(bounded)).await;
    if let Ok(Ok(connection)) = built {
        requests(connection, &shared, &Arc::new(control)).await;
    }
}

/// Answers each request in a task of its own, until no more arrive.
async fn requests(mut connection: Connection, shared: &Arc<Shared>, control: &Arc<ConnectionRate>) {
    // The tasks end with the connection.
    let mut tasks = JoinSet::new();
    loop {
        match timeout(shared.limits.request, connection.accept()).await {
            Ok(Ok(Some(resolver))) => {
                tasks.spawn(request::serve(resolver, shared.clone(), control.clone()));
            }
            Ok(Ok(None) | Err(_)) => return,
            // Idle for long, with no answer in progress.
            Err(_) if tasks.is_empty() => return,
            Err(_) => {}
        }
        while tasks.try_join_next().is_some() {}
    }
}
