//! Thalweg's tunnels for programs that use tokio: connections are [`tokio::io::AsyncRead`] and
//! [`tokio::io::AsyncWrite`].
//!
//! A [`Connector`] connects to a [`Listener`]; both have the same key. Every [`Connection`] is a lossless stream of
//! bytes each way, and all of them share one encrypted association over UDP, which survives address changes and
//! silence.
//!
//! ```
//! use thalweg_tokio::{Config, Connector, Key, Listener, entropy};
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # fn main() -> std::io::Result<()> {
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let key = Key::shared(&mut entropy::keys()?);
//! let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), &key, Config::default())?;
//! let connector = Connector::connect(listener.local_addr(), &key, Config::default()).await?;
//!
//! let mut near = connector.open()?;
//! near.write_all(b"hello").await?;
//! near.shutdown().await?;
//!
//! let mut far = listener.accept().await?;
//! let mut text = String::new();
//! far.read_to_string(&mut text).await?;
//! assert_eq!(text, "hello");
//!
//! drop((near, far));
//! let cost = connector.close().await?; // Waits until all has arrived.
//! assert_eq!(cost.get("carried_out_bytes_total"), 5.0);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! Each endpoint has settings of its own, by default those of `thalweg tunnel`:
//!
//! ```
//! use thalweg_tokio::{Choice, Config, Rate, Span};
//!
//! let config = Config {
//!     rate: Choice::Tfrc(()),
//!     max_rate: Some(Rate::from_mbps(40)),
//!     resume: Span::from_secs(10),
//!     ..Config::default()
//! };
//! assert!(config.rates().contains(&Rate::from_mbps(40)));
//! ```
//!
//! Programs can also read what `thalweg tunnel` shows: every metric by its name in docs/metrics.md, as of the end of
//! the last second, and every event, once. NaN stands for an unknown value or an unknown name.
//!
//! ```no_run
//! # async fn watch(connector: thalweg_tokio::Connector) {
//! while let Some(report) = connector.report().await {
//!     let trip = connector.figures().map_or(f64::NAN, |figures| figures.get("rtt_seconds"));
//!     eprintln!("{}: {} (round trip {trip} s)", report.event, report.text);
//! }
//! # }
//! ```
//!
//! Each endpoint has one thread of its own, with the event loop that `thalweg tunnel` runs; nothing here needs a
//! feature of tokio's runtime, or any particular runtime.

mod connection;

use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::thread;

pub use thalweg_core::law::rate::Choice;
pub use thalweg_core::session::secure::Key;
pub use thalweg_core::session::tunnel::Config;
pub use thalweg_core::time::{Span, Time};
pub use thalweg_core::units::Rate;
pub use thalweg_net::figures::Figures;
pub use thalweg_net::report::{Fact, Report};
pub use thalweg_net::{entropy, key_file};

pub use self::connection::Connection;

use thalweg_core::session::tunnel::{Error, Tunnel};
use thalweg_net::clock::{Clock, sharpen_timers};
use thalweg_net::driver::Driver;
use thalweg_net::endpoint::{InProcess, TunnelEndpoint};
use thalweg_net::in_process::Handle;
use thalweg_net::signal::Stop;
use thalweg_net::udp::{Socket, unspecified};

/// The endpoint that connects. Once it is dropped, its connections live on until they end by themselves.
#[derive(Debug)]
pub struct Connector {
    handle: Handle,
}

/// The endpoint that is connected to. Once it is dropped, it accepts no more connections, and the existing ones live on
/// until they end by themselves.
#[derive(Debug)]
pub struct Listener {
    handle: Handle,
    local: SocketAddr,
}

impl Connector {
    /// Connects to a listener, and waits until both endpoints have proved possession of the key.
    ///
    /// # Errors
    /// The configuration or the key is invalid, no peer answers within ten seconds, or one answers with another key.
    pub async fn connect(to: SocketAddr, key: &Key, config: Config) -> io::Result<Connector> {
        let (clock, socket) = (Clock::start(), Socket::bind(unspecified(to))?);
        let tunnel = Tunnel::connect(config, key, to, clock.now(), entropy::keys()?).map_err(invalid)?;
        let handle = start(clock, socket, tunnel, true)?;
        poll_fn(|context| handle.poll_up(context)).await?;
        Ok(Connector { handle })
    }

