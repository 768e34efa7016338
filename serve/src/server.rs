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

use crate::catalog::frames::{Indexes, Keep};
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
use crate::{accept, http1, http3, rescan, rtsp};

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
    /// The address to listen on for HTTP (TCP); without one, there is no HTTP.
    pub listen: Option<SocketAddr>,
    /// The address to listen on for RTSP (TCP); RTP and RTCP use the next even UDP port and the one after it, or any such
    /// pair if these are taken. Without an address, there is no RTSP.
    pub rtsp: Option<SocketAddr>,
    /// The place in which indexes of frames, which RTSP needs, are kept from one start to the next.
    pub keep: Option<Keep>,
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
    local: Option<SocketAddr>,
    rtsp: Option<SocketAddr>,
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
        let Config { folder, listen, rtsp, keep, law, identity, user, rate, downloads, mut limits } = config;
        limits.connections = limits.connections.min(max_connections(rtsp.is_some()));
        let tls = identity.as_ref().map(Identity::over_tcp).transpose().map_err(|error| format!("TLS: {error}"))?;
        let http = listen.map(|at| bind(at, identity.is_some()).map_err(|error| tried(at, &error))).transpose()?;
        let mut ports = rtsp.map(|at| rtsp::bind(at).map_err(|error| tried(at, &error))).transpose()?;
        let note = ports.as_mut().and_then(|ports| ports.note.take());
        if let Some(user) = user {
            // Before there is a second thread: each thread has rights of its own.
            user.take_over().map_err(|error| format!("dropping privileges: {}", plain(&error)))?;
        }
        let local = http.as_ref().and_then(|(listener, _)| listener.local_addr().ok());
        let rtsp_local = ports.as_ref().and_then(|ports| ports.listener.local_addr().ok());
        let site = Site::open(&folder, rate, downloads);
        let site = site.map_err(|error| format!("{}: {}", folder.display(), plain(&error)))?;
        let begun = |error: io::Error| format!("starting: {}", plain(&error));
        let runtime =
            Builder::new_multi_thread().enable_all().max_blocking_threads(MAX_UNANSWERED).build().map_err(begun)?;
        let within = runtime.enter();
        let (listener, socket) = http.unzip();
        let listener = listener.map(TcpListener::from_std).transpose().map_err(begun)?;
        let quic = identity.zip(socket.flatten());
        let quic = quic.map(|(identity, socket)| http3::open(socket, &identity, &law, rate, &limits));
        let quic = quic.transpose().map_err(begun)?;
        let indexes = Arc::new(Indexes::new(site.root(), keep));
        let site = match rtsp_local {
            Some(local) => site.with_rtsp(local.port(), indexes.clone()),
            None => site,
        };
        let ports = ports.map(|ports| ports.open(limits.connections, indexes)).transpose().map_err(begun)?;
        drop(within);
        let alt_svc = quic.as_ref().zip(local).and_then(|(_, local)| format!("h3=\":{}\"", local.port()).parse().ok());
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
        note.into_iter().for_each(|note| shared.report(Event::Note(note)));
        shared.report_catalog();
        if let Some(listener) = listener {
            let served = shared.clone();
            let serve = move |stream, occupant| http1::serve(stream, served.clone(), occupant);
            runtime.spawn(accept::accept(listener, shared.clone(), shared.places.clone(), serve));
        }
        if let Some((listener, rtsp)) = ports {
            runtime.spawn(rtsp::listen(listener, rtsp, shared.clone()));
        }
        if let Some(endpoint) = quic.clone() {
            runtime.spawn(http3::listen(endpoint, shared.clone()));
        }
        let scanner = rescan::start(shared.clone()).map_err(begun)?;
        runtime.spawn(measure(shared.ledger.clone()));
        Ok(Server { runtime: Some(runtime), quic, local, rtsp: rtsp_local, shared, events, _scanner: scanner })
    }

    /// The address that the server listens on for HTTP, if it does.
    pub fn local(&self) -> Option<SocketAddr> {
        self.local
    }

    /// The address that the server listens on for RTSP, if it does.
    pub fn rtsp(&self) -> Option<SocketAddr> {
        self.rtsp
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
fn max_connections(has_rtsp: bool) -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    let open = if raised { maximum } else { current };
    // Five for each: its own, that of its law, that of its file, one for an answer over QUIC, and one for a client that
    // waits in line; some for everything else. RTSP has as many places beside them, and three for each.
    let each = if has_rtsp { 8 } else { 5 };
    open.map_or(usize::MAX, |open| (usize::try_from(open).unwrap_or(usize::MAX).saturating_sub(64) / each).max(1))
}

/// The message of an address that cannot be listened on.
fn tried(at: SocketAddr, error: &io::Error) -> String {
    format!("listening on {at}: {}", plain(error))
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
