//! Arbitrary datagrams from unknown peers: the serving process goes on and does not grow, and its client is not
//! disturbed.

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
use crate::tunnel::forge::forge;
use crate::tunnel::noise::Noise;
use crate::tunnel::stage::{connect, echo, key, open, program, resident};

/// The number of unknown peers, each with an address of its own.
const PEERS: u8 = 16;
/// The number of prepared datagrams. Before one is sent, it is made anew at the rate [`RENEWED`], or else has one more
/// byte changed.
const POOL: u64 = 4096;
const RENEWED: f64 = 1.0 / 32.0;
/// The number of datagrams sent between two looks at the queue of the socket.
const BATCH: u64 = 128;
/// The most bytes that may wait for the process then: an overflowing socket would drop datagrams of its client, too.
const WAITING: u64 = 64 << 10;
/// The most memory that the process may gain, kB.
const GROWTH: u64 = 8 << 10;

/// The number of laps after which the buffers for the client have found their size.
const WARM: u64 = 200;

/// The time between two laps.
const PAUSE: Duration = Duration::from_millis(2);

/// The number of datagrams: ten million where the long tests run.
fn count() -> u64 {
    if std::env::var_os("THALWEG_TEST_ALL").is_some() { 10_000_000 } else { 50_000 }
}

/// The number of times that the table of sockets is read for one of them.
const READS: usize = 10;

/// The bytes that wait at a UDP socket of 127.0.0.1, and the number of datagrams for which it had no space
/// (proc_net(5), `rx_queue` and `drops`).
fn socket_queue(port: u16) -> (u64, u64) {
    let local = format!("0100007F:{port:04X}");
    // The kernel writes the table in pieces, between which it loses its place if other sockets come and go.
    let row = (0..READS).find_map(|_| row_of(&local)).unwrap_or_else(|| panic!("no socket at port {port}"));
    let waiting = row[4].split(':').nth(1).and_then(|bytes| u64::from_str_radix(bytes, 16).ok());
    (waiting.expect("a number"), row[12].parse().expect("a number"))
}

fn row_of(local: &str) -> Option<Vec<String>> {
    let table = fs::read_to_string("/proc/net/udp").expect("a table of sockets");
    let row = table.lines().map(|line| line.split_whitespace()).find(|row| row.clone().nth(1) == Some(local))?;
    Some(row.map(str::to_owned).collect())
}

/// The unknown peers, and the datagrams that they send.
struct UnknownPeers {
    sockets: Vec<UdpSocket>,
    rng: Rng,
    /// Genuine datagrams.
    seen: Vec<Vec<u8>>,
    pool: Vec<Vec<u8>>,
}

impl UnknownPeers {
    fn new(seen: Vec<Vec<u8>>) -> UnknownPeers {
        let sockets = (1..=PEERS).map(peer_socket).collect();
        UnknownPeers { sockets, rng: Rng::new(11), seen, pool: vec![Vec::new(); POOL as usize] }
    }

    /// Sends the next few datagrams; returns their number.
    fn send(&mut self, server: SocketAddr) -> u64 {
        let UnknownPeers { sockets, rng, seen, pool } = self;
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

/// Sends a hello with another key, and again with the cookie that it gets.
fn send_hello_with_wrong_key(socket: &UdpSocket, server: SocketAddr, entropy: &mut Entropy) {
    let (mut buf, mut plain) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
    let other = Key::shared(entropy);
    let mut association =
        Association::initiate(Config::default(), &other, server, Time::ZERO, entropy.fork()).expect("a key");
    let hello = association.poll_transmit(Time::ZERO, &mut buf).expect("a hello");
    socket.send_to(&buf[..hello.len], server).expect("loopback takes it");
    // Answers to earlier datagrams come first; a lost answer does no harm.
    while let Ok(len) = socket.recv(&mut buf) {
        if association.handle_datagram(Time::ZERO, server, &buf[..len], &mut plain).is_ok() {
            break;
        }
    }
    if let Some(again) = association.poll_transmit(Time::ZERO, &mut buf) {
        socket.send_to(&buf[..again.len], server).expect("loopback takes it");
    }
}

/// Sends bytes and expects their echo, again and again until it is `over`; returns the number of bytes that came back.
fn echo_until_over(local: &str, over: Arc<AtomicBool>, laps: Arc<AtomicU64>) -> u64 {
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
        // The client is to be active all the time, without taking all processor time.
        sleep(PAUSE);
    }
    total
}

#[test]
fn server_survives_a_flood_from_unknown_peers_without_growing() {
    let (key, target) = (key("flood"), program("127.0.0.1:0", echo));
    let args = ["tunnel", "serve", "--listen", "127.0.0.1:0", "--to", &target, "--key-file", &key];
    let serve = Running::start(&args);
    let server: SocketAddr = serve.address("listening", "address").parse().expect("an address");
    let relay = Relay::start(&server.to_string());
    let (client, local) = connect(&relay.near().to_string(), &key, &[]);
    let (over, laps) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let transfer = spawn({
        let (over, laps) = (over.clone(), laps.clone());
        move || echo_until_over(&local, over, laps)
    });
    while laps.load(Ordering::Relaxed) < WARM {
        assert!(!transfer.is_finished());
        yield_now();
    }
    let (seen, before) = (relay.recorded(), resident(&serve));
    assert!(seen.len() > 20, "{}", seen.len());
    let (mut peers, mut entropy) = (UnknownPeers::new(seen), Entropy::new([5; 32]));
    let (mut sent, mut tenths, mut most, begin) = (0, 0, before, Instant::now());
    let lost = |sent: u64| sent.saturating_sub(socket_queue(server.port()).1);
    let mut laps_before = laps.load(Ordering::Relaxed);
    while sent < count() || lost(sent) < count() {
        sent += peers.send(server);
        if peers.rng.chance(0.01) {
            send_hello_with_wrong_key(&peers.sockets[0], server, &mut entropy);
        }
        while socket_queue(server.port()).0 > WAITING {
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
    // The acceptor still takes a client that has the key, and no client was interrupted.
    let (late, local) = connect(&server.to_string(), &key, &[]);
    let mut stream = open(&local);
    stream.write_all(b"late").expect("room");
    stream.read_exact(&mut [0; 4]).expect("an echo");
    for mut side in [client, late, serve] {
        side.interrupt();
        side.succeeds();
        let lines = side.rest();
        let is_fault =
            |line: &String| ["interrupted", "moved"].iter().any(|it| line.contains(&format!("\"event\":\"{it}\"")));
        assert!(!lines.iter().any(is_fault), "{lines:?}");
    }
}

/// A socket at an address of its own, with a short timeout for answers.
fn peer_socket(nth: u8) -> UdpSocket {
    let socket = UdpSocket::bind(SocketAddr::from(([127, 0, 1, nth], 0))).expect("a loopback address");
    socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
    socket
}
