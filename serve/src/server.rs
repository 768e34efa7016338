//! The server: a listener and its connections.

use std::future::poll_fn;
use std::io;
use std::net::{self, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, sync_channel};
use std::task::Poll;
use std::time::{Duration, Instant};

use hyper::header::HeaderValue;
use quinn::{Endpoint, VarInt};
use rustix::net::listen;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustls::ServerConfig;
use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::answer::Site;
use crate::law::{Lack, Law};
use crate::ledger::{Ledger, While};
use crate::places::{Place, Places};
use crate::tls::Identity;
use crate::user::User;
use crate::{http3, line, look};

/// Events that may wait to be told; more at once are lost.
const EVENTS: usize = 256;
/// Connections that may wait in the kernel's queue, where it allows so many.
const QUEUE: i32 = 1024;
/// Threads that wait for disks.
const WAITING: usize = 16;
/// How long what is under way may take to end.
const GRACE: Duration = Duration::from_millis(500);

/// What is served, where and how.
#[derive(Debug)]
pub struct Config {
    /// The films.
    pub folder: PathBuf,
    /// Where to listen (TCP).
    pub listen: SocketAddr,
    /// How fast connections are sent to.
    pub law: Law,
    /// Who it is over TLS; plain HTTP without.
    pub identity: Option<Identity>,
    /// Whose rights it has once its ports are open; those that it was started with without.
    pub user: Option<User>,
    /// How fast films are played that do not tell it.
    pub rate: Rate,
    /// True if files may be had as downloads, as fast as the path bears.
    pub downloads: bool,
    /// Bounds of what clients may cost.
    pub limits: Limits,
}

/// Bounds of what clients may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Connections at a time; as many more, up to 1024, wait in line.
    pub connections: usize,
    /// How long a client may take for a handshake or a request, and be quiet between two.
    pub request: Duration,
    /// How long a client may read nothing while there is something for it.
    pub stall: Duration,
    /// How often the folder is looked through.
    pub look: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 2000,
            request: Duration::from_secs(30),
            // A player that is paused reads nothing, either; it asks again for the rest.
            stall: Duration::from_secs(60),
            look: Duration::from_secs(10),
        }
    }
}

/// What is worth a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A file of the folder cannot be understood.
    Fault {
        /// The file.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// An answer was broken off.
    Broken {
        /// The file.
        name: String,
        /// Why.
        why: String,
    },
    /// Somebody has asked a port without TLS for TLS, for the first time.
    AskedForTls,
    /// The kernel's law is not to be had, or not any more.
    LawLost(Lack),
    /// The kernel has the law, or another one under its name: from now on connections get it with their next request.
    LawBack {
        /// The name.
        name: String,
    },
}

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) site: Site,
    pub(crate) law: Arc<Law>,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    /// Where HTTP/3 is, for those who ask over TCP (RFC 7838).
    pub(crate) alt_svc: Option<HeaderValue>,
    pub(crate) limits: Limits,
    /// Of connections, over TCP or QUIC.
    pub(crate) places: Arc<Places>,
    /// Of answers over QUIC.
    pub(crate) files: Semaphore,
    pub(crate) ledger: Arc<Ledger>,
    /// Whether a port without TLS was asked for it.
    pub(crate) asked_for_tls: AtomicBool,
    events: SyncSender<Event>,
}

impl Shared {
    pub(crate) fn tell(&self, event: Event) {
        // Nobody waits for who listens.
        let _ = self.events.try_send(event);
    }

    /// Serves a connection, which is counted and has its place until it has ended, or gives it up.
    pub(crate) fn admit(&self, mut place: Place, serving: impl Future<Output = ()> + Send + 'static) {
        Ledger::add(&self.ledger.accepted, 1);
        let counted = While::new(&self.ledger, 1, |ledger| &ledger.connections);
        let ledger = self.ledger.clone();
        tokio::spawn(async move {
            let mut serving = Box::pin(serving);
            let ended = poll_fn(|cx| match place.poll_given_up(cx) {
                Poll::Ready(()) => Poll::Ready(false),
                Poll::Pending => serving.as_mut().poll(cx).map(|()| true),
            });
            if !ended.await {
                Ledger::add(&ledger.displaced, 1);
            }
            // Its descriptors are free before another has its place.
            drop(serving);
            drop((counted, place));
        });
    }
}

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    runtime: Option<Runtime>,
    quic: Option<Endpoint>,
    local: SocketAddr,
    shared: Arc<Shared>,
    events: Receiver<Event>,
    /// The thread that looks through the folder ends with it.
    _looking: Sender<()>,
}

