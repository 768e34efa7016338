//! A path between sender and receiver that a test can change while they communicate.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// The time within which a thread notices that its socket was replaced.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The number of datagrams that are recorded.
const RECORDED: usize = 256;

/// Passes datagrams on between one sender and the receiver at `server`, as a NAT does.
pub(crate) struct Relay {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    server: SocketAddr,
    /// The socket that the sender sends to, and from which it gets the receiver's reports.
    near: Mutex<Arc<UdpSocket>>,
    /// The socket from which the receiver gets the sender's datagrams.
    far: Mutex<Arc<UdpSocket>>,
    client: Mutex<Option<SocketAddr>>,
    /// True if the reverse direction loses everything.
    cut_reverse: AtomicBool,
    /// True if both directions lose everything.
    blackout: AtomicBool,
    /// The first datagrams of the sender.
    recorded: Mutex<Vec<Vec<u8>>>,
    over: AtomicBool,
}

impl Relay {
    pub(crate) fn start(server: &str) -> Relay {
        let shared = Arc::new(Shared {
            server: server.parse().expect("an address"),
            near: Mutex::new(socket()),
            far: Mutex::new(socket()),
            client: Mutex::new(None),
            cut_reverse: AtomicBool::new(false),
            blackout: AtomicBool::new(false),
            recorded: Mutex::default(),
            over: AtomicBool::new(false),
        });
        let threads = [Shared::pass_on, Shared::pass_back].map(|pass| {
            let shared = shared.clone();
            std::thread::spawn(move || {
                while !shared.over.load(Ordering::Relaxed) {
                    pass(&shared);
                }
            })
        });
        Relay { shared, threads: threads.into() }
    }

    /// The receiver's present address, as the sender sees it.
    pub(crate) fn near(&self) -> SocketAddr {
        address(&self.shared.near)
    }

    /// The sender's present address, as the receiver sees it.
    pub(crate) fn far(&self) -> SocketAddr {
        address(&self.shared.far)
    }

    /// Moves the receiver to another address, as the sender sees it, and closes the old one.
    pub(crate) fn move_receiver(&self) {
        *self.shared.near.lock().expect("no thread has failed") = socket();
    }

    /// Moves the sender to another address, as the receiver sees it, and closes the old one.
    pub(crate) fn move_sender(&self) {
        *self.shared.far.lock().expect("no thread has failed") = socket();
    }

    /// Sets if the receiver's datagrams are lost from now on.
    pub(crate) fn cut_reverse(&self, cut_reverse: bool) {
        self.shared.cut_reverse.store(cut_reverse, Ordering::Relaxed);
    }

    /// Sets if everything is lost from now on.
    pub(crate) fn set_blackout(&self, blackout: bool) {
        self.shared.blackout.store(blackout, Ordering::Relaxed);
    }

    /// The first datagrams that the sender has sent.
    pub(crate) fn recorded(&self) -> Vec<Vec<u8>> {
        self.shared.recorded.lock().expect("no thread has failed").clone()
    }
}

impl Shared {
    fn pass_on(&self) {
        let near = current(&self.near);
        let mut buffer = [0; 2048];
        let Ok((len, from)) = near.recv_from(&mut buffer) else { return };
        *self.client.lock().expect("no thread has failed") = Some(from);
        let mut recorded = self.recorded.lock().expect("no thread has failed");
        if recorded.len() < RECORDED {
            recorded.push(buffer[..len].to_vec());
        }
        drop(recorded);
        if self.blackout.load(Ordering::Relaxed) {
            return;
        }
        // A datagram that no socket takes is lost, as on any path.
        let _ = current(&self.far).send_to(&buffer[..len], self.server);
    }

    fn pass_back(&self) {
        let far = current(&self.far);
        let mut buffer = [0; 2048];
        let Ok(len) = far.recv(&mut buffer) else { return };
        let client = *self.client.lock().expect("no thread has failed");
        let is_lost = self.cut_reverse.load(Ordering::Relaxed) || self.blackout.load(Ordering::Relaxed);
        if let Some(client) = client.filter(|_| !is_lost) {
            let _ = current(&self.near).send_to(&buffer[..len], client);
        }
    }
}

fn current(socket: &Mutex<Arc<UdpSocket>>) -> Arc<UdpSocket> {
    socket.lock().expect("no thread has failed").clone()
}

fn address(socket: &Mutex<Arc<UdpSocket>>) -> SocketAddr {
    current(socket).local_addr().expect("bound")
}

fn socket() -> Arc<UdpSocket> {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.set_read_timeout(Some(POLL_INTERVAL)).expect("a timeout");
    Arc::new(socket)
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
