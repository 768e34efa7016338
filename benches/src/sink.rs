//! The end of a stream, in place of a player: checks the delivered datagrams and records their arrival times.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::source::{PAYLOAD, payload};
use crate::udp::{self, Inbox};

/// The pause between two reads; the kernel has stamped the datagrams that arrived meanwhile.
const TURN: Duration = Duration::from_millis(1);

/// The received datagrams.
#[derive(Clone, Default, Debug)]
pub struct Delivered {
    /// The first arrival time of each datagram; none for those that were never delivered.
    pub at: Vec<Option<u64>>,
    /// The number of datagrams that differ from those sent.
    pub damaged: u64,
    /// The number of duplicate datagrams.
    pub twice: u64,
}

/// A socket that receives the datagrams of a [`Source`](crate::source::Source).
#[derive(Debug)]
pub struct Sink {
    address: SocketAddr,
    count: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Delivered>>,
}

impl Sink {
    /// Opens a sink on a free port.
    pub fn start() -> io::Result<Sink> {
        let socket = udp::loopback()?;
        let address = socket.local_addr()?;
        let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, asked) = (count.clone(), stop.clone());
        let thread = thread::spawn(move || listen(&socket, &counted, &asked));
        Ok(Sink { address, count, stop, thread })
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of datagrams received.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Stops, and returns the received datagrams.
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