impl Server {
    /// Looks through the folder, and serves it from now on. With a user it wants to be called before the process has a second
    /// thread: those that there are keep the rights that they have.
    ///
    /// # Errors
    /// The folder cannot be read, the address not be listened at, or the user not be become. The text says which.
    pub fn start(config: Config) -> Result<Server, String> {
        let Config { folder, listen, law, identity, user, rate, downloads, mut limits } = config;
        limits.connections = limits.connections.min(room());
        let tried = |error| format!("listening on {listen}: {}", plain(&error));
        let tls = identity.as_ref().map(Identity::over_tcp).transpose().map_err(|error| format!("TLS: {error}"))?;
        let (listener, socket) = bind(listen, identity.is_some()).map_err(tried)?;
        let local = listener.local_addr().map_err(tried)?;
        if let Some(user) = user {
            // Before there is a second thread: each has rights of its own.
            user.take_over().map_err(|error| format!("giving up privileges: {}", plain(&error)))?;
        }
        let site = Site::open(&folder, rate, downloads);
        let site = site.map_err(|error| format!("{}: {}", folder.display(), plain(&error)))?;
        let runtime = Builder::new_multi_thread().enable_all().max_blocking_threads(WAITING).build().map_err(tried)?;
        let within = runtime.enter();
        let listener = TcpListener::from_std(listener).map_err(tried)?;
        let quic = identity.zip(socket).map(|(identity, socket)| http3::open(socket, &identity, &law, rate, &limits));
        let quic = quic.transpose().map_err(tried)?;
        drop(within);
        let alt_svc = quic.as_ref().and_then(|_| format!("h3=\":{}\"", local.port()).parse().ok());
        let (sender, events) = sync_channel(EVENTS);
        let ledger = Arc::new(Ledger::default());
        let places = limits.connections.min(Semaphore::MAX_PERMITS);
        let shared = Arc::new(Shared {
            site,
            law: Arc::new(law),
            tls: tls.map(Arc::new),
            alt_svc,
            limits,
            places: Places::new(limits.connections),
            files: Semaphore::new(places),
            ledger,
            asked_for_tls: AtomicBool::new(false),
            events: sender,
        });
        let catalog = shared.site.catalog();
        shared.ledger.films.store(catalog.films.len() as u64, Ordering::Relaxed);
        for (name, why) in catalog.faults.clone() {
            shared.tell(Event::Fault { name, why });
        }
        runtime.spawn(line::accept(listener, shared.clone()));
        if let Some(endpoint) = quic.clone() {
            runtime.spawn(http3::listen(endpoint, shared.clone()));
        }
        let looking = look::again_and_again(shared.clone()).map_err(tried)?;
        runtime.spawn(measure(shared.ledger.clone()));
        Ok(Server { runtime: Some(runtime), quic, local, shared, events, _looking: looking })
    }

    /// Where it listens.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// What it counts.
    pub fn ledger(&self) -> &Ledger {
        &self.shared.ledger
    }

    /// The law of its connections.
    pub fn law(&self) -> &Law {
        &self.shared.law
    }

    /// The next thing worth telling.
    pub fn poll_event(&self) -> Option<Event> {
        self.events.try_recv().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            if let Some(quic) = self.quic.take() {
                // Otherwise its clients would wait until they give up.
                quic.close(VarInt::from_u32(0), b"");
                let _ = runtime.block_on(async { timeout(GRACE, quic.wait_idle()).await });
            }
            runtime.shutdown_timeout(GRACE);
        }
    }
}

/// What a system says of an error, without its number.
pub(crate) fn plain(error: &io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase()
}

/// For how many connections there are descriptors, of as many as this process may have.
fn room() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_ok();
    let open = if raised { maximum } else { current };
    // Five for each: its own, that of its law, that of its file, one for an answer over QUIC, and one who waits in line; some
    // for all else.
    open.map_or(usize::MAX, |open| (usize::try_from(open).unwrap_or(usize::MAX).saturating_sub(64) / 5).max(1))
}

/// Opens the port, and that of UDP if QUIC is to be had there.
fn bind(at: SocketAddr, quic: bool) -> io::Result<(net::TcpListener, Option<UdpSocket>)> {
    let (tcp, udp) = match quic {
        true => http3::bind(at).map(|(tcp, udp)| (tcp, Some(udp)))?,
        false => (net::TcpListener::bind(at)?, None),
    };
    tcp.set_nonblocking(true)?;
    listen(&tcp, QUEUE)?;
    Ok((tcp, udp))
}

/// Measures how fast bytes leave, each second.
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
