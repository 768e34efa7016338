//! Connections over TCP as they come: those for which there is no place wait in line, and the line keeps out nobody who has a
//! right to one.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

use crate::http1;
use crate::places::{Place, share};
use crate::server::Shared;

/// Connections that wait, at most, where there are as many places.
const LONGEST: usize = 1024;

/// Waiting clients, in the order of arrival.
type Line = VecDeque<(TcpStream, IpAddr)>;

/// Takes connections until the server ends.
pub(crate) async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut line = Line::new();
    loop {
        let next = poll_fn(|cx| match listener.poll_accept(cx) {
            Poll::Ready(accepted) => Poll::Ready(Some(accepted)),
            Poll::Pending if line.is_empty() => Poll::Pending,
            Poll::Pending => shared.places.poll_free(cx).map(|()| None),
        });
        let is_newcomer = match next.await {
            Some(Ok((stream, from))) => {
                line.push_back((stream, share(from.ip())));
                true
            }
            // A client that was gone at once, or no descriptor: the next may do better.
            Some(Err(_)) => {
                sleep(Duration::from_millis(20)).await;
                false
            }
            None => false,
        };
        while shared.places.free() > 0
            && let Some((stream, from)) = line.pop_front()
        {
            serve(shared.places.take(from), stream, &shared);
        }
        // The place of one of an address that has more is not for those who came before.
        if is_newcomer
            && let Some(place) = line.back().and_then(|(_, from)| shared.places.take(*from))
            && let Some((stream, _)) = line.pop_back()
        {
            serve(Some(place), stream, &shared);
        }
        if line.len() > LONGEST.min(shared.limits.connections) {
            shorten(&mut line);
        }
    }
}

fn serve(place: Option<Place>, stream: TcpStream, shared: &Arc<Shared>) {
    // Without one, somebody over QUIC was quicker.
    if let Some(place) = place {
        let occupant = place.occupant().clone();
        shared.admit(place, http1::serve(stream, shared.clone(), occupant));
    }
}

/// Closes the connection that came last of the address that has the most in line.
fn shorten(line: &mut Line) {
    let mut of: HashMap<IpAddr, usize> = HashMap::new();
    for (_, from) in line.iter() {
        *of.entry(*from).or_default() += 1;
    }
    let greatest = of.into_iter().max_by_key(|(_, count)| *count);
    if let Some(last) = greatest.and_then(|(greatest, _)| line.iter().rposition(|(_, from)| *from == greatest)) {
        line.remove(last);
    }
}
