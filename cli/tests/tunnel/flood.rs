//! Anybody may send anything to a serving process: it goes on, it does not grow, and who is inside does not notice.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{sleep, spawn, yield_now};
use std::time::{Duration, Instant};

use thalweg_core::rng::Rng;
use thalweg_core::session::MAX_DATAGRAM;
use thalweg_core::session::secure::{Association, Config, Entropy, Key};
use thalweg_core::time::Time;

use crate::common::Running;
use crate::common::relay::Relay;
use crate::forge::forge;
use crate::noise::Noise;
use crate::stage::{connect, echo, key, open, program, resident};

/// Strangers, each with an address of his own.
const STRANGERS: u8 = 16;
/// So many datagrams are at hand; before it is sent, one in so many is made anew, and each other has one more byte changed.
const POOL: u64 = 4096;
const RENEWED: f64 = 1.0 / 32.0;
/// So many are sent before the kernel is asked how many wait.
const BATCH: u64 = 128;
/// No more bytes than this may wait for the process then: a socket that overflows would take from those inside, too.
const WAITING: u64 = 64 << 10;
/// What the process may have in memory beyond what it had before, kB.
const GROWTH: u64 = 8 << 10;

/// The buffers of who is inside have found their size after so many laps.
const WARM: u64 = 200;

/// Between two laps.
const PAUSE: Duration = Duration::from_millis(2);

/// Ten million where the long tests run.
fn count() -> u64 {
    if std::env::var_os("THALWEG_TEST_ALL").is_some() { 10_000_000 } else { 50_000 }
}

/// What waits at a UDP socket of 127.0.0.1, bytes, and how many datagrams it had no room for (proc_net(5), `rx_queue` and
/// `drops`).
fn inbox(port: u16) -> (u64, u64) {
    let table = fs::read_to_string("/proc/net/udp").expect("the kernel tells");
    let local = format!("0100007F:{port:04X}");
    let row = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).find(|row| row[1] == local);
    let row = row.unwrap_or_else(|| panic!("no socket at port {port}"));
    let waiting = row[4].split(':').nth(1).and_then(|bytes| u64::from_str_radix(bytes, 16).ok());
    (waiting.expect("a number"), row[12].parse().expect("a number"))
}

/// Everybody who sends, and what.
struct Strangers {
    sockets: Vec<UdpSocket>,
    rng: Rng,
    /// Genuine datagrams.
    seen: Vec<Vec<u8>>,
    pool: Vec<Vec<u8>>,
}

impl Strangers {
    fn new(seen: Vec<Vec<u8>>) -> Strangers {
        let sockets = (1..=STRANGERS).map(stranger).collect();
        Strangers { sockets, rng: Rng::new(11), seen, pool: vec![Vec::new(); POOL as usize] }
    }

    /// Sends the next few; how many.
    fn send(&mut self, server: SocketAddr) -> u64 {
        let Strangers { sockets, rng, seen, pool } = self;
        let mut sent = 0;
        for _ in 0..BATCH {
            let forged = &mut pool[rng.below(POOL) as usize];
            if forged.is_empty() || rng.chance(RENEWED) {
                forge(rng, seen, forged);
            } else {
                let place = rng.below(forged.len() as u64) as usize;
                forged[place] = rng.u32() as u8;
            }
            let socket = &sockets[rng.below(sockets.len() as u64) as usize];
            sent += u64::from(socket.send_to(forged, server).is_ok());
        }
        sent
    }
}

/// A hello with another key, and the same with the cookie that it gets.
fn knock(socket: &UdpSocket, server: SocketAddr, entropy: &mut Entropy) {
    let (mut buf, mut plain) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
    let other = Key::shared(entropy);
    let mut knocker =
        Association::initiate(Config::default(), &other, server, Time::ZERO, entropy.fork()).expect("a key");
    let hello = knocker.poll_transmit(Time::ZERO, &mut buf).expect("a hello");
    socket.send_to(&buf[..hello.len], server).expect("loopback takes it");
    // Behind answers to what was sent before; one that is lost is as good as none.
    while let Ok(len) = socket.recv(&mut buf) {
        if knocker.handle_datagram(Time::ZERO, server, &buf[..len], &mut plain).is_ok() {
            break;
        }
    }
    if let Some(again) = knocker.poll_transmit(Time::ZERO, &mut buf) {
        socket.send_to(&buf[..again.len], server).expect("loopback takes it");
    }
}