    /// The next event: the peer is up, moves, falls silent, is back, is gone, and the outcomes of connections; the
    /// events of `thalweg tunnel --json` (docs/metrics.md). Up to 1024 events are kept until they are read, the newest
    /// ones; each is given once, to the first caller. `None` once the tunnel has ended and all events were given.
    pub async fn report(&self) -> Option<Report> {
        poll_fn(|context| self.handle.poll_report(context)).await
    }

    /// The metrics that `thalweg tunnel` shows (docs/metrics.md), as of the end of the last second; `None` in the first
    /// second.
    pub fn figures(&self) -> Option<Figures> {
        self.handle.figures()
    }

    /// Opens a connection. Bytes may be written at once; if the peer refuses the connection, reads fail.
    ///
    /// # Errors
    /// The tunnel has ended.
    pub fn open(&self) -> io::Result<Connection> {
        self.handle.open().map(Connection::new)
    }

    /// Waits until all connections have ended, at both endpoints, and all written bytes have arrived; returns the last
    /// figures.
    ///
    /// # Errors
    /// The peer was lost.
    pub async fn close(self) -> io::Result<Figures> {
        close(self.handle).await
    }
}

impl Listener {
    /// Listens at an address; port 0 takes a free one.
    ///
    /// # Errors
    /// The configuration or the key is invalid, or the address is not local or in use.
    pub fn bind(at: SocketAddr, key: &Key, config: Config) -> io::Result<Listener> {
        let (clock, socket) = (Clock::start(), Socket::bind(at)?);
        let local = socket.local();
        let tunnel = Tunnel::serve(config, key, entropy::keys()?).map_err(invalid)?;
        Ok(Listener { handle: start(clock, socket, tunnel, false)?, local })
    }

    /// The local address.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// The next event, as for [`Connector::report`].
    pub async fn report(&self) -> Option<Report> {
        poll_fn(|context| self.handle.poll_report(context)).await
    }

    /// The metrics, as for [`Connector::figures`], over all connectors.
    pub fn figures(&self) -> Option<Figures> {
        self.handle.figures()
    }

    /// Accepts the next connection that a connector has opened.
    ///
    /// # Errors
    /// The tunnel has ended.
    pub async fn accept(&self) -> io::Result<Connection> {
        poll_fn(|context| self.handle.poll_accept(context)).await.map(Connection::new)
    }

    /// Waits until all connections have ended, at both endpoints, and all written bytes have arrived; returns the last
    /// figures.
    ///
    /// # Errors
    /// The event loop failed.
    pub async fn close(self) -> io::Result<Figures> {
        close(self.handle).await
    }
}

async fn close(handle: Handle) -> io::Result<Figures> {
    let closing = handle.close();
    poll_fn(|context| closing.poll_end(context)).await
}

fn invalid(error: Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// Runs the event loop in a thread of its own.
fn start(clock: Clock, peer: Socket, tunnel: Tunnel, calls: bool) -> io::Result<Handle> {
    let (memory, handle) = InProcess::new(calls)?;
    let (ending, audience) = (memory.ending(), Box::new(memory.audience()));
    let endpoint = TunnelEndpoint::new(tunnel, memory).map_err(io::Error::other)?;
    let driver = Driver { clock, stop: Stop::default(), peer, endpoint, metrics: None, audience };
    thread::Builder::new().name("thalweg".to_owned()).spawn(move || {
        sharpen_timers();
        let outcome = driver.run().map_err(|error| error.to_string());
        ending.report(outcome.and_then(|endpoint| endpoint.failure().map_or(Ok(()), |why| Err(why.to_owned()))));
    })?;
    Ok(handle)
}

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
