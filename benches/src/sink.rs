//! A player's place: takes what is delivered, checks it, and knows when each datagram came.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::source::{PAYLOAD, payload};
use crate::udp::{self, Inbox};

/// Between two looks; the kernel has stamped what came meanwhile.
const TURN: Duration = Duration::from_millis(1);

/// What has come.
#[derive(Clone, Default, Debug)]
pub struct Delivered {
    /// When each datagram first came; none for those that never did.
    pub at: Vec<Option<u64>>,
    /// Datagrams that are not what was sent.
    pub damaged: u64,
    /// Datagrams that came more than once.
    pub twice: u64,
}

/// A socket that waits for what a [`Source`](crate::source::Source) has sent.
#[derive(Debug)]
pub struct Sink {
    address: SocketAddr,
    count: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Delivered>>,
}

impl Sink {
    /// Opens it on a free port.
    pub fn start() -> io::Result<Sink> {
        let socket = udp::loopback()?;
        let address = socket.local_addr()?;
        let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, asked) = (count.clone(), stop.clone());
        let thread = thread::spawn(move || listen(&socket, &counted, &asked));
        Ok(Sink { address, count, stop, thread })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many datagrams have come.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Stops, and tells what has come.
    pub fn stop(self) -> io::Result<Delivered> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the sink does not panic")
    }
}

fn listen(socket: &UdpSocket, count: &AtomicU64, stop: &AtomicBool) -> io::Result<Delivered> {
    let mut inbox = Inbox::default();
    let mut delivered = Delivered::default();
    let expected = payload();
    while !stop.load(Ordering::Relaxed) {
        while inbox.receive(socket, false)? > 0 {
            for (at, bytes) in inbox.datagrams() {
                delivered.add(at, bytes, &expected);
                count.fetch_add(1, Ordering::Relaxed);
            }
        }
        thread::sleep(TURN);
    }
    Ok(delivered)
}

impl Delivered {
    fn add(&mut self, at: u64, bytes: &[u8], expected: &[u8]) {
        let Some((number, rest)) = bytes.split_first_chunk().filter(|_| bytes.len() == PAYLOAD) else {
            self.damaged += 1;
            return;
        };
        let number = u64::from_be_bytes(*number) as usize;
        if rest != &expected[8..] || number > self.at.len() + (1 << 24) {
            self.damaged += 1;
            return;
        }
        if self.at.len() <= number {
            self.at.resize(number + 1, None);
        }
        match &mut self.at[number] {
            Some(_) => self.twice += 1,
            first => *first = Some(at),
        }
    }
}
