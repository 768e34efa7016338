//! The server: a listener and its connections.

use std::io;
use std::net::{self, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, sync_channel};
use std::time::{Duration, Instant};

use quinn::{Endpoint, VarInt};
use rustix::net::listen;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::error::plain;
use crate::event::Event;
use crate::law::Law;
use crate::ledger::Ledger;
use crate::limits::Limits;
use crate::places::Places;
use crate::shared::Shared;
use crate::site::Site;
use crate::tls::Identity;
use crate::user::User;
use crate::{accept, http3, rescan};

/// Limit on events that wait to be reported; further ones are lost.
const EVENTS: usize = 256;
/// Limit on connections in the kernel's queue, if it permits as many.
const QUEUE: i32 = 1024;
/// Threads for blocking disk reads.
const MAX_UNANSWERED: usize = 16;
/// Time that connections have to end at shutdown.
const GRACE: Duration = Duration::from_millis(500);

/// The configuration of a server.
#[derive(Debug)]
pub struct Config {
    /// The folder of the videos.
    pub folder: PathBuf,
    /// The address to listen on (TCP).
    pub listen: SocketAddr,
    /// The rate control of connections.
    pub law: Law,
    /// The identity for TLS; without one, plain HTTP.
    pub identity: Option<Identity>,
    /// The user whose rights the server takes once its ports are open; without one, it keeps those that it was started
    /// with.
    pub user: Option<User>,
    /// The rate of videos that do not state theirs.
    pub rate: Rate,
    /// True if files may be downloaded, as fast as the path permits.
    pub downloads: bool,
    /// Limits on the resources of clients.
    pub limits: Limits,
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    runtime: Option<Runtime>,
    quic: Option<Endpoint>,
    local: SocketAddr,
    shared: Arc<Shared>,
    events: Receiver<Event>,
    /// Ends the scanning thread on drop.
    _scanner: Sender<()>,
}

impl Server {
    /// Scans the folder, and serves it from now on. With a user, it must be called before the process has a second
    /// thread: existing threads keep their rights.
    ///
    /// # Errors
    /// The folder cannot be read, the address not be listened on, or the user's rights not be taken. The text says
    /// which.
    pub fn start(config: Config) -> Result<Server, String> {
        let Config { folder, listen, law, identity, user, rate, downloads, mut limits } = config;
        limits.connections = limits.connections.min(max_connections());
        let tried = |error| format!("listening on {listen}: {}", plain(&error));
        let tls = identity.as_ref().map(Identity::over_tcp).transpose().map_err(|error| format!("TLS: {error}"))?;
        let (listener, socket) = bind(listen, identity.is_some()).map_err(tried)?;
        let local = listener.local_addr().map_err(tried)?;
        if let Some(user) = user {
            // Before there is a second thread: each thread has rights of its own.
            user.take_over().map_err(|error| format!("dropping privileges: {}", plain(&error)))?;
        }
        let site = Site::open(&folder, rate, downloads);
        let site = site.map_err(|error| format!("{}: {}", folder.display(), plain(&error)))?;
        let runtime =
            Builder::new_multi_thread().enable_all().max_blocking_threads(MAX_UNANSWERED).build().map_err(tried)?;
        let within = runtime.enter();
        let listener = TcpListener::from_std(listener).map_err(tried)?;
        let quic = identity.zip(socket).map(|(identity, socket)| http3::open(socket, &identity, &law, rate, &limits));
        let quic = quic.transpose().map_err(tried)?;
        drop(within);
        let alt_svc = quic.as_ref().and_then(|_| format!("h3=\":{}\"", local.port()).parse().ok());
        let (sender, events) = sync_channel(EVENTS);
        let permits = limits.connections.min(Semaphore::MAX_PERMITS);
        let shared = Arc::new(Shared {
            site,
            law: Arc::new(law),
            tls: tls.map(Arc::new),
            alt_svc,
            limits,
            places: Places::new(limits.connections),
            files: Semaphore::new(permits),
            ledger: Arc::default(),
            asked_for_tls: false.into(),
            events: sender,
        });
        let catalog = shared.site.catalog();
        shared.ledger.videos.store(catalog.videos.len() as u64, Ordering::Relaxed);
        for (name, why) in catalog.faults.clone() {
            shared.report(Event::Fault { name, why });
        }
        runtime.spawn(accept::accept(listener, shared.clone()));
        if let Some(endpoint) = quic.clone() {
            runtime.spawn(http3::listen(endpoint, shared.clone()));
        }
        let scanner = rescan::start(shared.clone()).map_err(tried)?;
        runtime.spawn(measure(shared.ledger.clone()));
        Ok(Server { runtime: Some(runtime), quic, local, shared, events, _scanner: scanner })
    }

    /// The address that the server listens on.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// The metrics of the server.
    pub fn ledger(&self) -> &Ledger {
        &self.shared.ledger
    }

    /// The rate control of its connections.
    pub fn law(&self) -> &Law {
        &self.shared.law
    }

    /// The next event, if there is one.
    pub fn poll_event(&self) -> Option<Event> {
        self.events.try_recv().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            if let Some(quic) = self.quic.take() {
                // Otherwise its clients would wait for a timeout.
                quic.close(VarInt::from_u32(0), b"");
                let _ = runtime.block_on(async { timeout(GRACE, quic.wait_idle()).await });
            }
            runtime.shutdown_timeout(GRACE);
        }
    }
}

/// The number of connections for which this process may have enough descriptors.
fn max_connections() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    let open = if raised { maximum } else { current };
    // Five for each: its own, that of its law, that of its file, one for an answer over QUIC, and one for a client that
    // waits in line; some for everything else.
    open.map_or(usize::MAX, |open| (usize::try_from(open).unwrap_or(usize::MAX).saturating_sub(64) / 5).max(1))
}

/// Opens the TCP port, and the UDP port of QUIC if that is used.
fn bind(at: SocketAddr, quic: bool) -> io::Result<(net::TcpListener, Option<UdpSocket>)> {
    let (tcp, udp) = match quic {
        true => http3::bind(at).map(|(tcp, udp)| (tcp, Some(udp)))?,
        false => (net::TcpListener::bind(at)?, None),
    };
    tcp.set_nonblocking(true)?;
    listen(&tcp, QUEUE)?;
    Ok((tcp, udp))
}

/// Measures the rate at which bytes are sent, each second.
async fn measure(ledger: Arc<Ledger>) {
    let (mut before, mut at) = (0, Instant::now());
    loop {
        sleep(Duration::from_secs(1)).await;
        let (sent, now) = (ledger.sent.load(Ordering::Relaxed), Instant::now());
        let span = Span::from_nanos((now - at).as_nanos() as u64);
        ledger.sent_bps.store(Rate::of(Bytes(sent - before), span).as_bps(), Ordering::Relaxed);
        (before, at) = (sent, now);
    }
}
