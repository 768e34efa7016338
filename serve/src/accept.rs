//! Acceptance of TCP connections: those without a place wait in line, and the line keeps out no client that has a right
//! to one.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::places::{Occupant, Place, Places, share};
use crate::shared::Shared;

/// Limit on waiting connections, if there are as many places.
const LONGEST: usize = 1024;

/// Waiting clients, in the order of arrival.
type AcceptQueue = VecDeque<(TcpStream, IpAddr)>;

/// Accepts connections until the server ends. Each gets one of `places`, and is then served by `serve`.
pub(crate) async fn accept<Served>(
    listener: TcpListener,
    shared: Arc<Shared>,
    places: Arc<Places>,
    serve: impl Fn(TcpStream, Arc<Occupant>) -> Served,
) where
    Served: Future<Output = ()> + Send + 'static,
{
    // Without a place, a client over QUIC was faster.
    let admit = |place: Option<Place>, stream| {
        if let Some(place) = place {
            let occupant = place.occupant().clone();
            shared.admit(place, serve(stream, occupant));
        }
    };
    let mut accept_queue = AcceptQueue::new();
    loop {
        let next = poll_fn(|cx| match listener.poll_accept(cx) {
            Poll::Ready(accepted) => Poll::Ready(Some(accepted)),
            Poll::Pending if accept_queue.is_empty() => Poll::Pending,
            Poll::Pending => places.poll_free(cx).map(|()| None),
        });
        let is_newcomer = match next.await {
            Some(Ok((stream, from))) => {
                accept_queue.push_back((stream, share(from.ip())));
                true
            }
            // The client was gone at once, or there is no descriptor: the next may do better.
            Some(Err(_)) => {
                sleep(Duration::from_millis(20)).await;
                false
            }
            None => false,
        };
        while places.free() > 0
            && let Some((stream, from)) = accept_queue.pop_front()
        {
            admit(places.take(from), stream);
        }
        // A place that an address with more connections gives up is for the newcomer, not for earlier arrivals.
        if is_newcomer
            && let Some(place) = accept_queue.back().and_then(|(_, from)| places.take(*from))
            && let Some((stream, _)) = accept_queue.pop_back()
        {
            admit(Some(place), stream);
        }
        if accept_queue.len() > LONGEST.min(shared.limits.connections) {
            shorten(&mut accept_queue);
        }
    }
}

/// Closes the newest connection of the address that has the most in line.
fn shorten(accept_queue: &mut AcceptQueue) {
    let mut of: HashMap<IpAddr, usize> = HashMap::new();
    for (_, from) in accept_queue.iter() {
        *of.entry(*from).or_default() += 1;
    }
    let greatest = of.into_iter().max_by_key(|(_, count)| *count);
    if let Some(last) = greatest.and_then(|(greatest, _)| accept_queue.iter().rposition(|(_, from)| *from == greatest))
    {
        accept_queue.remove(last);
    }
}
