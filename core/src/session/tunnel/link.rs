//! One peer: a stream with its connections, and the association that carries it, if there is one.

mod fate;

use core::net::SocketAddr;
use std::collections::VecDeque;

use super::budget::{Budget, Peer};
use super::carrier::Carrier;
use super::server::Attaching;
use super::{Config, Event, Id, Reason, Why};
use crate::law::rate::capped::Capped;
use crate::law::rate::{self, Law};
use crate::law::schedule::adaptive::{Adaptive, Parameters};
use crate::law::{ParameterError, within};
use crate::session::mux::{self, Mux};
use crate::session::secure::{self, PublicKey, Role};
use crate::session::stream::{self, End};
use crate::session::{MAX_DATAGRAM, Transmit};
use crate::time::{Span, Time};
use crate::units::{Bytes, Rate};
use crate::wire;
use crate::wire::tunnel::{FIRST, Message, Shape};

/// The stream of a link.
pub(super) type Stream = End<Adaptive, Capped<Law>>;

/// How much of the rate may wait in the stream: what a keystroke finds in front of it.
const AHEAD: Span = Span::from_millis(4);
/// The least and the most originals that this makes.
const MIN_AHEAD: u64 = 2;
const MAX_AHEAD: u64 = 64;
/// What a caller who comes late may make up for.
const SLACK: Span = Span::from_millis(2);
/// What leaves within so long leaves together. A keystroke does not notice, and one waking serves several packets.
const GRAIN: Span = Span::from_micros(250);
/// The least that [`secure::Config::datagram`] may be.
const SHORTEST: f64 = 256.0;
/// More TFRC does not ask for.
const MOST: Rate = Rate::from_mbps(10_000);

#[derive(Debug)]
pub(super) struct Link {
    config: Config,
    role: Role,
    number: u64,
    /// The name of the stream.
    name: u128,
    /// Owner of the link, who may have several by a key of its own.
    owner: Option<PublicKey>,
    carrier: Option<Carrier>,
    stream: Option<Stream>,
    mux: Mux,
    /// Frames of the mux that the stream had no room for.
    frames: Vec<u8>,
    /// Since when no association carries the stream.
    interrupted: Option<Time>,
    /// Why it is gone.
    fate: Option<Why>,
    /// Why it is to end.
    stopping: Option<secure::Reason>,
    /// When the mux took no more, before its events are read.
    paused: Option<Time>,
    peer: SocketAddr,
    /// Bytes that are charged for it.
    held: u64,
    /// Where datagrams are opened.
    opened: Box<[u8]>,
}

/// What a stream of `config` would be made with.
pub(super) fn shape(config: &Config) -> Shape {
    let most = config.secure.datagram.min(MAX_DATAGRAM).saturating_sub(secure::OVERHEAD);
    let frame = u16::try_from(config.stream.frame.min(most)).unwrap_or(u16::MAX);
    Shape { frame, window: u16::try_from(config.stream.window).unwrap_or(u16::MAX) }
}

/// Whether streams can be made of `config`.
///
/// # Errors
/// The value that is out of its range.
pub(super) fn check(config: &Config) -> Result<(), ParameterError> {
    within("datagram", config.secure.datagram as f64, SHORTEST..=MAX_DATAGRAM as f64)?;
    within("connections", config.connections as f64, 1.0..)?;
    within("links", config.links as f64, 1.0..)?;
    for (name, rate) in [("rate in bit/s", config.rate.fixed()), ("max_rate in bit/s", config.max_rate)] {
        let (least, most) = config.rates().into_inner();
        let bounds = least.as_bps() as f64..=most.as_bps() as f64;
        within(name, rate.unwrap_or(most).as_bps() as f64, bounds)?;
    }
    within("max_overhead", config.max_overhead, 0.0..=1e6)?;
    within("memory in bytes", config.memory.0 as f64, Config::LEAST_MEMORY.0 as f64..)?;
    stream(config, shape(config), Time::ZERO).map(drop)
}

