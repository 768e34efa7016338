//! A server whose peer has the key and seals anything: messages, frames of a stream, and frames of connections in them.
//! Nothing panics, hangs or grows, and the connection of another client (the neighbour) continues.
#![no_main]

use core::net::SocketAddr;

use libfuzzer_sys::fuzz_target;
use thalweg_core::law::rate::{Choice, fixed::Fixed};
use thalweg_core::law::schedule::arq::Arq;
use thalweg_core::session::secure::{Association, Entropy, Key};
use thalweg_core::session::stream::{self, End};
use thalweg_core::session::tunnel::{Config, Event, Tunnel};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_core::wire::tunnel::{Message, Shape};

/// More transmissions than this in one step mean an endless loop.
const MANY: usize = 2_000;
const SHAPE: Shape = Shape { frame: 200, window: 16 };

struct World {
    now: Time,
    server: Tunnel,
    neighbour: Tunnel,
    peer: Association,
    stream: End<Arq, Fixed>,
    /// The number of bytes that the server has read from the neighbour.
    heard: usize,
}

fn config() -> Config {
    let stream = stream::Config { frame: 200, window: 16, ..stream::Config::default() };
    let rate = Choice::Fixed(Rate::from_mbps(5));
    Config { stream, rate, connections: 4, links: 3, ..Config::default() }
}

fn at(host: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, host], 7000))
}

fuzz_target!(|data: &[u8]| {
    let mut entropy = Entropy::new([1; 32]);
    let key = Key::shared(&mut entropy);
    let (now, secure) = (Time::ZERO, config().secure);
    let made = stream::Config { frame: 200, window: 16, ..stream::Config::default() };
    let law = Fixed::new(Rate::from_mbps(5), Span::from_millis(2));
    let mut world = World {
        now,
        server: Tunnel::serve(config(), &key, entropy.fork()).expect("in range"),
        neighbour: Tunnel::connect(config(), &key, at(1), now, entropy.fork()).expect("in range"),
        peer: Association::initiate(secure, &key, at(1), now, entropy.fork()).expect("a key"),
        stream: End::new(made, Arq, law).expect("in range"),
        heard: 0,
    };
    let id = world.neighbour.open(now).expect("room");
    world.neighbour.write(id, b"first");
    world.settle();
    world.attach(7, SHAPE, true);
    let mut script = data;
    while let Some((&[step, len], rest)) = script.split_first_chunk() {
        let (bytes, rest) = rest.split_at(usize::from(len).min(rest.len()));
        script = rest;
        world.now += Span::from_millis(u64::from(step >> 4));
        match step & 7 {
            0 => world.say(bytes),
            1 => world.attach(u128::from(step >> 4), SHAPE, step & 8 == 0),
            2 => world.now += Span::from_millis(u64::from(step >> 4) * 500),
            3 => {
                let mut changed = [0; 200];
                if let Some(len) = world.stream.poll_frame(world.now, &mut changed) {
                    changed.iter_mut().zip(bytes).for_each(|(byte, other)| *byte ^= other);
                    world.say(&changed[..len]);
                }
            }
            _ => drop(world.stream.write(world.now, bytes)),
        }
        world.settle();
    }
    world.neighbour.write(id, b"last");
    for _ in 0..20 {
        world.now += Span::from_millis(50);
        world.settle();
    }
    assert_eq!(world.heard, 9, "the neighbour is heard");
});

impl World {
    fn attach(&mut self, stream: u128, shape: Shape, begins: bool) {
        let mut plain = [0; 64];
        let len = Message::Attach { stream, shape, begins }.emit(&mut plain);
        self.say(&plain[..len]);
    }

    fn say(&mut self, plain: &[u8]) {
        let mut buf = [0; MAX_DATAGRAM];
        if let Some(transmit) = self.peer.seal(self.now, plain, &mut buf) {
            let _ = self.server.handle_datagram(self.now, at(3), &buf[..transmit.len]);
        }
    }

    fn listen(&mut self) {
        let mut bytes = [0; 500];
        while let Some(event) = self.server.poll_event() {
            if let Event::Opened(id) | Event::Readable(id) = event {
                while let count @ 1.. = self.server.read(self.now, id, &mut bytes) {
                    // The neighbour connected first.
                    self.heard += if id.link == 0 { count } else { 0 };
                }
            }
        }
        while self.neighbour.poll_event().is_some() {}
    }

    fn settle(&mut self) {
        let (mut buf, mut plain, now) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM], self.now);
        self.peer.handle_timeout(now);
        self.stream.handle_timeout(now);
        for end in [&mut self.server, &mut self.neighbour] {
            if end.poll_timeout().is_some_and(|at| at <= now) {
                end.handle_timeout(now);
            }
        }
        for sent in 0.. {
            assert!(sent < MANY, "sends for ever");
            self.listen();
            if let Some(transmit) = self.neighbour.poll_transmit(now, &mut buf) {
                self.server.handle_datagram(now, at(2), &buf[..transmit.len]).expect("genuine");
            } else if let Some(transmit) = self.peer.poll_transmit(now, &mut buf) {
                let _ = self.server.handle_datagram(now, at(3), &buf[..transmit.len]);
            } else if let Some(len) = self.stream.poll_frame(now, &mut plain) {
                let frame = plain;
                self.say(&frame[..len]);
            } else if let Some(transmit) = self.server.poll_transmit(now, &mut buf) {
                if transmit.to == at(2) {
                    self.neighbour.handle_datagram(now, at(1), &buf[..transmit.len]).expect("genuine");
                } else if let Ok(Some(opened)) = self.peer.handle_datagram(now, at(1), &buf[..transmit.len], &mut plain)
                {
                    let _ = self.stream.handle_frame(now, opened);
                }
            } else {
                break;
            }
        }
        while self.peer.poll_event().is_some() {}
    }
}
