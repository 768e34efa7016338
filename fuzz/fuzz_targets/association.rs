//! An association over a path that the input controls: it drops, duplicates, corrupts, truncates and forges datagrams,
//! and changes addresses. Nothing panics or hangs, and no end opens a message that was not sealed, or more messages
//! than were sealed.
#![no_main]

use core::net::SocketAddr;
use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use thalweg_core::session::secure::{Association, Config, Acceptor, Entropy, Key, Limits, Reason, receiver};
use thalweg_core::session::{MAX_DATAGRAM, Transmit};
use thalweg_core::time::{Span, Time};

/// More transmissions than this in one step mean an endless loop.
const MANY: usize = 1_000;

struct World<'a> {
    script: core::iter::Copied<core::slice::Iter<'a, u8>>,
    now: Time,
    /// The client's address, then the server's.
    addresses: [SocketAddr; 2],
    client: Association,
    door: Acceptor,
    inside: BTreeMap<u64, Association>,
    said: u64,
    heard: [u64; 2],
}

fuzz_target!(|data: &[u8]| {
    let (mut entropy, config) = (Entropy::new([1; 32]), config());
    let key = Key::shared(&mut entropy);
    let addresses = [([192, 0, 2, 2], 5000), ([192, 0, 2, 1], 7000)].map(SocketAddr::from);
    let client = Association::initiate(config, &key, addresses[1], Time::ZERO, entropy.fork()).expect("a shared key");
    let door = Acceptor::new(config, &key, entropy.fork()).expect("a shared key");
    let (inside, script) = (BTreeMap::new(), data.iter().copied());
    let mut world = World { script, now: Time::ZERO, addresses, client, door, inside, said: 0, heard: [0; 2] };
    while let Some(step) = world.script.next() {
        world.now += Span::from_micros(u64::from(step >> 4) * 7_000);
        match step & 15 {
            0 => world.addresses[0].set_port(5000 + u16::from(step >> 4)),
            1 if step >> 4 == 7 => world.client.close(world.now, Reason::Done),
            _ => world.talk(),
        }
        world.settle();
    }
    // No end opens more messages than were sealed.
    assert!(world.heard.iter().all(|heard| *heard <= world.said));
});

/// Limits so low that keys change every few datagrams.
fn config() -> Config {
    let limits = Limits { packets: 16, age: Span::from_secs(1), grace: Span::from_millis(100) };
    Config { datagram: 256, limits, ..Config::default() }
}

impl World<'_> {
    /// Both ends seal the next number.
    fn talk(&mut self) {
        let mut buf = [0; MAX_DATAGRAM];
        self.said += 1;
        let text = self.said.to_be_bytes();
        if let Some(transmit) = self.client.seal(self.now, &text, &mut buf) {
            self.carry(self.addresses[0], transmit, &mut buf);
        }
        let last = self.inside.last_entry().and_then(|mut end| end.get_mut().seal(self.now, &text, &mut buf));
        if let Some(transmit) = last {
            self.carry(self.addresses[1], transmit, &mut buf);
        }
    }

    /// Handles all due timeouts and sends all pending datagrams.
    fn settle(&mut self) {
        let mut buf = [0; MAX_DATAGRAM];
        for sent in 0.. {
            assert!(sent < MANY, "sends for ever");
            let now = self.now;
            for end in self.inside.values_mut().chain([&mut self.client]) {
                if end.poll_timeout().is_some_and(|at| at <= now) {
                    end.handle_timeout(now);
                }
                while end.poll_event().is_some() {}
            }
            self.inside.retain(|_, end| !end.is_over());
            if let Some(transmit) = self.client.poll_transmit(now, &mut buf) {
                self.carry(self.addresses[0], transmit, &mut buf);
                continue;
            }
            let Some(transmit) = self.inside.values_mut().find_map(|end| end.poll_transmit(now, &mut buf)) else { break };
            self.carry(self.addresses[1], transmit, &mut buf);
        }
    }

    /// Delivers a datagram to the peer, as modified by the script.
    fn carry(&mut self, from: SocketAddr, transmit: Transmit, buf: &mut [u8]) {
        let datagram = &mut buf[..transmit.len];
        let fate = self.script.next().unwrap_or(0);
        let at = usize::from(self.script.next().filter(|_| fate > 127).unwrap_or(0)) % datagram.len();
        let (to, mut copies, mut from) = (transmit.to, 1, from);
        let mut end = datagram.len();
        match fate {
            0..=127 => {}
            128..=159 => copies = 0,
            160..=175 => copies = 2,
            176..=207 => datagram[at] ^= fate,
            208..=223 => end = at,
            224..=239 => datagram.iter_mut().zip(&mut self.script).for_each(|(byte, other)| *byte = other),
            240.. => from = SocketAddr::from(([198, 51, 100, fate], 9)),
        }
        for _ in 0..copies {
            self.deliver(from, to, &datagram[..end]);
        }
    }

    fn deliver(&mut self, from: SocketAddr, to: SocketAddr, bytes: &[u8]) {
        let mut out = [0; MAX_DATAGRAM];
        let side = usize::from(to == self.addresses[1]);
        let heard = match (side, receiver(bytes)) {
            (0, _) if to == self.addresses[0] => self.client.handle_datagram(self.now, from, bytes, &mut out),
            (1, Ok(Some(id))) => match self.inside.get_mut(&id) {
                Some(end) => end.handle_datagram(self.now, from, bytes, &mut out),
                None => return,
            },
            (1, Ok(None)) => {
                if let Ok(reply) = self.door.handle_datagram(self.now, from, bytes, &mut out) {
                    assert!(reply.transmit.len <= bytes.len());
                    self.inside.extend(reply.association.map(|end| (end.id(), end)));
                    let mut again = [0; MAX_DATAGRAM];
                    drop(self.client.handle_datagram(self.now, to, &out[..reply.transmit.len], &mut again));
                }
                return;
            }
            _ => return,
        };
        if let Ok(Some(text)) = heard {
            let number = u64::from_be_bytes(text.try_into().expect("what was said"));
            assert!(number <= self.said);
            self.heard[side] += 1;
        }
    }
}
