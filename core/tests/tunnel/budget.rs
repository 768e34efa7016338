//! One memory for all links: what a peer makes a server keep is bounded, given back, and harms no other peer.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use allocation_counter::measure;
use thalweg_core::law::rate::Choice;
use thalweg_core::session::mux;
use thalweg_core::session::secure::{self, Entropy, Key};
use thalweg_core::session::tunnel::{Config, Event, Id, Reason, Tunnel};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_core::wire::mux::FIRST_CREDIT;

use crate::tunnel::pair::there;

/// A server, and clients whose datagrams arrive at once. The server reads nothing from the first client's connections.
struct Setup {
    now: Time,
    server: Tunnel,
    clients: Vec<Tunnel>,
    /// The links of the first client, in the order in which they came up.
    links: Vec<u64>,
    /// Bytes that the server has allocated, now and at most.
    held: i64,
    most: i64,
    /// Bytes that the server has read, by connection.
    read: BTreeMap<Id, usize>,
    /// Connections of the first client that were reset, and the reasons.
    reset: BTreeMap<Id, Reason>,
}

fn at(nth: usize) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, 10 + nth as u8], 5000))
}

fn config(memory: u64) -> Config {
    Config { rate: Choice::Fixed(Rate::from_mbps(400)), memory: Bytes(memory), ..Config::default() }
}

impl Setup {
    /// Makes `clients`, each with a key of its own or all with the same, and a server with `memory` bytes.
    fn new(clients: usize, is_shared: bool, memory: u64) -> Setup {
        let mut entropy = Entropy::new([8; 32]);
        let (keys, theirs) = if is_shared { one_key(clients, &mut entropy) } else { own_keys(clients, &mut entropy) };
        let ample = config(16 << 30);
        let call = |key| Tunnel::connect(ample.clone(), key, there(), Time::ZERO, entropy.fork()).expect("in range");
        Setup {
            now: Time::ZERO,
            clients: keys.iter().map(call).collect(),
            server: Tunnel::serve(config(memory), &theirs, entropy.fork()).expect("in range"),
            links: Vec::new(),
            held: 0,
            most: 0,
            read: BTreeMap::new(),
            reset: BTreeMap::new(),
        }
    }

    fn on_server<T>(&mut self, what: impl FnOnce(&mut Tunnel) -> T) -> T {
        let mut outcome = None;
        let counted = measure(|| outcome = Some(what(&mut self.server)));
        self.held += counted.bytes_current;
        self.most = self.most.max(self.held);
        outcome.expect("it ran")
    }

    fn run(&mut self, span: Span) -> &mut Self {
        let end = self.now + span;
        loop {
            while self.exchange() {}
            let dues = self.clients.iter().map(Session::poll_timeout).chain([self.server.poll_timeout()]);
            let Some(next) = dues.flatten().min().filter(|next| *next <= end) else { break };
            self.now = self.now.max(next);
            let now = self.now;
            for client in self.clients.iter_mut().filter(|client| client.poll_timeout().is_some_and(|at| at <= now)) {
                client.handle_timeout(now);
            }
            self.on_server(|server| {
                if server.poll_timeout().is_some_and(|at| at <= now) {
                    server.handle_timeout(now);
                }
            });
        }
        self.now = end;
        self
    }

    /// Transmits all datagrams that are due now, and handles all events; returns true if there was any datagram.
    fn exchange(&mut self) -> bool {
        let (now, mut buf, mut any) = (self.now, [0; MAX_DATAGRAM], false);
        for nth in 0..self.clients.len() {
            while let Some(transmit) = self.clients[nth].poll_transmit(now, &mut buf) {
                any = true;
                self.on_server(|server| server.handle_datagram(now, at(nth), &buf[..transmit.len])).expect("genuine");
            }
            while let Some(event) = self.clients[nth].poll_event() {
                if let (0, Event::Reset(id, why)) = (nth, event) {
                    self.reset.insert(id, why);
                }
            }
        }
        while let Some(transmit) = self.on_server(|server| server.poll_transmit(now, &mut buf)) {
            any = true;
            let nth = (0..self.clients.len()).find(|nth| at(*nth) == transmit.to).expect("a client");
            self.clients[nth].handle_datagram(now, there(), &buf[..transmit.len]).expect("genuine");
        }
        while let Some(event) = self.on_server(Session::poll_event) {
            if let Event::Up { link, from, .. } = event
                && from == at(0)
            {
                self.links.push(link);
            }
            if let Event::Opened(id) | Event::Readable(id) = event
                && !self.links.contains(&id.link)
            {
                let mut bytes = [0; 4096];
                while let count @ 1.. = self.on_server(|server| server.read(now, id, &mut bytes)) {
                    *self.read.entry(id).or_default() += count;
                }
            }
        }
        any
    }

    /// Opens `count` connections of a client and writes `bytes` to each.
    fn open(&mut self, client: usize, count: usize, bytes: usize) -> BTreeSet<Id> {
        let script = vec![7; bytes];
        let end = &mut self.clients[client];
        let mut open = |_| {
            let id = end.open(self.now).expect("room");
            assert_eq!(end.write(id, &script), bytes);
            id
        };
        (0..count).map(&mut open).collect()
    }

