//! The emulator between real sockets. No test here asserts a speed, only which datagrams arrive.

use std::net::{SocketAddr, UdpSocket};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use thalweg_lab::node::wifi::Link;
use thalweg_lab::scenario::Scenario;
use thalweg_net::emulate::{Emulator, MAX_SOCKETS};
use thalweg_net::signal::Stop;

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

/// Clients that a relay with one socket keeps apart.
const MOST_CLIENTS: usize = MAX_SOCKETS - 1;

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind(LOOPBACK).expect("a loopback socket");
    socket.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    socket
}

/// A relay in a thread of its own, and the server behind it.
struct Relay {
    at: SocketAddr,
    server: UdpSocket,
    stop: Stop,
    thread: JoinHandle<Emulator>,
}

impl Relay {
    /// `forward` and `reverse` are the elements of a scenario, as inline tables.
    fn start(forward: &str, reverse: &str) -> Relay {
        let text = format!("seed = 1\n[forward]\nelement = [{forward}]\n[reverse]\nelement = [{reverse}]\n");
        let scenario = Scenario::parse("test", &text, None, &mut |_| Err("is not there".into())).expect("a scenario");
        let server = socket();
        let pair = (LOOPBACK, server.local_addr().expect("bound"));
        let emulator = Emulator::relay(&[pair], scenario).expect("a relay");
        let (at, stop) = (emulator.local()[0], Stop::default());
        let thread = carry(emulator, stop.clone());
        Relay { at, server, stop, thread }
    }

    fn end(self) -> Emulator {
        self.stop.ask();
        let emulator = self.thread.join().expect("the relay ends");
        emulator.check().expect("nothing is forgotten");
        emulator
    }
}

/// Runs the emulator in a thread until it is stopped.
fn carry(mut emulator: Emulator, stop: Stop) -> JoinHandle<Emulator> {
    thread::spawn(move || {
        emulator.run(&stop, |_| {}).expect("the relay runs");
        emulator
    })
}

fn receive(socket: &UdpSocket) -> (Vec<u8>, SocketAddr) {
    let mut buffer = vec![0; 1 << 16];
    let (len, from) = socket.recv_from(&mut buffer).expect("a datagram within ten seconds");
    buffer.truncate(len);
    (buffer, from)
}

#[test]
fn clear_path_carries_datagrams_unchanged_both_ways() {
    let relay = Relay::start("", "");
    let client = socket();
    // In rounds, since the kernel's buffers are small.
    for round in 0..50u8 {
        let sizes = [0, 1, 188, 1316, 1316, 1316, 1400, 1472, 9_000, 65_507];
        let datagrams: Vec<Vec<u8>> = sizes.iter().map(|size| vec![round; *size]).collect();
        for datagram in &datagrams {
            client.send_to(datagram, relay.at).expect("sent");
        }
        for datagram in &datagrams {
            let (payload, from) = receive(&relay.server);
            assert_eq!(&payload, datagram);
            relay.server.send_to(&payload, from).expect("sent");
        }
        for datagram in &datagrams {
            assert_eq!(receive(&client), (datagram.clone(), relay.at));
        }
    }
    let emulator = relay.end();
    for direction in [emulator.forward(), emulator.reverse()] {
        assert_eq!(
            (direction.received(), direction.delivered(), direction.inside(), direction.refused()),
            (500, 500, 0, 0)
        );
    }
}

#[test]
fn path_elements_apply_to_datagrams() {
    let twice = "{ kind = \"duplicate\", share = 1.0 }";
    let never = "{ kind = \"loss\", rate = 1.0 }";
    let relay = Relay::start(twice, never);
    let client = socket();
    for mark in 0..100u8 {
        client.send_to(&[mark; 100], relay.at).expect("sent");
        for _ in 0..2 {
            let (payload, from) = receive(&relay.server);
            assert_eq!(payload, [mark; 100]);
            relay.server.send_to(&payload, from).expect("sent");
        }
    }
    // One turn of the relay reads from the server before it reads from clients: when one more datagram of the client is
    // through, all answers were read.
    client.send_to(b"last", relay.at).expect("sent");
    receive(&relay.server);
    client.set_nonblocking(true).expect("a mode");
    assert!(client.recv_from(&mut [0; 1500]).is_err(), "nothing comes back");
    let emulator = relay.end();
    assert_eq!((emulator.forward().received(), emulator.forward().delivered()), (101, 202));
    assert_eq!((emulator.reverse().received(), emulator.reverse().delivered()), (200, 0));
    assert_eq!(emulator.reverse().accounts().map(|account| account.tally.dropped.of_ends).sum::<u64>(), 200);
}

