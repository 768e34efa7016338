//! A way between sender and receiver that a test can bend while they talk.

use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// How soon a thread notices that its socket is another one now.
const GLANCE: Duration = Duration::from_millis(20);
/// How many datagrams are kept.
const HEARD: usize = 256;

/// Passes datagrams on between one sender and the receiver at `server`, as a box that translates addresses does.
pub(crate) struct Relay {
    ways: Arc<Ways>,
    threads: Vec<JoinHandle<()>>,
}

struct Ways {
    server: SocketAddr,
    /// Where the sender sends to; the receiver's reports come from there.
    near: Mutex<Arc<UdpSocket>>,
    /// Where the receiver hears the sender from.
    far: Mutex<Arc<UdpSocket>>,
    client: Mutex<Option<SocketAddr>>,
    /// Whether nothing comes back.
    cut: AtomicBool,
    /// Whether nothing passes.
    dark: AtomicBool,
    /// The first datagrams of the sender.
    heard: Mutex<Vec<Vec<u8>>>,
    over: AtomicBool,
}

impl Relay {
    pub(crate) fn start(server: &str) -> Relay {
        let ways = Arc::new(Ways {
            server: server.parse().expect("an address"),
            near: Mutex::new(socket()),
            far: Mutex::new(socket()),
            client: Mutex::new(None),
            cut: AtomicBool::new(false),
            dark: AtomicBool::new(false),
            heard: Mutex::default(),
            over: AtomicBool::new(false),
        });
        let threads = [Ways::pass_on, Ways::pass_back].map(|pass| {
            let ways = ways.clone();
            std::thread::spawn(move || {
                while !ways.over.load(Ordering::Relaxed) {
                    pass(&ways);
                }
            })
        });
        Relay { ways, threads: threads.into() }
    }

    /// Where the sender finds the receiver now.
    pub(crate) fn near(&self) -> SocketAddr {
        address(&self.ways.near)
    }

    /// Where the receiver finds the sender now.
    pub(crate) fn far(&self) -> SocketAddr {
        address(&self.ways.far)
    }

    /// From now on the receiver is at another address for the sender, and at the old one nobody is.
    pub(crate) fn move_receiver(&self) {
        *self.ways.near.lock().expect("no thread has failed") = socket();
    }

    /// From now on the sender is at another address for the receiver, and at the old one nobody is.
    pub(crate) fn move_sender(&self) {
        *self.ways.far.lock().expect("no thread has failed") = socket();
    }

    /// Whether what the receiver says is lost from now on.
    pub(crate) fn cut(&self, cut: bool) {
        self.ways.cut.store(cut, Ordering::Relaxed);
    }

    /// Whether everything is lost from now on.
    pub(crate) fn darken(&self, dark: bool) {
        self.ways.dark.store(dark, Ordering::Relaxed);
    }

    /// The first datagrams that the sender has sent.
    pub(crate) fn heard(&self) -> Vec<Vec<u8>> {
        self.ways.heard.lock().expect("no thread has failed").clone()
    }
}

impl Ways {
    fn pass_on(&self) {
        let near = current(&self.near);
        let mut buffer = [0; 2048];
        let Ok((len, from)) = near.recv_from(&mut buffer) else { return };
        *self.client.lock().expect("no thread has failed") = Some(from);
        let mut heard = self.heard.lock().expect("no thread has failed");
        if heard.len() < HEARD {
            heard.push(buffer[..len].to_vec());
        }
        drop(heard);
        if self.dark.load(Ordering::Relaxed) {
            return;
        }
        // What nobody takes is lost, as on any path.
        let _ = current(&self.far).send_to(&buffer[..len], self.server);
    }

    fn pass_back(&self) {
        let far = current(&self.far);
        let mut buffer = [0; 2048];
        let Ok(len) = far.recv(&mut buffer) else { return };
        let client = *self.client.lock().expect("no thread has failed");
        let is_lost = self.cut.load(Ordering::Relaxed) || self.dark.load(Ordering::Relaxed);
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
    socket.set_read_timeout(Some(GLANCE)).expect("a timeout");
    Arc::new(socket)
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.ways.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
