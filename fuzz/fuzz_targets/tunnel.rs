//! A client, a server and a path that the input controls: it drops, duplicates, corrupts, truncates and forges
//! datagrams, changes addresses, and goes down for any time. The bytes read are those written, in order and once.
#![no_main]

use core::net::SocketAddr;
use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use thalweg_core::law::rate::Choice;
use thalweg_core::session::mux::Reason;
use thalweg_core::session::secure::{self, Entropy, Key};
use thalweg_core::session::tunnel::{Config, Event, Id, Tunnel};
use thalweg_core::session::{MAX_DATAGRAM, Session, stream};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;

/// More rounds than this in one step mean an endless loop.
const MANY: usize = 2_000;

struct World<'a> {
    script: core::iter::Copied<core::slice::Iter<'a, u8>>,
    now: Time,
    client_at: SocketAddr,
    server_at: SocketAddr,
    ends: [Tunnel; 2],
    /// The number of bytes that each end has read from each connection.
    read: [BTreeMap<Id, u64>; 2],
    written: [BTreeMap<Id, u64>; 2],
}

fuzz_target!(|data: &[u8]| {
    let mut entropy = Entropy::new([1; 32]);
    let key = Key::shared(&mut entropy);
    let [client_at, server_at] = [([192, 0, 2, 2], 5000), ([192, 0, 2, 1], 7000)].map(SocketAddr::from);
    let client = Tunnel::connect(config(), &key, server_at, Time::ZERO, entropy.fork()).expect("in range");
    let server = Tunnel::serve(config(), &key, entropy.fork()).expect("in range");
    let (ends, script) = ([client, server], data.iter().copied());
    let (read, written) = Default::default();
    let mut world = World { script, now: Time::ZERO, client_at, server_at, ends, read, written };
    while let Some(step) = world.script.next() {
        let more = u64::from(step >> 4);
        world.now += Span::from_millis(more * 3);
        let now = world.now;
        let side = usize::from(step >> 4 & 1);
        let id = world.written[side].keys().nth(usize::from(step >> 6)).copied();
        match (step & 15, id) {
            (0, _) => world.client_at.set_port(5000 + u16::from(step >> 4)),
            (1 | 2, _) => world.open(side),
            (3, Some(id)) => world.ends[side].finish(id),
            (4, Some(id)) => world.ends[side].reset(id, Reason::Aborted),
            (5, _) => world.now += Span::from_secs(more * 4),
            (6, _) if more == 15 => world.ends[side].shutdown(now, secure::Reason::Stopped),
            (_, Some(id)) => world.write(side, id, more as usize * 40),
            _ => {}
        }
        world.settle();
    }
});

fn config() -> Config {
    let stream = stream::Config { frame: 200, window: 16, ..stream::Config::default() };
    let rate = Choice::Fixed(Rate::from_mbps(5));
    Config { stream, rate, connections: 4, links: 3, ..Config::default() }
}

/// The byte at `offset` in a connection's stream.
fn byte(side: usize, id: Id, offset: u64) -> u8 {
    (offset as u8).wrapping_mul(31).wrapping_add(id.connection as u8 * 7 + side as u8)
}

impl World<'_> {
    fn open(&mut self, side: usize) {
        if let Ok(id) = self.ends[side].open(self.now) {
            self.written[side].insert(id, 0);
        }
    }

    fn write(&mut self, side: usize, id: Id, count: usize) {
        let written = self.written[side].entry(id).or_default();
        let bytes: Vec<u8> = (0..count as u64).map(|nth| byte(side, id, *written + nth)).collect();
        *written += self.ends[side].write(id, &bytes) as u64;
    }

    fn listen(&mut self, side: usize) {
        while let Some(event) = self.ends[side].poll_event() {
            if let Event::Opened(id) | Event::Readable(id) = event {
                self.written[side].entry(id).or_default();
                let (read, mut bytes) = (self.read[side].entry(id).or_default(), [0; 500]);
                while let count @ 1.. = self.ends[side].read(self.now, id, &mut bytes) {
                    for got in &bytes[..count] {
                        assert_eq!(*got, byte(1 - side, id, *read), "{id:?} at {read}");
                        *read += 1;
                    }
                }
            }
        }
    }

    /// Handles all due timeouts and sends all pending datagrams.
    fn settle(&mut self) {
        let mut buf = [0; MAX_DATAGRAM];
        for sent in 0.. {
            assert!(sent < MANY, "sends for ever");
            let now = self.now;
            let mut is_quiet = true;
            for side in [0, 1] {
                if self.ends[side].poll_timeout().is_some_and(|at| at <= now) {
                    self.ends[side].handle_timeout(now);
                }
                self.listen(side);
                if let Some(transmit) = self.ends[side].poll_transmit(now, &mut buf) {
                    is_quiet = false;
                    self.carry(side, transmit.to, &mut buf[..transmit.len]);
                }
            }
            if is_quiet {
                break;
            }
        }
    }

    /// Delivers a datagram to the peer, as modified by the script.
    fn carry(&mut self, side: usize, to: SocketAddr, datagram: &mut [u8]) {
        let fate = self.script.next().unwrap_or(0);
        let at = usize::from(self.script.next().filter(|_| fate > 127).unwrap_or(0)) % datagram.len();
        let (mut copies, mut end) = (1, datagram.len());
        let mut from = [self.client_at, self.server_at][side];
        match fate {
            0..=127 => {}
            128..=175 => copies = 0,
            176..=191 => copies = 2,
            192..=215 => datagram[at] ^= fate,
            216..=231 => end = at,
            232..=239 => datagram.iter_mut().zip(&mut self.script).for_each(|(byte, other)| *byte = other),
            240.. => from = SocketAddr::from(([198, 51, 100, fate], 9)),
        }
        if to != [self.server_at, self.client_at][side] {
            return;
        }
        for _ in 0..copies {
            let _ = self.ends[1 - side].handle_datagram(self.now, from, &datagram[..end]);
        }
    }
}
