//! Bulk transfers of the kernel's TCP.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use thalweg_net::error::Error;
use thalweg_net::testbed::{FAR, Namespace};

use crate::cable::Cable;

/// What is read or written in one call.
const PIECE: usize = 1 << 16;

/// So long no flow is silent that has not been stopped.
const SILENCE: Duration = Duration::from_secs(10);

/// Flows that never run out of data.
#[derive(Clone, Copy)]
pub(crate) struct Bulk {
    pub(crate) flows: usize,
    /// As the kernel calls it: `reno`, `cubic`.
    pub(crate) control: &'static str,
    /// What is not counted at the start.
    pub(crate) warm_up: Duration,
    pub(crate) measured: Duration,
}

impl Bulk {
    /// What each flow's receiver got after the warm-up, in bits a second.
    pub(crate) fn run(self, cable: &Cable) -> Vec<f64> {
        let sinks: Vec<Sink> = (0..self.flows).map(|_| Sink::open(&cable.far)).collect();
        let ports = sinks.iter().map(|sink| sink.port);
        let sources: Vec<Source> = ports.map(|port| Source::start(&cable.near, port, self.control)).collect();
        let count = || sinks.iter().map(|sink| sink.bytes.load(Ordering::Relaxed)).collect::<Vec<u64>>();
        thread::sleep(self.warm_up);
        let (start, before) = (Instant::now(), count());
        thread::sleep(self.measured);
        let (after, elapsed) = (count(), start.elapsed());
        sources.into_iter().for_each(Source::stop);
        sinks.into_iter().for_each(Sink::close);
        after.iter().zip(before).map(|(after, before)| (after - before) as f64 * 8.0 / elapsed.as_secs_f64()).collect()
    }
}

/// A receiver that counts.
struct Sink {
    port: u16,
    bytes: Arc<AtomicU64>,
    reader: JoinHandle<()>,
}

impl Sink {
    fn open(far: &Namespace) -> Sink {
        let listener = far.within(|| TcpListener::bind((FAR, 0)).map_err(Error::io("sink"))).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let bytes = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&bytes);
        let reader = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a sender");
            let mut piece = vec![0; PIECE];
            // A reset is an end like any other: the sender has been stopped. One that was lost on the way is silence.
            stream.set_read_timeout(Some(SILENCE)).expect("not zero");
            while let Ok(length @ 1..) = stream.read(&mut piece) {
                counter.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
        Sink { port, bytes, reader }
    }

    fn close(self) {
        self.reader.join().expect("no panic");
    }
}

/// A sender that always has more to send.
struct Source {
    stream: TcpStream,
    writer: JoinHandle<()>,
}

impl Source {
    fn start(near: &Namespace, port: u16, control: &'static str) -> Source {
        let stream = near.within(|| TcpStream::connect((FAR, port)).map_err(Error::io("source"))).expect("a receiver");
        sockopt::set_tcp_congestion(&stream, control).expect("a congestion control that this kernel has");
        let mut writing = stream.try_clone().expect("a second handle");
        let writer = thread::spawn(move || {
            let piece = vec![0; PIECE];
            while writing.write_all(&piece).is_ok() {}
        });
        Source { stream, writer }
    }

    /// Drops the connection without waiting for what is still on its way.
    fn stop(self) {
        let _ = sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
        let _ = self.stream.shutdown(Shutdown::Both);
        self.writer.join().expect("no panic");
    }
}
