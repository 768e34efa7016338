//! A client and a server whose datagrams arrive at once. The server's program reads and writes nothing.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use thalweg_core::law::rate::Choice;
use thalweg_core::session::secure::{Entropy, Key};
use thalweg_core::session::tunnel::{Config, Event, Id, Tunnel};
use thalweg_core::session::{MAX_DATAGRAM, Session, stream};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;

pub(crate) struct Pair {
    pub(crate) now: Time,
    pub(crate) client: Tunnel,
    pub(crate) server: Tunnel,
    pub(crate) key: Key,
    pub(crate) entropy: Entropy,
    /// Bytes that the server has read, by connection.
    pub(crate) received: BTreeMap<Id, Vec<u8>>,
    pub(crate) events: Vec<Event>,
    /// The first 64 datagrams of the client.
    pub(crate) seen: Vec<Vec<u8>>,
    /// True if the server's program reads.
    pub(crate) reads: bool,
    /// Datagrams that the server sent to other addresses.
    pub(crate) others: Vec<(SocketAddr, Vec<u8>)>,
}

pub(crate) fn config() -> Config {
    let stream = stream::Config { window: 64, ..stream::Config::default() };
    Config { stream, rate: Choice::Fixed(Rate::from_mbps(50)), ..Config::default() }
}

pub(crate) fn here() -> SocketAddr {
    "192.0.2.1:5000".parse().expect("an address")
}

pub(crate) fn there() -> SocketAddr {
    "192.0.2.2:7000".parse().expect("an address")
}

impl Pair {
    pub(crate) fn new() -> Pair {
        Pair::with(config())
    }

    pub(crate) fn with(config: Config) -> Pair {
        let mut entropy = Entropy::new([5; 32]);
        let key = Key::shared(&mut entropy);
        Pair::between(config, [&key, &key], entropy)
    }

    /// Makes a client and a server with a key each.
    pub(crate) fn between(config: Config, [key, theirs]: [&Key; 2], mut entropy: Entropy) -> Pair {
        Pair {
            now: Time::ZERO,
            client: Tunnel::connect(config.clone(), key, there(), Time::ZERO, entropy.fork()).expect("in range"),
            server: Tunnel::serve(config, theirs, entropy.fork()).expect("in range"),
            key: key.clone(),
            entropy,
            received: BTreeMap::new(),
            events: Vec::new(),
            seen: Vec::new(),
            reads: true,
            others: Vec::new(),
        }
    }

    /// Lets time pass, and handles each timeout when it is due.
    pub(crate) fn run(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            self.settle();
            let next = [self.client.poll_timeout(), self.server.poll_timeout()].into_iter().flatten().min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            self.now = self.now.max(next);
        }
        self.now = end;
    }

    /// Handles everything that is due at this instant.
    pub(crate) fn settle(&mut self) {
        let (now, mut buf, mut any) = (self.now, [0; MAX_DATAGRAM], true);
        for end in [&mut self.client, &mut self.server] {
            if end.poll_timeout().is_some_and(|at| at <= now) {
                end.handle_timeout(now);
            }
        }
        while any {
            any = false;
            while let Some(transmit) = self.client.poll_transmit(now, &mut buf) {
                any = true;
                self.server.handle_datagram(now, here(), &buf[..transmit.len]).expect("genuine");
                if self.seen.len() < 64 {
                    self.seen.push(buf[..transmit.len].to_vec());
                }
            }
            while let Some(transmit) = self.server.poll_transmit(now, &mut buf) {
                any = true;
                if transmit.to == here() {
                    self.client.handle_datagram(now, there(), &buf[..transmit.len]).expect("genuine");
                } else {
                    self.others.push((transmit.to, buf[..transmit.len].to_vec()));
                }
            }
            while self.client.poll_event().is_some() {}
            self.listen();
        }
    }

    /// Records the server's events, and what it reads.
    pub(crate) fn listen(&mut self) {
        let mut bytes = [0; 2048];
        while let Some(event) = self.server.poll_event() {
            self.events.push(event);
            if let Event::Opened(id) | Event::Readable(id) = event
                && self.reads
            {
                let received = self.received.entry(id).or_default();
                while let count @ 1.. = self.server.read(self.now, id, &mut bytes) {
                    received.extend_from_slice(&bytes[..count]);
                }
            }
        }
    }
}