/// The stream of a server whose client has asked for `asked`, if there can be one.
pub(super) fn agree(config: &Config, asked: Shape, now: Time) -> Option<Stream> {
    let ours = shape(config);
    stream(config, Shape { frame: ours.frame.min(asked.frame), window: ours.window.min(asked.window) }, now).ok()
}

fn stream(config: &Config, shape: Shape, now: Time) -> Result<Stream, ParameterError> {
    let made = stream::Config { frame: shape.frame.into(), window: shape.window.into(), grain: GRAIN, ..config.stream };
    let schedule = Adaptive::new(Parameters { u_max: config.max_overhead, ..Parameters::default() })?;
    End::new(made, schedule, law(config, &made, now)?)
}

/// The law of a stream that begins, or goes on over another association.
fn law(config: &Config, stream: &stream::Config, now: Time) -> Result<Capped<Law>, ParameterError> {
    let law = rate::Config {
        now,
        packet: Bytes((stream.frame + stream.overhead) as u64),
        most: config.max_rate.unwrap_or(MOST),
        slack: SLACK,
    };
    Ok(Capped::new(Law::new(config.rate, law)?, config.max_rate, SLACK))
}

/// What [`Config::connections`] says of an end.
fn most_connections(role: Role, config: &Config) -> usize {
    match role {
        Role::Initiator => config.connections,
        Role::Responder => config.connections.saturating_mul(2),
    }
}

impl Link {
    /// A client's link, whose stream begins when its server has answered.
    pub(super) fn new(config: &Config, role: Role, number: u64, name: u128, carrier: Carrier) -> Link {
        Link {
            config: config.clone(),
            role,
            number,
            name,
            owner: None,
            peer: carrier.association().peer(),
            carrier: Some(carrier),
            stream: None,
            mux: Mux::new(role, most_connections(role, config)),
            frames: Vec::new(),
            interrupted: None,
            fate: None,
            stopping: None,
            paused: None,
            held: 0,
            opened: [0; MAX_DATAGRAM].into(),
        }
    }

    /// A server's link, with what [`agree`] has made.
    pub(super) fn admit(config: &Config, number: u64, asked: Attaching, stream: Stream) -> Link {
        let mut link = Link::new(config, Role::Responder, number, asked.stream, asked.carrier);
        link.stream = Some(stream);
        link.owner = link.peer_key();
        link.answer();
        link
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The name of its stream.
    pub(super) fn name(&self) -> u128 {
        self.name
    }

    /// The id of the association that carries it.
    pub(super) fn association(&self) -> Option<u64> {
        self.carrier.as_ref().map(|carrier| carrier.association().id())
    }

    /// Where the other end was last.
    pub(super) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Whose association carries it, where each end has a key of its own.
    pub(super) fn peer_key(&self) -> Option<PublicKey> {
        self.carrier.as_ref()?.association().peer_key()
    }

    /// None before both ends know of it.
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
        self.interrupted.is_some()
    }

    /// Whether it takes no more connections.
    pub(super) fn is_down(&self) -> bool {
        self.fate.is_some() || self.stopping.is_some()
    }

    /// The round trip of its stream, as far as one is known.
    pub(super) fn rtt(&self) -> Span {
        self.stream.as_ref().map_or(Span::ZERO, |stream| stream.sender().path().rtt)
    }

    /// Owner of the memory that it takes.
    pub(super) fn payer(&self) -> Peer {
        self.owner.map_or(Peer::Link(self.number), Peer::Key)
    }

    /// Bytes that are charged for it.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Charges what it holds, and lets it hold as much more as is to be had.
    pub(super) fn settle(&mut self, budget: &mut Budget) {
        // A link that is down forgets its stream within a second.
        let stream = self.stream.as_ref().filter(|_| self.fate.is_none());
        let held = self.mux.held() + self.frames.len() as u64 + stream.map_or(0, Stream::kept);
        budget.charge(self.payer(), core::mem::replace(&mut self.held, held), held);
        let spare = budget.spare(self.payer());
        self.mux.bound(mux::Bounds { unread: spare.whole, unsent: spare.half });
        if let Some(stream) = &mut self.stream {
            stream.bound(usize::try_from(spare.whole).unwrap_or(usize::MAX) / stream.config().longest().max(1));
        }
    }

