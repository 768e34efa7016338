//! Lossless sessions: one connection through a tunnel as it runs on sockets, or the tunnel's stream without its
//! association.

use core::net::SocketAddr;

use thalweg_core::law::rate::Law as RateLaw;
use thalweg_core::law::rate::capped::Capped;
use thalweg_core::law::schedule::Law as ScheduleLaw;
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::secure::OVERHEAD;
use thalweg_core::session::stream::{self, receiver, sender};
use thalweg_core::session::tunnel::{self, Id, Tunnel};
use thalweg_core::session::{Session, Transmit};
use thalweg_core::time::Time;
use thalweg_core::wire;

/// A session that carries bytes in order.
#[derive(Debug)]
pub enum Lossless {
    /// A connection of a tunnel.
    Tunnel {
        /// The tunnel.
        tunnel: Box<Tunnel>,
        /// The connection; none at a server before its client has opened it.
        connection: Option<Id>,
    },
    /// A stream without an association.
    Stream {
        /// The stream.
        stream: Box<stream::End<ScheduleLaw, Capped<RateLaw>>>,
        /// The address of the peer.
        peer: SocketAddr,
    },
}

/// The events of a lossless session that its application needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// Data to read.
    Readable,
    /// Free space for writing after there was too little.
    Writable,
}

impl Lossless {
    /// Accepts a prefix of `bytes` and returns its length; if that is less than all, [`Event::Writable`] follows.
    pub fn write(&mut self, now: Time, bytes: &[u8]) -> usize {
        match self {
            Lossless::Tunnel { tunnel, connection } => connection.map_or(0, |id| tunnel.write(id, bytes)),
            Lossless::Stream { stream, .. } => stream.write(now, bytes),
        }
    }

    /// Reads into the start of `buf` and returns the number of bytes; 0 if there is nothing yet.
    pub fn read(&mut self, now: Time, buf: &mut [u8]) -> usize {
        match self {
            Lossless::Tunnel { tunnel, connection } => connection.map_or(0, |id| tunnel.read(now, id, buf)),
            Lossless::Stream { stream, .. } => stream.read(now, buf),
        }
    }

    /// Counts of the packets that the session's stream has sent.
    pub fn sent(&self) -> sender::Counts {
        match self {
            Lossless::Tunnel { tunnel, .. } => tunnel.links().last().map(|link| link.sent()).unwrap_or_default(),
            Lossless::Stream { stream, .. } => stream.sender().counts(),
        }
    }

    /// Counts of the packets that the session's stream has received.
    pub fn received(&self) -> receiver::Counts {
        match self {
            Lossless::Tunnel { tunnel, .. } => tunnel.links().last().map(|link| link.received()).unwrap_or_default(),
            Lossless::Stream { stream, .. } => stream.receiver().counts(),
        }
    }
}

impl Session for Lossless {
    type Event = Event;

    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        match self {
            Lossless::Tunnel { tunnel, .. } => tunnel.handle_datagram(now, from, bytes),
            Lossless::Stream { stream, .. } => {
                let (frame, sum) =
                    bytes.split_at_checked(bytes.len().wrapping_sub(OVERHEAD)).ok_or(wire::Error::Truncated)?;
                if *sum != checksum(frame) {
                    return Err(wire::Error::Malformed);
                }
                stream.handle_frame(now, frame)
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        match self {
            Lossless::Tunnel { tunnel, .. } => tunnel.handle_timeout(now),
            Lossless::Stream { stream, .. } => stream.handle_timeout(now),
        }
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        match self {
            Lossless::Tunnel { tunnel, .. } => tunnel.poll_transmit(now, buf),
            Lossless::Stream { stream, peer } => {
                let len = stream.poll_frame(now, buf)?;
                let sum = checksum(&buf[..len]);
                buf[len..len + OVERHEAD].copy_from_slice(&sum);
                Some(Transmit { to: *peer, len: len + OVERHEAD })
            }
        }
    }

    fn poll_timeout(&self) -> Option<Time> {
        match self {
            Lossless::Tunnel { tunnel, .. } => tunnel.poll_timeout(),
            Lossless::Stream { stream, .. } => stream.poll_timeout(),
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        match self {
            Lossless::Tunnel { tunnel, connection } => loop {
                match tunnel.poll_event()? {
                    tunnel::Event::Opened(id) => *connection = Some(id),
                    tunnel::Event::Readable(_) => return Some(Event::Readable),
                    tunnel::Event::Writable(_) => return Some(Event::Writable),
                    _ => {}
                }
            },
            Lossless::Stream { stream, .. } => loop {
                match stream.poll_event()? {
                    stream::Event::Readable => return Some(Event::Readable),
                    stream::Event::Writable => return Some(Event::Writable),
                    _ => {}
                }
            },
        }
    }
}

/// A checksum of a frame, as long as the overhead of a sealed datagram: FNV-1a of words of eight bytes.
fn checksum(frame: &[u8]) -> [u8; OVERHEAD] {
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let hash = frame
        .chunks(8)
        .map(word)
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29));
    let mut sum = [0; OVERHEAD];
    sum[..8].copy_from_slice(&hash.to_be_bytes());
    sum
}

impl Probe for Lossless {
    /// Shows the values of the session's stream.
    fn probe(&self, visit: &mut Visitor<'_>) {
        match self {
            Lossless::Tunnel { tunnel, .. } => {
                if let Some(link) = tunnel.links().last() {
                    link.probe(visit);
                }
            }
            Lossless::Stream { stream, .. } => stream.probe(visit),
        }
    }
}
