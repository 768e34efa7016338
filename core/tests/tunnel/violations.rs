//! Peers that have the key and violate the protocol: their own link ends, no other peer's, and nothing grows.

use std::net::SocketAddr;

use thalweg_core::law::rate::fixed::Fixed;
use thalweg_core::law::schedule::arq::Arq;
use thalweg_core::session::secure::{self, Association, Ending, Reason as Close};
use thalweg_core::session::stream::{self, End};
use thalweg_core::session::tunnel::{Event, Why};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_core::wire::mux::{FIRST_CREDIT, Frame};
use thalweg_core::wire::tunnel::{Message, Shape};

use crate::tunnel::pair::{Pair, config, there};

const NAME: u128 = 77;
const SHAPE: Shape = Shape { frame: 1000, window: 64 };

/// A peer that writes anything into its stream.
struct Peer {
    association: Association,
    stream: End<Arq, Fixed>,
    at: SocketAddr,
    /// Messages received besides the stream.
    messages: Vec<Message>,
    ended: Option<Ending>,
}

impl Peer {
    fn new(pair: &mut Pair, port: u16) -> Peer {
        let entropy = pair.entropy.fork();
        let config = config().secure;
        let made =
            stream::Config { frame: SHAPE.frame.into(), window: SHAPE.window.into(), ..stream::Config::default() };
        let association = Association::initiate(config, &pair.key, there(), pair.now, entropy).expect("a key");
        let stream = End::new(made, Arq, Fixed::new(Rate::from_mbps(50), Span::from_millis(2))).expect("in range");
        let mut peer =
            Peer { association, stream, at: ([192, 0, 2, 9], port).into(), messages: Vec::new(), ended: None };
        peer.talk(pair, 10);
        peer
    }

    /// Asks for a stream.
    fn attach(&mut self, pair: &mut Pair, stream: u128, shape: Shape, begins: bool) {
        let mut plain = [0; 64];
        let len = Message::Attach { stream, shape, begins }.emit(&mut plain);
        self.send(pair, &plain[..len]);
        self.talk(pair, 10);
    }

    /// Seals any plaintext and delivers it to the server.
    fn send(&mut self, pair: &mut Pair, plain: &[u8]) {
        let mut buf = [0; MAX_DATAGRAM];
        if let Some(transmit) = self.association.seal(pair.now, plain, &mut buf) {
            let _ = pair.server.handle_datagram(pair.now, self.at, &buf[..transmit.len]);
        }
    }

    /// Writes frames and `data` into the stream, and lets them arrive.
    fn write(&mut self, pair: &mut Pair, frames: &[Frame], data: &[u8]) {
        let mut bytes = Vec::new();
        frames.iter().for_each(|frame| frame.emit(&mut bytes));
        bytes.extend_from_slice(data);
        let mut written = 0;
        for _ in 0..2000 {
            written += self.stream.write(pair.now, &bytes[written..]);
            self.talk(pair, 2);
            if written == bytes.len() {
                break;
            }
        }
        self.talk(pair, 20);
    }

    /// Lets `millis` pass.
    fn talk(&mut self, pair: &mut Pair, millis: u64) {
        let (mut buf, mut plain) = ([0; MAX_DATAGRAM], [0; MAX_DATAGRAM]);
        for _ in 0..millis {
            pair.now += Span::from_millis(1);
            self.association.handle_timeout(pair.now);
            self.stream.handle_timeout(pair.now);
            while let Some(transmit) = self.association.poll_transmit(pair.now, &mut buf) {
                let _ = pair.server.handle_datagram(pair.now, self.at, &buf[..transmit.len]);
            }
            while let Some(len) = self.stream.poll_frame(pair.now, &mut plain) {
                let frame = plain;
                self.send(pair, &frame[..len]);
            }
            pair.settle();
            for (to, bytes) in std::mem::take(&mut pair.others) {
                if to == self.at {
                    self.receive(pair.now, &bytes, &mut plain);
                }
            }
            while let Some(event) = self.association.poll_event() {
                if let secure::Event::Ended(ending) = event {
                    self.ended = Some(ending);
                }
            }
        }
    }

    fn receive(&mut self, now: Time, bytes: &[u8], plain: &mut [u8]) {
        if let Ok(Some(opened)) = self.association.handle_datagram(now, there(), bytes, plain) {
            match Message::parse(opened) {
                Ok(message) => self.messages.push(message),
                Err(_) => self.stream.handle_frame(now, opened).expect("the server keeps to the rules"),
            }
        }
    }
}

/// A server with a live client, and a second peer that has attached a stream.
fn stage() -> (Pair, Peer) {
    let mut pair = Pair::new();
    pair.client.open(pair.now).expect("room");
    pair.run(Span::from_millis(100));
    let mut peer = Peer::new(&mut pair, 9000);
    peer.attach(&mut pair, NAME, SHAPE, true);
    assert_eq!(peer.messages, [Message::Attached { stream: NAME, shape: SHAPE }]);
    (pair, peer)
}

fn down_reasons(pair: &Pair) -> Vec<Why> {
    let why = |event: &Event| if let Event::Down { why, .. } = event { Some(*why) } else { None };
    pair.events.iter().filter_map(why).collect()
}

