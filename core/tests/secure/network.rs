//! An initiator, a responder with its acceptor, and a path with faults between them.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use thalweg_core::rng::Rng;
use thalweg_core::session::secure::{Acceptor, Association, Config, Entropy, Event, Key, receiver};
use thalweg_core::session::{MAX_DATAGRAM, Transmit};
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::Error;

/// Faults of the path: probabilities, and the longest delay of a datagram beyond the minimum of 20 ms.
#[derive(Clone, Copy, Default)]
pub(crate) struct Faults {
    pub(crate) loss: f64,
    pub(crate) twice: f64,
    pub(crate) corrupt: f64,
    pub(crate) jitter: Span,
    pub(crate) is_cut: bool,
}

#[derive(Clone)]
pub(crate) struct Packet {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) struct Network {
    pub(crate) now: Time,
    pub(crate) client: Association,
    pub(crate) client_at: SocketAddr,
    pub(crate) server_at: SocketAddr,
    pub(crate) acceptor: Acceptor,
    pub(crate) associations: BTreeMap<u64, Association>,
    pub(crate) faults: Faults,
    /// Plaintexts that each end has delivered: the client's, the server's.
    pub(crate) received: [Vec<Vec<u8>>; 2],
    pub(crate) events: [Vec<Event>; 2],
    /// Every datagram that was put on the path.
    pub(crate) log: Vec<Packet>,
    pub(crate) errors: BTreeMap<String, u64>,
    /// Datagrams in flight, by their time of arrival.
    path: BTreeMap<(Time, u64), Packet>,
    numbered: u64,
    rng: Rng,
}

pub(crate) fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

pub(crate) fn shared(seed: u8) -> Key {
    Key::shared(&mut Entropy::new([seed; 32]))
}

/// The keys of an initiator and a responder that know each other.
pub(crate) fn own() -> [Key; 2] {
    let public = |key: &Key| Key::public_from(key.public().strip_prefix("peer ").unwrap()).unwrap();
    let [ours, theirs] = [1, 2].map(|seed| Key::own(&mut Entropy::new([seed; 32]), vec![]));
    let with = |key: &Key, peer: &Key| match key {
        Key::Static { secret, .. } => Key::Static { secret: *secret, peers: vec![public(peer)] },
        Key::Shared(_) => unreachable!("made as a static key"),
    };
    [with(&ours, &theirs), with(&theirs, &ours)]
}

pub(crate) fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

impl Network {
    pub(crate) fn new(config: Config, keys: [&Key; 2], faults: Faults, seed: u64) -> Network {
        let mut entropy = Entropy::new([seed as u8; 32]);
        let server_at = at("192.0.2.1:7000");
        Network {
            now: Time::ZERO,
            client: Association::initiate(config, keys[0], server_at, Time::ZERO, entropy.fork()).unwrap(),
            client_at: at("192.0.2.2:5000"),
            server_at,
            acceptor: Acceptor::new(config, keys[1], entropy.fork()).unwrap(),
            associations: BTreeMap::new(),
            faults,
            received: [vec![], vec![]],
            events: [vec![], vec![]],
            log: vec![],
            errors: BTreeMap::new(),
            path: BTreeMap::new(),
            numbered: 0,
            rng: Rng::new(seed),
        }
    }

    /// Two ends with one key, run until both are established.
    pub(crate) fn established(config: Config, faults: Faults, seed: u64) -> Network {
        let key = shared(1);
        let mut network = Network::new(config, [&key, &key], faults, seed);
        network.run(Span::from_secs(5));
        assert_eq!(network.events[0][..1], [Event::Established]);
        assert_eq!(network.events[1][..1], [Event::Established]);
        network
    }

    pub(crate) fn server(&mut self) -> &mut Association {
        self.associations.values_mut().next().expect("an association")
    }

    pub(crate) fn client_send(&mut self, text: &[u8]) -> bool {
        let mut buf = [0; MAX_DATAGRAM];
        let sealed = self.client.seal(self.now, text, &mut buf);
        if let Some(transmit) = sealed {
            self.send(self.client_at, transmit, &buf);
        }
        sealed.is_some()
    }

