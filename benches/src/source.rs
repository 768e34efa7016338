//! The start of a stream, in place of an encoder: numbered datagrams at a constant rate.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::noise;
use crate::udp::{self, BATCH};

/// The bytes of media in a datagram: seven packets of an MPEG transport stream.
pub const PAYLOAD: usize = 7 * 188;

/// Datagrams that are due within this time leave together.
const TURN: Duration = Duration::from_micros(250);

/// A stream of datagrams of [`PAYLOAD`] bytes that begin with their sequence number.
#[derive(Debug)]
pub struct Source {
    sent: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<io::Result<Vec<u64>>>,
}

impl Source {
    /// Starts to send `rate` bits of media per second to `to`.
    pub fn start(to: SocketAddr, rate: f64) -> io::Result<Source> {
        let socket = udp::loopback()?;
        socket.connect(to)?;
        let (sent, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, asked) = (sent.clone(), stop.clone());
        let interval = (PAYLOAD * 8) as f64 / rate;
        let thread = thread::spawn(move || {
            let mut datagrams: Vec<Vec<u8>> = vec![payload(); BATCH];
            let mut stamps = Vec::new();
            let start = Instant::now();
            while !asked.load(Ordering::Relaxed) {
                let due = (start.elapsed().as_secs_f64() / interval) as usize + 1;
                while stamps.len() < due {
                    let batch = (due - stamps.len()).min(BATCH);
                    for (datagram, number) in datagrams[..batch].iter_mut().zip(stamps.len() as u64..) {
                        datagram[..8].copy_from_slice(&number.to_be_bytes());
                    }
                    stamps.resize(stamps.len() + batch, udp::now());
                    let batch: Vec<&[u8]> = datagrams[..batch].iter().map(Vec::as_slice).collect();
                    udp::send_all(&socket, &batch)?;
                }
                count.store(due as u64, Ordering::Relaxed);
                let next = Duration::from_secs_f64(due as f64 * interval);
                thread::sleep(next.saturating_sub(start.elapsed()).max(TURN.min(Duration::from_secs_f64(interval))));
            }
            Ok(stamps)
        });
        Ok(Source { sent, stop, thread })
    }

    /// The number of datagrams sent.
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Stops, and returns the time at which each datagram was sent.
    pub fn stop(self) -> io::Result<Vec<u64>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the source does not panic")
    }
}

/// The payload of every datagram, whose first 8 bytes are replaced by its number.
pub fn payload() -> Vec<u8> {
    noise(&mut 1, PAYLOAD)
}