/// Sends and expects the same bytes back, again and again until it is `over`; how many came back.
fn live(local: &str, over: Arc<AtomicBool>, laps: Arc<AtomicU64>) -> u64 {
    let mut stream = open(local);
    let (mut there, mut back) = (Noise::new(1), Noise::new(1));
    let (mut sent, mut got, mut wanted) = (Vec::new(), [0; 1 << 14], Vec::new());
    let mut total = 0;
    while !over.load(Ordering::Relaxed) {
        sent.clear();
        there.write(&mut sent, got.len() as u64).expect("memory");
        stream.write_all(&sent).expect("the tunnel takes all");
        stream.read_exact(&mut got).expect("an echo");
        wanted.clear();
        back.write(&mut wanted, got.len() as u64).expect("memory");
        assert!(wanted == got, "other bytes behind {total}");
        total += got.len() as u64;
        laps.fetch_add(1, Ordering::Relaxed);
        // It is to be there all the time, and not to do all the work.
        sleep(PAUSE);
    }
    total
}

#[test]
fn whatever_strangers_send_a_serving_process_goes_on_and_does_not_grow() {
    let (key, target) = (key("flood"), program("127.0.0.1:0", echo));
    let args = ["tunnel", "serve", "--listen", "127.0.0.1:0", "--to", &target, "--key-file", &key];
    let serve = Running::start(&args);
    let server: SocketAddr = serve.address("listening", "address").parse().expect("an address");
    let relay = Relay::start(&server.to_string());
    let (inside, local) = connect(&relay.near().to_string(), &key, &[]);
    let (over, laps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let transfer = spawn({
        let (over, laps) = (over.clone(), laps.clone());
        move || live(&local, over, laps)
    });
    while laps.load(Ordering::Relaxed) < WARM {
        assert!(!transfer.is_finished());
        yield_now();
    }
    let (seen, before) = (relay.heard(), resident(&serve));
    assert!(seen.len() > 20, "{}", seen.len());
    let (mut strangers, mut entropy) = (Strangers::new(seen), Entropy::new([5; 32]));
    let (mut sent, mut tenths, mut most, begin) = (0, 0, before, Instant::now());
    let lost = |sent: u64| sent.saturating_sub(inbox(server.port()).1);
    let mut laps_before = laps.load(Ordering::Relaxed);
    while sent < count() || lost(sent) < count() {
        sent += strangers.send(server);
        if strangers.rng.chance(0.01) {
            knock(&strangers.sockets[0], server, &mut entropy);
        }
        while inbox(server.port()).0 > WAITING {
            sleep(Duration::from_micros(300));
        }
        if sent / (count() / 10) > tenths {
            tenths += 1;
            most = most.max(resident(&serve));
            let laps = laps.load(Ordering::Relaxed);
            assert!(laps > laps_before && !transfer.is_finished(), "who is inside stands still");
            laps_before = laps;
        }
    }
    over.store(true, Ordering::Relaxed);
    let echoed = transfer.join().expect("the same bytes, to the last");
    most = most.max(resident(&serve));
    println!("{sent} datagrams in {:?}, {echoed} bytes inside, {before} kB before, {most} kB at most", begin.elapsed());
    assert!(most < before + GROWTH, "{most} kB, {before} kB before");
    // The door still opens to who has the key, and nobody was interrupted.
    let (late, local) = connect(&server.to_string(), &key, &[]);
    let mut stream = open(&local);
    stream.write_all(b"late").expect("room");
    stream.read_exact(&mut [0; 4]).expect("an echo");
    for mut side in [inside, late, serve] {
        side.interrupt();
        side.succeeds();
        let told = side.rest();
        let is_fault =
            |line: &String| ["interrupted", "moved"].iter().any(|it| line.contains(&format!("\"event\":\"{it}\"")));
        assert!(!told.iter().any(is_fault), "{told:?}");
    }
}

/// A socket at an address of its own, which waits for no answer for long.
fn stranger(nth: u8) -> UdpSocket {
    let socket = UdpSocket::bind(SocketAddr::from(([127, 0, 1, nth], 0))).expect("a loopback address");
    socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
    socket
}
