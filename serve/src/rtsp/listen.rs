//! The listener, and the state that all RTSP connections share.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::rand::{GetRandomFlags, getrandom};
use thalweg_core::rng::Rng;
use thalweg_core::time::Time;

use super::connection;
use super::datagrams::{Datagrams, Pair};
use crate::accept::accept;
use crate::catalog::frames::Indexes;
use crate::places::Places;
use crate::shared::Shared;

/// Limit on the connections that wait to be accepted. The kernel lowers it to `net.core.somaxconn`.
const BACKLOG: i32 = 1024;

/// The state that all RTSP connections share.
#[derive(Debug)]
pub(crate) struct Rtsp {
    pub(crate) datagrams: Datagrams,
    /// Places of connections, beside those of HTTP.
    pub(crate) places: Arc<Places>,
    start: Instant,
    /// The frames of the videos.
    pub(crate) indexes: Arc<Indexes>,
    seeds: Mutex<Rng>,
}

/// The ports of RTSP.
#[derive(Debug)]
pub(crate) struct Ports {
    pub(crate) listener: TcpListener,
    pub(crate) datagrams: Pair,
    /// A line for the operator.
    pub(crate) note: Option<String>,
}

/// Opens the port of RTSP, and two for datagrams at the same address.
pub(crate) fn bind(at: SocketAddr) -> io::Result<Ports> {
    let listener = TcpListener::bind(at)?;
    // The standard library's backlog of 128 overflows when a crowd connects at once; each of it then waits for seconds.
    rustix::net::listen(&listener, BACKLOG)?;
    listener.set_nonblocking(true)?;
    let (datagrams, note) = Datagrams::bind(at.ip(), at.port())?;
    Ok(Ports { listener, datagrams, note })
}

impl Ports {
    /// Takes the ports into this runtime, with places for this many connections.
    pub(crate) fn open(
        self,
        connections: usize,
        indexes: Arc<Indexes>,
    ) -> io::Result<(tokio::net::TcpListener, Arc<Rtsp>)> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        Ok((listener, Arc::new(Rtsp::new(self.datagrams, connections, indexes)?)))
    }
}

/// Accepts connections and takes reports until the server ends.
pub(crate) async fn listen(listener: tokio::net::TcpListener, rtsp: Arc<Rtsp>, shared: Arc<Shared>) {
    let (served, of) = (rtsp.clone(), shared.clone());
    let serve = move |stream, occupant| connection::serve(stream, served.clone(), of.clone(), occupant);
    tokio::join!(accept(listener, shared, rtsp.places.clone(), serve), rtsp.datagrams.receive());
}

impl Rtsp {
    pub(crate) fn new(datagrams: Pair, connections: usize, indexes: Arc<Indexes>) -> io::Result<Rtsp> {
        let mut seed = [[0; 8]; 3];
        getrandom(seed.as_flattened_mut(), GetRandomFlags::empty())?;
        let [seed, secret0, secret1] = seed.map(u64::from_ne_bytes);
        Ok(Rtsp {
            datagrams: Datagrams::new(datagrams)?,
            places: Places::new(connections),
            start: Instant::now(),
            indexes,
            seeds: Mutex::new(Rng::with_secret(seed, [secret0, secret1])),
        })
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// The instant of a time.
    pub(crate) fn instant(&self, at: Time) -> Instant {
        self.start + Duration::from_nanos(at.as_nanos())
    }

    /// Randomness of a connection.
    pub(crate) fn rng(&self) -> Rng {
        let mut seeds = self.seeds.lock().unwrap_or_else(PoisonError::into_inner);
        let number = seeds.u64();
        seeds.fork(&number.to_string())
    }
}