    fn unread(&self) -> u64 {
        self.server.links().map(|link| link.buffered()[1]).sum()
    }
}

fn one_key(clients: usize, entropy: &mut Entropy) -> (Vec<Key>, Key) {
    let key = Key::shared(entropy);
    (vec![key.clone(); clients], key)
}

fn own_keys(clients: usize, entropy: &mut Entropy) -> (Vec<Key>, Key) {
    let public = |key: &Key| {
        let line = key.public();
        Key::public_from(line.strip_prefix("peer ").expect("a line")).expect("digits")
    };
    let with = |key: &Key, peers: Vec<[u8; 32]>| match key {
        Key::Static { secret, .. } => Key::Static { secret: *secret, peers },
        Key::Shared(_) => unreachable!("made as a static key"),
    };
    let server = Key::own(entropy, vec![]);
    let clients: Vec<Key> = (0..clients).map(|_| Key::own(entropy, vec![public(&server)])).collect();
    let peers = clients.iter().map(public).collect();
    (clients, with(&server, peers))
}

/// A thousand connections of 256 KiB that the server does not read, and a second client that it reads; a peer that is
/// alone has a share of half.
#[test]
fn thousand_unread_connections_stay_within_the_peers_share() {
    let memory = 64 << 20;
    for is_shared in [false, true] {
        let mut setup = Setup::new(2, is_shared, memory);
        setup.run(Span::from_secs(1));
        let before = setup.held;
        let stuck = setup.open(0, 1000, FIRST_CREDIT as usize);
        setup.run(Span::from_secs(8));
        assert!(setup.most - before < memory as i64 / 2 + (1 << 20), "{} bytes", setup.most - before);
        assert!(setup.unread() > memory / 3, "{} bytes", setup.unread());
        // The remaining connections are intact, and the others report the reason of their reset.
        assert!(setup.reset.values().all(|why| *why == Reason::Reset(mux::Reason::Memory)), "{:?}", setup.reset);
        let left: Vec<Id> = stuck.iter().filter(|id| !setup.reset.contains_key(id)).copied().collect();
        assert!(left.len() > 60 && left.len() < 200, "{}", left.len());
        // The other client is not affected.
        let size = 4 << 20;
        let ids = setup.open(1, 16, size / 16);
        setup.run(Span::from_secs(2));
        assert_eq!(ids.len(), 16);
        assert_eq!(setup.read.values().sum::<usize>(), size);
        // A new connection of the first client is refused.
        let more = setup.open(0, 1, 10);
        setup.run(Span::from_secs(1));
        assert!(more.iter().all(|id| setup.reset.get(id) == Some(&Reason::Reset(mux::Reason::Memory))));
        for id in left {
            setup.clients[0].reset(id, mux::Reason::Aborted);
        }
        setup.run(Span::from_secs(10));
        assert_eq!(setup.unread(), 0);
        assert!(setup.held - before < 1 << 20, "{} bytes", setup.held - before);
        // Memory is free again.
        let again = setup.open(0, 50, FIRST_CREDIT as usize);
        setup.run(Span::from_secs(2));
        assert!(again.iter().all(|id| !setup.reset.contains_key(id)));
    }
}

/// Bytes that are written for a peer that reads nothing stay with the program that writes them.
#[test]
fn unsent_data_is_bounded_and_every_connection_accepts_some() {
    let memory = 16 << 20;
    let mut setup = Setup::new(2, false, memory);
    setup.run(Span::from_secs(1));
    let ids = setup.open(0, 500, 10);
    setup.run(Span::from_secs(1));
    let (before, link) = (setup.held, setup.links[0]);
    let script = vec![7; 1 << 20];
    let there: Vec<Id> = ids.iter().map(|id| Id { link, ..*id }).collect();
    let written: usize = there.iter().map(|id| setup.on_server(|server| server.write(*id, &script))).sum();
    assert!(written > 3 << 20, "{written} bytes");
    setup.run(Span::from_secs(10));
    assert!(setup.most - before < memory as i64 / 2, "{} bytes", setup.most - before);
    // No connection is reset, and each accepts a little whatever waits.
    assert_eq!(setup.reset.len(), 0);
    let capacities: Vec<usize> = there.iter().map(|id| setup.on_server(|server| server.room(*id))).collect();
    assert!(capacities.iter().all(|capacity| *capacity >= 4 << 10), "{capacities:?}");
}

/// A link that goes down holds no memory.
#[test]
fn closed_link_releases_all_its_memory() {
    let mut setup = Setup::new(1, true, 32 << 20);
    setup.run(Span::from_secs(1));
    setup.open(0, 100, FIRST_CREDIT as usize);
    setup.run(Span::from_secs(2));
    assert!(setup.unread() > 10 << 20);
    let now = setup.now;
    setup.clients[0].shutdown(now, secure::Reason::Stopped);
    setup.run(Span::from_secs(5));
    assert_eq!((setup.unread(), setup.server.links().count()), (0, 0));
    assert!(setup.held < 1 << 20, "{} bytes", setup.held);
}