    pub(crate) fn server_send(&mut self, text: &[u8]) -> bool {
        let (mut buf, now) = ([0; MAX_DATAGRAM], self.now);
        let sealed = self.server().seal(now, text, &mut buf);
        if let Some(transmit) = sealed {
            self.send(self.server_at, transmit, &buf);
        }
        sealed.is_some()
    }

    /// Lets `span` pass.
    pub(crate) fn run(&mut self, span: Span) {
        let end = self.now + span;
        loop {
            self.drain();
            let timeouts =
                self.associations.values().map(Association::poll_timeout).chain([self.client.poll_timeout()]);
            let packet = self.path.first_key_value().map(|((at, _), _)| *at);
            let next = timeouts.flatten().chain(packet).min();
            let Some(next) = next.filter(|next| *next <= end) else { break };
            self.now = self.now.max(next);
            self.step();
        }
        self.now = end;
    }

    /// Delivers a datagram to its destination, as if it had just arrived.
    pub(crate) fn deliver(&mut self, packet: &Packet) -> Result<(), Error> {
        let mut out = [0; MAX_DATAGRAM];
        let Packet { from, to, bytes } = packet;
        if *to != self.server_at {
            if *to != self.client_at {
                return Ok(());
            }
            let text = self.client.handle_datagram(self.now, *from, bytes, &mut out)?;
            self.received[0].extend(text.map(<[u8]>::to_vec));
            return Ok(());
        }
        match receiver(bytes)? {
            Some(id) => {
                let association = self.associations.get_mut(&id).ok_or(Error::Unknown)?;
                let text = association.handle_datagram(self.now, *from, bytes, &mut out)?;
                self.received[1].extend(text.map(<[u8]>::to_vec));
            }
            None => {
                let reply = self.acceptor.handle_datagram(self.now, *from, bytes, &mut out)?;
                assert!(reply.transmit.len <= bytes.len(), "no amplification");
                self.associations.extend(reply.association.map(|association| (association.id(), association)));
                self.send(self.server_at, reply.transmit, &out);
            }
        }
        Ok(())
    }

    /// Handles everything that is due now.
    fn step(&mut self) {
        while let Some(entry) = self.path.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let packet = entry.remove();
            if let Err(error) = self.deliver(&packet) {
                *self.errors.entry(error.to_string()).or_default() += 1;
            }
            self.drain();
        }
        let now = self.now;
        let is_due = |association: &Association| association.poll_timeout().is_some_and(|at| at <= now);
        let ends = self.associations.values_mut().chain([&mut self.client]);
        ends.filter(|end| is_due(end)).for_each(|end| end.handle_timeout(now));
    }

    fn drain(&mut self) {
        let mut buf = [0; MAX_DATAGRAM];
        let ids: Vec<u64> = self.associations.keys().copied().collect();
        for id in ids {
            while let Some(transmit) =
                self.associations.get_mut(&id).and_then(|end| end.poll_transmit(self.now, &mut buf))
            {
                self.send(self.server_at, transmit, &buf);
            }
            let end = self.associations.get_mut(&id).expect("it is inside");
            self.events[1].extend(std::iter::from_fn(|| end.poll_event()));
            if end.is_over() {
                self.associations.remove(&id);
            }
        }
        while let Some(transmit) = self.client.poll_transmit(self.now, &mut buf) {
            self.send(self.client_at, transmit, &buf);
        }
        self.events[0].extend(std::iter::from_fn(|| self.client.poll_event()));
    }

    fn send(&mut self, from: SocketAddr, transmit: Transmit, buf: &[u8]) {
        let packet = Packet { from, to: transmit.to, bytes: buf[..transmit.len].to_vec() };
        self.log.push(packet.clone());
        let copies = if self.rng.chance(self.faults.twice) { 2 } else { 1 };
        for _ in 0..copies {
            if self.faults.is_cut || self.rng.chance(self.faults.loss) {
                continue;
            }
            let mut packet = packet.clone();
            if self.rng.chance(self.faults.corrupt) {
                let at = self.rng.below(packet.bytes.len() as u64) as usize;
                packet.bytes[at] ^= 1 << self.rng.below(8);
            }
            let late = Span::from_nanos(self.rng.below(self.faults.jitter.as_nanos() + 1));
            self.path.insert((self.now + ms(20) + late, self.numbered), packet);
            self.numbered += 1;
        }
    }
}
