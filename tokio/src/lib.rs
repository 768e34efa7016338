//! Thalweg's tunnels for programs that use tokio: connections are [`tokio::io::AsyncRead`] and [`tokio::io::AsyncWrite`].
//!
//! A [`Connector`] calls a [`Listener`]; both have the same key. Every [`Connection`] is a lossless stream of bytes each way,
//! and all of them share one encrypted association over UDP, which outlives changed addresses and silence.
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
//! Each end has settings of its own, those of `thalweg tunnel` unless told otherwise:
//!
//! ```
//! use thalweg_tokio::{Choice, Config, Rate, Span};
//!
//! let config = Config {
//!     rate: Choice::Tfrc,
//!     max_rate: Some(Rate::from_mbps(40)),
//!     resume: Span::from_secs(10),
//!     ..Config::default()
//! };
//! assert!(config.rates().contains(&Rate::from_mbps(40)));
//! ```
//!
//! What `thalweg tunnel` shows is at hand, too: every metric by its name in docs/metrics.md, as it was when the last second was
//! over, and every event, once. NaN is what is not known, or has another name.
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
//! Each end has one thread of its own, the loop that `thalweg tunnel` runs; nothing here needs a feature of tokio's runtime, or
//! any particular runtime.

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
use thalweg_net::memory::Handle;
use thalweg_net::signal::Stop;
use thalweg_net::station::{Carrying, Memory};
use thalweg_net::udp::{Socket, unspecified};

/// The end that calls. Dropped, it lets its connections end by themselves.
#[derive(Debug)]
pub struct Connector {
    handle: Handle,
}

/// The end that is called. Dropped, it takes no more connections, and lets those there are end by themselves.
#[derive(Debug)]
pub struct Listener {
    handle: Handle,
    local: SocketAddr,
}

impl Connector {
    /// Calls a listener, and waits until both ends have proved that they have the key.
    ///
    /// # Errors
    /// The configuration or the key is no good, nobody answers within ten seconds, or somebody does with another key.
    pub async fn connect(to: SocketAddr, key: &Key, config: Config) -> io::Result<Connector> {
        let (clock, socket) = (Clock::start(), Socket::bind(unspecified(to))?);
        let tunnel = Tunnel::connect(config, key, to, clock.now(), entropy::keys()?).map_err(invalid)?;
        let handle = start(clock, socket, tunnel, true)?;
        poll_fn(|context| handle.poll_up(context)).await?;
        Ok(Connector { handle })
    }

    /// What happens next: the other end is there, moves, falls silent, is back, is gone, and what becomes of connections;
    /// the events of `thalweg tunnel --json` (docs/metrics.md). What nobody waits for is kept, the last thousand and some; each
    /// is told once, to whoever asks first. `None` once the tunnel has ended and all was told.
    pub async fn report(&self) -> Option<Report> {
        poll_fn(|context| self.handle.poll_report(context)).await
    }

    /// What `thalweg tunnel` shows and counts (docs/metrics.md), as it was when the last second was over; nothing in the
    /// first second.
    pub fn figures(&self) -> Option<Figures> {
        self.handle.figures()
    }

    /// Opens a connection. Bytes may be written at once; where the other end does not take it, reading says so.
    ///
    /// # Errors
    /// The tunnel has ended.
    pub fn open(&self) -> io::Result<Connection> {
        self.handle.open().map(Connection::new)
    }

    /// Waits until all connections have ended, at both ends, and what was written has arrived; then gives the last figures.
    ///
    /// # Errors
    /// The other end was lost.
    pub async fn close(self) -> io::Result<Figures> {
        close(self.handle).await
    }
}

impl Listener {
    /// Listens at an address; port 0 takes a free one.
    ///
    /// # Errors
    /// The configuration or the key is no good, or the address is not ours or in use.
    pub fn bind(at: SocketAddr, key: &Key, config: Config) -> io::Result<Listener> {
        let (clock, socket) = (Clock::start(), Socket::bind(at)?);
        let local = socket.local();
        let tunnel = Tunnel::serve(config, key, entropy::keys()?).map_err(invalid)?;
        Ok(Listener { handle: start(clock, socket, tunnel, false)?, local })
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// What happens next, as [`Connector::report`] has it.
    pub async fn report(&self) -> Option<Report> {
        poll_fn(|context| self.handle.poll_report(context)).await
    }

    /// What is counted, as [`Connector::figures`] has it, over all connectors.
    pub fn figures(&self) -> Option<Figures> {
        self.handle.figures()
    }

    /// The next connection that a connector has opened.
    ///
    /// # Errors
    /// The tunnel has ended.
    pub async fn accept(&self) -> io::Result<Connection> {
        poll_fn(|context| self.handle.poll_accept(context)).await.map(Connection::new)
    }

    /// Waits until all connections have ended, at both ends, and what was written has arrived; then gives the last figures.
    ///
    /// # Errors
    /// The loop could not go on.
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

/// Runs the loop in a thread of its own.
fn start(clock: Clock, peer: Socket, tunnel: Tunnel, calls: bool) -> io::Result<Handle> {
    let (memory, handle) = Memory::new(calls)?;
    let (ending, audience) = (memory.ending(), Box::new(memory.audience()));
    let station = Carrying::new(tunnel, memory).map_err(io::Error::other)?;
    let driver = Driver { clock, stop: Stop::default(), peer, station, metrics: None, audience };
    thread::Builder::new().name("thalweg".to_owned()).spawn(move || {
        sharpen_timers();
        let outcome = driver.run().map_err(|error| error.to_string());
        ending.tell(outcome.and_then(|station| station.failure().map_or(Ok(()), |why| Err(why.to_owned()))));
    })?;
    Ok(handle)
}