#[test]
fn delay_is_at_least_as_configured() {
    let wire = "{ kind = \"wire\", delay = \"30ms\" }";
    let relay = Relay::start(wire, wire);
    let client = socket();
    let start = Instant::now();
    client.send_to(b"there", relay.at).expect("sent");
    let (_, from) = receive(&relay.server);
    assert!(start.elapsed() >= Duration::from_millis(30));
    relay.server.send_to(b"and back", from).expect("sent");
    receive(&client);
    assert!(start.elapsed() >= Duration::from_millis(60));
    relay.end();
}

#[test]
fn clients_get_their_own_answers_and_the_most_idle_is_replaced() {
    let relay = Relay::start("", "");
    let clients: Vec<UdpSocket> = (0..=MOST_CLIENTS).map(|_| socket()).collect();
    let mut seen = Vec::new();
    for (index, client) in clients.iter().enumerate() {
        client.send_to(&[index as u8], relay.at).expect("sent");
        seen.push(receive(&relay.server));
        assert_eq!(seen[index].0, [index as u8]);
    }
    for (payload, from) in &seen {
        relay.server.send_to(payload, from).expect("sent");
    }
    for (index, client) in clients.iter().enumerate().skip(1) {
        assert_eq!(receive(client).0, [index as u8]);
    }
    clients[0].set_nonblocking(true).expect("a mode");
    assert!(clients[0].recv_from(&mut [0; 10]).is_err(), "the first one was forgotten");
    assert_eq!(relay.end().clients(), Some(MOST_CLIENTS));
}

#[test]
fn datagrams_from_others_than_the_server_are_not_relayed() {
    let relay = Relay::start("", "");
    let (client, third_party) = (socket(), socket());
    client.send_to(b"hello", relay.at).expect("sent");
    let (_, upstream) = receive(&relay.server);
    third_party.send_to(b"forged", upstream).expect("sent");
    relay.server.send_to(b"answer", upstream).expect("sent");
    assert_eq!(receive(&client).0, b"answer");
    assert_eq!(relay.end().reverse().received(), 1);
}

#[test]
fn port_in_use_is_an_error_with_its_address() {
    let taken = socket();
    let at = taken.local_addr().expect("bound");
    let scenario = Scenario::parse("test", "seed = 1\n[forward]\n[reverse]\n", None, &mut |_| Err(String::new()));
    let error = Emulator::relay(&[(at, at)], scenario.expect("a scenario")).expect_err("in use");
    assert_eq!(error.to_string(), format!("listening on {at}: address already in use"));
}

/// A cell with two stations, each behind a socket of its own: datagrams go to the server of their socket and back, and
/// count for their station.
#[test]
fn each_pair_of_addresses_is_a_station_of_the_cell() {
    let text = "seed = 1\n[forward]\n[reverse]\n[wifi]\nslot = '20us'\nqueue = 50\n\
                station = [{ name = 'tv', rate = '54mbit' }, { name = 'phone', rate = '6mbit' }]\n";
    let scenario = || Scenario::parse("test", text, None, &mut |_| Err(String::new())).expect("a scenario");
    let servers = [socket(), socket()];
    let to = |server: &UdpSocket| server.local_addr().expect("bound");
    let lone = Emulator::relay(&[(LOOPBACK, to(&servers[0]))], scenario()).expect_err("one address, two stations");
    assert_eq!(lone.to_string(), "stations: 2 of them, expected one for each of 1 relays");
    let pairs: Vec<(SocketAddr, SocketAddr)> = servers.iter().map(|server| (LOOPBACK, to(server))).collect();
    let emulator = Emulator::relay(&pairs, scenario()).expect("a relay");
    let (doors, stop) = (emulator.local(), Stop::default());
    let thread = carry(emulator, stop.clone());
    let client = socket();
    for (station, rounds) in [(0, 30u8), (1, 20)] {
        for mark in 0..rounds {
            client.send_to(&[mark; 500], doors[station]).expect("sent");
            let (payload, from) = receive(&servers[station]);
            assert_eq!(payload, [mark; 500]);
            servers[station].send_to(&payload[..100], from).expect("sent");
            assert_eq!(receive(&client), (vec![mark; 100], doors[station]));
        }
    }
    stop.ask();
    let emulator = thread.join().expect("the relay ends");
    emulator.check().expect("nothing is forgotten");
    let cell = emulator.cell().expect("a cell");
    for (station, rounds) in [(0, 30), (1, 20)] {
        let [down, up] = [Link::Down(station), Link::Up(station)].map(|link| cell.counters(link));
        assert_eq!((down.delivered, up.delivered), (rounds, rounds));
        // Sizes with the headers of IP and UDP.
        assert_eq!((down.bytes.0, up.bytes.0), (528 * rounds, 128 * rounds));
    }
    assert_eq!((emulator.forward().delivered(), emulator.reverse().delivered()), (50, 50));
}