#[test]
fn protocol_violations_close_the_association() {
    let open = Frame::Open { id: 0 };
    let data = |len| Frame::Data { id: 0, len };
    let broken: [(&str, Vec<Frame>, Vec<u8>); 9] = [
        ("an id of the server's", vec![Frame::Open { id: 1 }], vec![]),
        ("an id twice", vec![open, open], vec![]),
        ("ids that fall", vec![Frame::Open { id: 8 }, Frame::Open { id: 6 }], vec![]),
        ("a connection that was never opened", vec![open, Frame::Finish { id: 2 }], vec![]),
        ("one that the server never opened", vec![Frame::Reset { id: 1, reason: 0 }], vec![]),
        ("data behind the end", vec![open, Frame::Finish { id: 0 }, data(1)], vec![1]),
        ("two ends", vec![open, Frame::Finish { id: 0 }, Frame::Finish { id: 0 }], vec![]),
        ("more credit than numbers go", vec![open, Frame::Credit { id: 0, more: u32::MAX }], vec![]),
        ("no frame at all", vec![], vec![99]),
    ];
    for (what, frames, bytes) in broken {
        let (mut pair, mut peer) = stage();
        peer.write(&mut pair, &frames, &bytes);
        assert_eq!(down_reasons(&pair), [Why::Protocol], "{what}");
        assert_eq!(peer.ended, Some(Ending::ClosedByPeer(Close::Protocol)), "{what}");
        assert_eq!(pair.server.links().count(), 1, "{what}: the neighbour stays");
    }
}

#[test]
fn data_beyond_the_credit_closes_the_link() {
    let (mut pair, mut peer) = stage();
    pair.reads = false;
    peer.write(&mut pair, &[Frame::Open { id: 0 }], &[]);
    let whole = FIRST_CREDIT as usize / 65_535;
    for nth in 0..whole {
        peer.write(&mut pair, &[Frame::Data { id: 0, len: 65_535 }], &[3; 65_535]);
        assert!(down_reasons(&pair).is_empty(), "frame {nth}");
    }
    let [_, unread] = pair.server.links().last().expect("two links").buffered();
    assert_eq!(unread, whole as u64 * 65_535);
    // Four bytes of credit are left.
    peer.write(&mut pair, &[Frame::Data { id: 0, len: 5 }], &[3; 5]);
    assert_eq!(down_reasons(&pair), [Why::Protocol]);
}

/// Connections beyond the limit are answered with resets; those that wait are bounded although the peer takes nothing.
#[test]
fn a_flood_of_opened_connections_is_refused() {
    let (mut pair, mut peer) = stage();
    let frames: Vec<Frame> = (0..20_000).map(|nth| Frame::Open { id: 2 * nth }).collect();
    peer.write(&mut pair, &frames, &[]);
    let opened = pair.events.iter().filter(|event| matches!(event, Event::Opened(id) if id.link == 1)).count();
    assert_eq!(opened, 2 * config().connections);
    assert!(down_reasons(&pair).is_empty());
}

#[test]
fn streams_with_invalid_shapes_are_refused() {
    for shape in [Shape { frame: 0, window: 64 }, Shape { frame: 1000, window: 0 }, Shape { frame: 127, window: 1 }] {
        let mut pair = Pair::new();
        pair.run(Span::from_millis(100));
        let mut peer = Peer::new(&mut pair, 9001);
        peer.attach(&mut pair, NAME, shape, true);
        assert_eq!((peer.messages.len(), peer.ended), (0, Some(Ending::ClosedByPeer(Close::Protocol))));
        assert_eq!(pair.server.links().count(), 1);
    }
    // A shape beyond the server's limits is reduced in its answer.
    let mut pair = Pair::new();
    let mut peer = Peer::new(&mut pair, 9002);
    peer.attach(&mut pair, NAME, Shape { frame: u16::MAX, window: u16::MAX }, true);
    let [Message::Attached { shape, .. }] = peer.messages[..] else { panic!("{:?}", peer.messages) };
    assert_eq!(usize::from(shape.window), config().stream.window);
    assert!(usize::from(shape.frame) <= MAX_DATAGRAM);
}

/// The name of a stream suffices to attach it, and only its two ends know it.
#[test]
fn a_stream_is_attached_by_its_name_alone() {
    let (mut pair, first) = stage();
    let mut guesser = Peer::new(&mut pair, 9003);
    guesser.attach(&mut pair, NAME + 1, SHAPE, false);
    assert_eq!(guesser.messages, [Message::Unknown { stream: NAME + 1 }]);
    let mut second = Peer::new(&mut pair, 9004);
    second.stream = first.stream;
    second.attach(&mut pair, NAME, SHAPE, false);
    assert_eq!(second.messages, [Message::Attached { stream: NAME, shape: SHAPE }]);
    second.write(&mut pair, &[Frame::Open { id: 0 }, Frame::Data { id: 0, len: 2 }], b"hi");
    let received = pair.received.iter().find(|(id, _)| id.link == 1).map(|(_, received)| received.as_slice());
    assert_eq!(received, Some(&b"hi"[..]));
    assert!(pair.events.iter().any(|event| matches!(event, Event::Resumed { link: 1 })));
}

/// An association that names no stream is closed.
#[test]
fn association_without_a_stream_is_closed() {
    let mut pair = Pair::new();
    let mut peer = Peer::new(&mut pair, 9005);
    peer.talk(&mut pair, 12_000);
    assert_eq!(peer.ended, Some(Ending::ClosedByPeer(Close::Protocol)));
}
