//! HTTP/3 over QUIC, by h3 and quinn, at the port of TLS.

mod bounded;
mod listen;
mod request;

pub(crate) use self::listen::{WAITING, bind, listen, open};

use std::sync::Arc;

use hyper::body::Bytes;
use quinn::Incoming;
use tokio::task::JoinSet;
use tokio::time::timeout;

use self::bounded::Bounded;
use crate::law::{Lane, Way};
use crate::ledger::{Ledger, While};
use crate::places::Occupant;
use crate::server::Shared;

/// Bytes of the head of a request.
const HEAD: u64 = 64 << 10;

/// A connection under h3.
type Connection = h3::server::Connection<Bounded<h3_quinn::Connection>, Bytes>;

/// Serves a connection to its end, good or bad.
async fn serve(incoming: Incoming, shared: Arc<Shared>, occupant: Arc<Occupant>) {
    let handshake = async { incoming.accept().ok()?.await.ok() };
    let Some(connection) = timeout(shared.limits.request, handshake).await.ok().flatten() else {
        return Ledger::add(&shared.ledger.handshakes, 1);
    };
    let _counted = While::new(&shared.ledger, 1, |ledger| &ledger.quic.connections);
    let lane = Lane::new(shared.law.clone(), Way::Quic(connection.clone()), shared.ledger.clone(), occupant);
    let mut builder = h3::server::builder();
    builder.max_field_section_size(HEAD);
    let bounded = Bounded::new(h3_quinn::Connection::new(connection));
    let built = timeout(shared.limits.request, builder.build(bounded)).await;
    if let Ok(Ok(connection)) = built {
        requests(connection, &shared, &Arc::new(lane)).await;
    }
}

/// Answers each request by itself, until nobody asks any more.
async fn requests(mut connection: Connection, shared: &Arc<Shared>, lane: &Arc<Lane>) {
    // They end with the connection.
    let mut under_way = JoinSet::new();
    loop {
        match timeout(shared.limits.request, connection.accept()).await {
            Ok(Ok(Some(asked))) => {
                under_way.spawn(request::serve(asked, shared.clone(), lane.clone()));
            }
            Ok(Ok(None) | Err(_)) => return,
            // Quiet for long, with nothing under way.
            Err(_) if under_way.is_empty() => return,
            Err(_) => {}
        }
        while under_way.try_join_next().is_some() {}
    }
}