    /// Takes a datagram for its association.
    pub(super) fn handle_datagram(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        events: &mut VecDeque<Event>,
    ) -> Result<(), wire::Error> {
        let carrier = self.carrier.as_mut().ok_or(wire::Error::Unknown)?;
        let mut opened = core::mem::take(&mut self.opened);
        let outcome = match carrier.open(now, from, bytes, &mut opened) {
            Ok(Some(plain)) if self.fate.is_none() => self.on_plain(now, plain, events),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        self.opened = opened;
        self.on_association(now, events);
        outcome
    }

    pub(super) fn handle_timeout(&mut self, now: Time, events: &mut VecDeque<Event>) {
        if let Some(carrier) = self.carrier.as_mut().filter(|it| it.poll_timeout().is_some_and(|at| at <= now)) {
            carrier.handle_timeout(now);
        }
        self.on_association(now, events);
        self.on_silence(now, events);
        if self.carries()
            && let Some(stream) = self.stream.as_mut().filter(|it| it.poll_timeout().is_some_and(|at| at <= now))
        {
            stream.handle_timeout(now);
        }
        if self.paused.take().is_some() {
            self.pump(now, events);
        }
    }

    pub(super) fn poll_transmit(
        &mut self,
        now: Time,
        buf: &mut [u8],
        events: &mut VecDeque<Event>,
    ) -> Option<Transmit> {
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
        self.on_association(now, events);
        self.close_if_done(now);
        self.carrier.as_mut()?.poll_transmit(now, buf)
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let carrier = self.carrier.as_ref().and_then(Carrier::poll_timeout);
        let stream = self.stream.as_ref().filter(|_| self.carries()).and_then(Stream::poll_timeout);
        [carrier, stream, self.next_try(), self.paused].into_iter().flatten().min()
    }

    pub(super) fn poll_event(&mut self) -> Option<Event> {
        let id = |connection| Id { link: self.number, connection };
        Some(match self.mux.poll_event()? {
            mux::Event::Opened(it) => Event::Opened(id(it)),
            mux::Event::Readable(it) => Event::Readable(id(it)),
            mux::Event::Writable(it) => Event::Writable(id(it)),
            mux::Event::Finished(it) => Event::Finished(id(it)),
            mux::Event::Closed(it) => Event::Closed(id(it)),
            mux::Event::Reset(it, reason) => Event::Reset(id(it), Reason::Told(reason)),
        })
    }

    /// Whether frames of the stream can be sent.
    fn carries(&self) -> bool {
        self.fate.is_none() && self.stream.is_some() && self.carrier.as_ref().is_some_and(Carrier::is_attached)
    }

    fn on_plain(&mut self, now: Time, plain: &[u8], events: &mut VecDeque<Event>) -> Result<(), wire::Error> {
        if plain.first().is_some_and(|kind| *kind >= FIRST) {
            return self.on_message(now, Message::parse(plain)?, events);
        }
        let outcome = self.stream.as_mut().ok_or(wire::Error::Unknown)?.handle_frame(now, plain);
        self.pump(now, events);
        outcome
    }

    /// Takes all that the stream has: credit bounds it.
    fn pump(&mut self, now: Time, events: &mut VecDeque<Event>) {
        let Some(stream) = self.stream.as_mut().filter(|_| self.fate.is_none()) else { return };
        while self.mux.is_ready() {
            let Some(bytes) = stream.take(now) else { return };
            if self.mux.handle(now, bytes).is_err() {
                return self.fail(now, events);
            }
        }
        self.paused = Some(now);
    }

    /// Writes into the stream what will leave soon, and no more.
    fn fill(&mut self, now: Time) {
        let Some(stream) = &mut self.stream else { return };
        let slot = stream.sender().path().slot.as_nanos().max(1);
        let ahead = (AHEAD.as_nanos() / slot).clamp(MIN_AHEAD, MAX_AHEAD);
        let room = stream.config().longest();
        while (stream.sender().unsent() as u64) < ahead {
            if self.frames.is_empty() && !self.mux.poll(room, &mut self.frames) {
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
