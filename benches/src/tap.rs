//! A passive relay between sender and receiver that records each packet and its time.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::udp::{self, Inbox};

/// A datagram from sender to receiver.
#[derive(Clone, Debug)]
pub struct Passed {
    /// The arrival time at the relay, in nanoseconds since the Unix epoch.
    pub at: u64,
    /// The length of its UDP payload, in bytes.
    pub len: usize,
    /// Its first and its last bytes (padded with zeros): enough to identify its type.
    pub ends: ([u8; 16], [u8; 16]),
}

/// The relay.
#[derive(Debug)]
pub struct Tap {
    address: SocketAddr,
    count: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    threads: [JoinHandle<io::Result<Vec<Passed>>>; 2],
}

impl Tap {
    /// Relays datagrams that arrive at a free port to `to`, and responses back.
    pub fn start(to: SocketAddr) -> io::Result<Tap> {
        let (near, far) = (udp::loopback()?, udp::loopback()?);
        far.connect(to)?;
        let address = near.local_addr()?;
        let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let client = Arc::new(Mutex::new(None));
        let threads = [
            Relay {
                from: near.try_clone()?,
                to: far.try_clone()?,
                client: client.clone(),
                forward: Some(count.clone()),
            },
            Relay { from: far, to: near, client, forward: None },
        ];
        let threads = threads.map(|relay| {
            let asked = stop.clone();
            thread::spawn(move || relay.run(&asked))
        });
        Ok(Tap { address, count, stop, threads })
    }

    /// The address that the sender must send to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of packets from sender to receiver so far.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Stops, and returns the packets from sender to receiver.
    pub fn stop(self) -> io::Result<Vec<Passed>> {
        self.stop.store(true, Ordering::Relaxed);
        let [forward, backward] = self.threads.map(|thread| thread.join().expect("the tap does not panic"));
        backward?;
        forward
    }
}

/// One direction of the relay.
struct Relay {
    from: UdpSocket,
    to: UdpSocket,
    /// The sender's address, once its first datagram has arrived. The socket is then connected to it.
    client: Arc<Mutex<Option<SocketAddr>>>,
    /// The count of packets in the direction from sender to receiver; `None` in the other direction.
    forward: Option<Arc<AtomicU64>>,
}

impl Relay {
    fn run(self, stop: &AtomicBool) -> io::Result<Vec<Passed>> {
        if self.forward.is_some() {
            self.meet(stop)?;
        }
        let mut inbox = Inbox::default();
        let mut passed = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            if inbox.receive(&self.from, true)? == 0 {
                continue;
            }
            let batch: Vec<&[u8]> = inbox.datagrams().map(|(_, bytes)| bytes).collect();
            if self.forward.is_some() || self.client.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                udp::send_all(&self.to, &batch)?;
            }
            if let Some(count) = &self.forward {
                count.fetch_add(batch.len() as u64, Ordering::Relaxed);
                passed.extend(inbox.datagrams().map(|(at, bytes)| Passed { at, len: bytes.len(), ends: ends(bytes) }));
            }
        }
        Ok(passed)
    }

    /// Waits for the sender's first datagram and relays it. From then on, accepts datagrams from that sender only.
    fn meet(&self, stop: &AtomicBool) -> io::Result<()> {
        let mut bytes = [0; 2048];
        while !stop.load(Ordering::Relaxed) {
            if let Ok((len, client)) = self.from.recv_from(&mut bytes) {
                self.from.connect(client)?;
                *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(client);
                return udp::send_all(&self.to, &[&bytes[..len]]);
            }
        }
        Ok(())
    }
}

fn ends(bytes: &[u8]) -> ([u8; 16], [u8; 16]) {
    let mut ends = ([0; 16], [0; 16]);
    let len = bytes.len().min(16);
    ends.0[..len].copy_from_slice(&bytes[..len]);
    ends.1[16 - len..].copy_from_slice(&bytes[bytes.len() - len..]);
    ends
}
