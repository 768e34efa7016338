//! One peer: a stream with its connections, and the association that carries it, if there is one.

mod lifecycle;
mod phase;

use core::net::SocketAddr;

use self::phase::Phase;
use super::agreement::{Stream, law, shape, stream};
use super::budget::{Budget, Peer};
use super::carrier::Carrier;
use super::server::Attaching;
use super::{Config, Event, Id, Reason, Why};
use crate::session::mux::{self, Mux};
use crate::session::secure::{PublicKey, Role};
use crate::session::{MAX_DATAGRAM, Transmit};
use crate::time::{Span, Time};
use crate::wire;
use crate::wire::tunnel::{FIRST, Message, Shape};

/// Data that may wait in the stream, as time at its rate: the queue that a keystroke finds in front of it. Ours: longer
/// delays a keystroke, shorter lets the stream run dry where a program wakes late (`agreement.rs`).
const AHEAD: Span = Span::from_millis(4);
/// The limits of the number of originals that may wait. Ours: one that leaves and one behind it, on slow paths. 64
/// originals of 1164 bytes are `AHEAD` at 150 Mb/s; above that the queue is shorter.
const MIN_AHEAD: u64 = 2;
const MAX_AHEAD: u64 = 64;
#[derive(Debug)]
pub(super) struct Link {
    config: Config,
    role: Role,
    phase: Phase,
    /// The name of the stream.
    name: u128,
    /// The key of the client that owns the link, if it has one of its own; it may own several links.
    owner: Option<PublicKey>,
    carrier: Option<Carrier>,
    stream: Option<Stream>,
    mux: Mux,
    /// Frames of the mux for which the stream had no free space.
    frames: Vec<u8>,
    /// The time at which the mux accepted no more, before its events are read.
    paused: Option<Time>,
    peer: SocketAddr,
    /// Bytes charged to the owner of the link.
    held: u64,
    /// A buffer for opened datagrams.
    opened: Box<[u8]>,
}

/// The maximum number of connections at an end, by [`Config::connections`].
fn most_connections(role: Role, config: &Config) -> usize {
    match role {
        Role::Initiator => config.connections,
        Role::Responder => config.connections.saturating_mul(2),
    }
}

impl Link {
    /// Makes a client's link, whose stream begins when its server has answered.
    pub(super) fn new(config: &Config, role: Role, number: u64, name: u128, carrier: Carrier) -> Link {
        Link {
            config: config.clone(),
            role,
            phase: Phase::new(number, config.resume),
            name,
            owner: None,
            peer: carrier.association().peer(),
            carrier: Some(carrier),
            stream: None,
            mux: Mux::new(role, most_connections(role, config)),
            frames: Vec::new(),
            paused: None,
            held: 0,
            opened: [0; MAX_DATAGRAM].into(),
        }
    }

    /// Makes a server's link, with the stream that both ends have agreed on.
    pub(super) fn admit(config: &Config, number: u64, asked: Attaching, stream: Stream) -> Link {
        let mut link = Link::new(config, Role::Responder, number, asked.stream, asked.carrier);
        link.stream = Some(stream);
        link.owner = link.peer_key();
        link.phase.begin(link.peer, link.owner);
        link.answer();
        link
    }

    pub(super) fn number(&self) -> u64 {
        self.phase.link()
    }

    /// The name of the stream.
    pub(super) fn name(&self) -> u128 {
        self.name
    }

    /// The id of the association that carries the stream.
    pub(super) fn association(&self) -> Option<u64> {
        self.carrier.as_ref().map(|carrier| carrier.association().id())
    }

    /// The peer's last known address.
    pub(super) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The public key that the peer has proved, if each end has a key of its own.
    pub(super) fn peer_key(&self) -> Option<PublicKey> {
        self.carrier.as_ref()?.association().peer_key()
    }

    /// The stream; none before both ends know of it.
    pub(super) fn stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    pub(super) fn mux(&self) -> &Mux {
        &self.mux
    }

    pub(super) fn mux_mut(&mut self) -> &mut Mux {
        &mut self.mux
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.phase.is_interrupted()
    }

    /// True if the link accepts no more connections.
    pub(super) fn is_down(&self) -> bool {
        self.phase.is_down() || self.phase.is_stopping()
    }

    /// The round trip of the stream, as far as it is known.
    pub(super) fn rtt(&self) -> Span {
        self.stream.as_ref().map_or(Span::ZERO, |stream| stream.sender().path().rtt)
    }

    /// The owner of the memory that the link takes.
    pub(super) fn payer(&self) -> Peer {
        self.owner.map_or(Peer::Link(self.phase.link()), Peer::Key)
    }

