//! A relay between a sender and a receiver that records datagrams, and drops some of them.

use std::fmt::Write as _;
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// One media packet in this many is lost.
const LOSS: usize = 50;

/// The direction of a datagram.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    /// To the port of bare repair.
    Repair,
    Reverse,
}

type Record = Arc<Mutex<Vec<(Direction, Vec<u8>)>>>;

/// The relay, as threads that end with it.
pub(crate) struct Tap {
    pub(crate) address: String,
    pub(crate) repair_port: u16,
    record: Record,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Tap {
    /// A relay to the receiver at `to`.
    pub(crate) fn start(to: &str) -> Tap {
        let [front, back, repair] = [(); 3].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a free port"));
        back.connect(to).expect("loopback");
        let address = front.local_addr().expect("bound").to_string();
        let repair_port = repair.local_addr().expect("bound").port();
        let (record, stop) = (Record::default(), Arc::new(AtomicBool::new(false)));
        let sender = Arc::new(Mutex::new(None));

        let (here, there) = (front.try_clone().expect("a socket"), back.try_clone().expect("a socket"));
        let from = sender.clone();
        let mut media = 0;
        let forward = listen(here, Direction::Forward, &record, &stop, move |datagram, address| {
            *from.lock().expect("unpoisoned") = Some(address);
            media += usize::from(!is_rtcp(datagram));
            if is_rtcp(datagram) || media % LOSS != 0 {
                let _ = there.send(datagram);
            }
        });
        let reverse = listen(back, Direction::Reverse, &record, &stop, move |datagram, _| {
            if let Some(sender) = *sender.lock().expect("unpoisoned") {
                let _ = front.send_to(datagram, sender);
            }
        });
        let bare = listen(repair, Direction::Repair, &record, &stop, |_, _| {});
        Tap { address, repair_port, record, stop, threads: vec![forward, reverse, bare] }
    }

    /// Ends the relay; returns the recorded datagrams.
    pub(crate) fn end(mut self) -> Vec<(Direction, Vec<u8>)> {
        self.join();
        std::mem::take(&mut self.record.lock().expect("unpoisoned"))
    }

    fn join(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.join();
    }
}

fn listen(
    socket: UdpSocket,
    direction: Direction,
    record: &Record,
    stop: &Arc<AtomicBool>,
    mut pass: impl FnMut(&[u8], std::net::SocketAddr) + Send + 'static,
) -> JoinHandle<()> {
    let (record, stop) = (record.clone(), stop.clone());
    socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
    std::thread::spawn(move || {
        let mut buffer = [0; 2048];
        while !stop.load(Ordering::Relaxed) {
            if let Ok((len, from)) = socket.recv_from(&mut buffer) {
                record.lock().expect("unpoisoned").push((direction, buffer[..len].to_vec()));
                pass(&buffer[..len], from);
            }
        }
    })
}

/// True if a datagram is RTCP (RFC 5761 §4).
pub(crate) fn is_rtcp(datagram: &[u8]) -> bool {
    datagram.get(1).is_some_and(|kind| (192..=223).contains(kind))
}

/// The datagrams to the receiver, one a line: the kind, and the bytes.
pub(crate) fn hexadecimal(record: &[(Direction, Vec<u8>)]) -> String {
    let mut text = String::new();
    for (direction, datagram) in record.iter().filter(|(direction, _)| *direction != Direction::Reverse) {
        text += if *direction == Direction::Repair { "repair " } else { "media " };
        for byte in datagram {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
    }
    text
}