    /// Bytes charged to the owner of the link.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Charges what the link holds, and lets it hold as much more as its share permits.
    pub(super) fn settle(&mut self, budget: &mut Budget) {
        // A link that is down forgets its stream within a second.
        let stream = self.stream.as_ref().filter(|_| !self.phase.is_down());
        let held = self.mux.held() + self.frames.len() as u64 + stream.map_or(0, Stream::kept);
        budget.charge(self.payer(), core::mem::replace(&mut self.held, held), held);
        let spare = budget.spare(self.payer());
        self.mux.bound(mux::Bounds { unread: spare.whole, unsent: spare.half });
        if let Some(stream) = &mut self.stream {
            stream.bound(usize::try_from(spare.whole).unwrap_or(usize::MAX) / stream.config().longest().max(1));
        }
    }

    /// Takes a datagram for the association of the link.
    pub(super) fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        let carrier = self.carrier.as_mut().ok_or(wire::Error::Unknown)?;
        let mut opened = core::mem::take(&mut self.opened);
        let outcome = match carrier.open(now, from, bytes, &mut opened) {
            Ok(Some(plain)) if !self.phase.is_down() => self.on_plain(now, plain),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        self.opened = opened;
        self.on_association(now);
        outcome
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        if let Some(carrier) = self.carrier.as_mut().filter(|it| it.poll_timeout().is_some_and(|at| at <= now)) {
            carrier.handle_timeout(now);
        }
        self.on_association(now);
        self.on_silence(now);
        if self.carries()
            && let Some(stream) = self.stream.as_mut().filter(|it| it.poll_timeout().is_some_and(|at| at <= now))
        {
            stream.handle_timeout(now);
        }
        if self.paused.take().is_some() {
            self.pump(now);
        }
    }

    pub(super) fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let transmit = self.carrier.as_mut()?.poll_transmit(now, buf);
        if transmit.is_some() {
            return transmit;
        }
        if self.carries() {
            self.fill(now);
            let (stream, carrier) = (self.stream.as_mut()?, self.carrier.as_mut()?);
            let transmit = carrier.seal(now, buf, |plain| stream.poll_frame(now, plain));
            if transmit.is_some() {
                return transmit;
            }
        }
        self.on_association(now);
        self.close_if_done(now);
        self.carrier.as_mut()?.poll_transmit(now, buf)
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let carrier = self.carrier.as_ref().and_then(Carrier::poll_timeout);
        let stream = self.stream.as_ref().filter(|_| self.carries()).and_then(Stream::poll_timeout);
        [carrier, stream, self.next_try(), self.paused].into_iter().flatten().min()
    }

    /// The next event: of the link, then of its connections.
    pub(super) fn poll_event(&mut self) -> Option<Event> {
        if let Some(event) = self.phase.poll_event() {
            return Some(event);
        }
        let id = |connection| Id { link: self.phase.link(), connection };
        Some(match self.mux.poll_event()? {
            mux::Event::Opened(it) => Event::Opened(id(it)),
            mux::Event::Readable(it) => Event::Readable(id(it)),
            mux::Event::Writable(it) => Event::Writable(id(it)),
            mux::Event::Finished(it) => Event::Finished(id(it)),
            mux::Event::Closed(it) => Event::Closed(id(it)),
            mux::Event::Reset(it, reason) => Event::Reset(id(it), Reason::Reset(reason)),
        })
    }

    /// True if frames of the stream can be sent.
    fn carries(&self) -> bool {
        !self.phase.is_down() && self.stream.is_some() && self.carrier.as_ref().is_some_and(Carrier::is_attached)
    }

    fn on_plain(&mut self, now: Time, plain: &[u8]) -> Result<(), wire::Error> {
        if plain.first().is_some_and(|kind| *kind >= FIRST) {
            return self.on_message(now, Message::parse(plain)?);
        }
        let outcome = self.stream.as_mut().ok_or(wire::Error::Unknown)?.handle_frame(now, plain);
        self.pump(now);
        outcome
    }

    /// Passes all bytes of the stream to the mux: credit bounds them.
    fn pump(&mut self, now: Time) {
        let Some(stream) = self.stream.as_mut().filter(|_| !self.phase.is_down()) else { return };
        while self.mux.is_ready() {
            let Some(bytes) = stream.take(now) else { return };
            if self.mux.handle(now, bytes).is_err() {
                return self.fail(now);
            }
        }
        self.paused = Some(now);
    }

    /// Writes into the stream the frames that will leave soon, and no more.
    fn fill(&mut self, now: Time) {
        let Some(stream) = &mut self.stream else { return };
        let slot = stream.sender().path().slot.as_nanos().max(1);
        let ahead = (AHEAD.as_nanos() / slot).clamp(MIN_AHEAD, MAX_AHEAD);
        let capacity = stream.config().longest();
        while (stream.sender().unsent() as u64) < ahead {
            if self.frames.is_empty() && !self.mux.poll(capacity, &mut self.frames) {
                return;
            }
            let count = stream.write(now, &self.frames);
            self.frames.drain(..count);
            if !self.frames.is_empty() {
                return;
            }
        }
    }
}
