//! A tunnel: many connections at once between ends that have each other's key, over one association, without losing or
//! doubling a byte of them when the association has to be made anew.
//!
//! | layer | what it is |
//! |---|---|
//! | [`secure::Association`] | sealed datagrams between two ends |
//! | [`End`](super::stream::End) | one lossless stream of bytes each way |
//! | [`mux::Mux`] | connections inside that stream |
//! | link | these three: one peer |
//! | [`Tunnel`] | all links of this end: one at a time for a client, many for a server, with its [`secure::Door`] |
//!
//! A link belongs to its stream, which has a name of 128 random bits; associations come and go. Where one ends in silence
//! its client says hello again, and the new one *attaches* the same stream ([`crate::wire::tunnel`]): both ends go on where
//! they were. A server that was restarted knows no such stream and says so; then, or after [`Config::resume`], or when the
//! other end closes, all connections of the link end with a reason. A client makes a new link for the next connection.
//!
//! After every `handle_*`, `open`, `write`, `read`, `finish`, `reset` and `shutdown`, drain [`Session::poll_transmit`] and
//! [`Session::poll_event`], and ask [`Session::poll_timeout`] again.
//!
//! ```
//! use thalweg_core::session::secure::{Entropy, Key};
//! use thalweg_core::session::tunnel::{Config, Event, Tunnel};
//! use thalweg_core::session::{MAX_DATAGRAM, Session};
//! use thalweg_core::time::Time;
//!
//! let (here, there) = ("192.0.2.1:5000".parse()?, "192.0.2.2:7000".parse()?);
//! // On sockets the seed comes from the operating system.
//! let mut entropy = Entropy::new([7; 32]);
//! let key = Key::shared(&mut entropy);
//! let mut client = Tunnel::connect(Config::default(), &key, there, Time::ZERO, entropy.fork())?;
//! let mut server = Tunnel::serve(Config::default(), &key, entropy.fork())?;
//! let id = client.open(Time::ZERO)?;
//! client.write(id, b"hello");
//!
//! let (mut buf, mut text) = ([0; MAX_DATAGRAM], [0; 100]);
//! let heard = loop {
//!     while let Some(transmit) = client.poll_transmit(Time::ZERO, &mut buf) {
//!         server.handle_datagram(Time::ZERO, here, &buf[..transmit.len])?;
//!     }
//!     while let Some(transmit) = server.poll_transmit(Time::ZERO, &mut buf) {
//!         client.handle_datagram(Time::ZERO, there, &buf[..transmit.len])?;
//!     }
//!     if let Some(Event::Readable(id)) = server.poll_event() {
//!         break server.read(Time::ZERO, id, &mut text);
//!     }
//! };
//! assert_eq!(text[..heard], *b"hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod budget;
mod carrier;
mod client;
mod config;
mod link;
mod server;
mod told;
mod view;

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

pub use self::config::Config;
pub use self::told::{Error, Event, Id, Reason, Why};
pub use self::view::View;
pub use super::mux::Unopened;

use self::budget::Budget;
use self::client::Client;
use self::link::Link;
use self::server::Server;
use super::secure::{self, Entropy, Key, KeyError};
use super::{Session, Transmit, mux};
use crate::time::{Span, Time};
use crate::wire;

/// One end of a tunnel.
#[derive(Debug)]
pub struct Tunnel {
    config: Config,
    side: Side,
    links: BTreeMap<u64, Box<Link>>,
    budget: Budget,
    /// The number of the next link.
    next: u64,
    /// The link that sent last.
    turn: u64,
    events: VecDeque<Event>,
    is_stopping: bool,
}

#[derive(Debug)]
enum Side {
    Client(Box<Client>),
    Server(Box<Server>),
}

impl Tunnel {
    /// The end that begins: it says hello to `to` at once.
    ///
    /// # Errors
    /// A value of `config` is out of its range (the error says which), or the key does not say whom to speak to.
    pub fn connect(config: Config, key: &Key, to: SocketAddr, now: Time, entropy: Entropy) -> Result<Tunnel, Error> {
        let client = Client::new(key, to, entropy);
        let mut tunnel = Tunnel::new(config, Side::Client(Box::new(client)))?;
        tunnel.begin(now).map_err(Error::Key)?;
        Ok(tunnel)
    }

    /// The end that is called.
    ///
    /// # Errors
    /// A value of `config` is out of its range (the error says which), or the key lets nobody in.
    pub fn serve(config: Config, key: &Key, entropy: Entropy) -> Result<Tunnel, Error> {
        let server = Server::new(&config, key, entropy).map_err(Error::Key)?;
        Tunnel::new(config, Side::Server(Box::new(server)))
    }

    fn new(config: Config, side: Side) -> Result<Tunnel, Error> {
        link::check(&config).map_err(Error::Config)?;
        let (links, events, budget) = (BTreeMap::new(), VecDeque::new(), Budget::new(config.memory.0));
        Ok(Tunnel { config, side, links, budget, next: 0, turn: 0, events, is_stopping: false })
    }

    /// Opens a connection: a client's to its server, before it is heard of if need be, a server's to the newest of its
    /// clients.
    ///
    /// # Errors
    /// There are too many, there is nobody to open it to, or the end has begun.
    pub fn open(&mut self, now: Time) -> Result<Id, Unopened> {
        let newest = self.links.values().rev().find(|link| !link.is_down()).map(|link| link.number());
        let link = match newest {
            Some(number) => number,
            None if self.is_stopping => return Err(Unopened::Stopped),
            None => self.begin(now).ok().flatten().ok_or(Unopened::Nobody)?,
        };
        let connection = self.links.get_mut(&link).ok_or(Unopened::Nobody)?.mux_mut().open(now)?;
        Ok(Id { link, connection })
    }

    /// Takes the first of `bytes`, and tells how many: less than all if too much waits, none after [`Tunnel::finish`] or
    /// when the connection is gone.
    pub fn write(&mut self, id: Id, bytes: &[u8]) -> usize {
        self.settled(id.link, |mux, _| mux.write(id.connection, bytes)).unwrap_or(0)
    }

    /// Bytes that [`Tunnel::write`] takes now; if none, [`Event::Writable`] follows, unless the connection is gone.
    pub fn room(&mut self, id: Id) -> usize {
        self.settled(id.link, |mux, _| mux.room(id.connection)).unwrap_or(0)
    }

    /// Reads over the first bytes of `buf`, and tells how many; 0 if there is nothing yet, or no more.
    pub fn read(&mut self, now: Time, id: Id, buf: &mut [u8]) -> usize {
        self.settled(id.link, |mux, rtt| mux.read(now, rtt, id.connection, buf)).unwrap_or(0)
    }

    /// The next bytes to be read, as many as lie in one piece; none if there are none yet, or no more.
    pub fn front(&self, id: Id) -> &[u8] {
        self.links.get(&id.link).map_or(&[], |link| link.mux().front(id.connection))
    }

    /// The first `count` bytes of [`Tunnel::front`] were read.
    pub fn consume(&mut self, now: Time, id: Id, count: usize) {
        self.settled(id.link, |mux, rtt| mux.consume(now, rtt, id.connection, count));
    }

    /// Nothing more will be written.
    pub fn finish(&mut self, id: Id) {
        if let Some(link) = self.links.get_mut(&id.link) {
            link.mux_mut().finish(id.connection);
        }
    }

    /// Breaks a connection off; nothing more is told of it.
    pub fn reset(&mut self, id: Id, reason: mux::Reason) {
        self.settled(id.link, |mux, _| mux.reset(id.connection, reason));
    }

    /// Begins the end: open connections are broken off, what was written before has yet to arrive, then the other ends are
    /// told for which `reason`. [`Tunnel::is_over`] says when.
    pub fn shutdown(&mut self, now: Time, reason: secure::Reason) {
        self.is_stopping = true;
        self.links.values_mut().for_each(|link| link.shutdown(now, reason, &mut self.events));
        if let Side::Server(server) = &mut self.side {
            server.shutdown(now);
        }
    }

    /// Whether all is over: after [`Tunnel::shutdown`], or since a client's first hello was in vain.
    pub fn is_over(&self) -> bool {
        let is_idle = self.links.is_empty() && self.events.is_empty();
        is_idle
            && match &self.side {
                Side::Client(client) => self.is_stopping || !client.was_up,
                Side::Server(server) => self.is_stopping && server.is_empty(),
            }
    }

    /// All links, with what they are worth knowing for. One that went down is among them at least until that is read.
    pub fn links(&self) -> impl Iterator<Item = View<'_>> {
        self.links.values().map(|link| View::new(link))
    }

    /// Hellos that came and let nobody in: of another version, or with another key.
    pub fn rejected(&self) -> u64 {
        if let Side::Server(server) = &self.side { server.rejected() } else { 0 }
    }

    /// A client's next link, if it may have one.
    fn begin(&mut self, now: Time) -> Result<Option<u64>, KeyError> {
        let Side::Client(client) = &mut self.side else { return Ok(None) };
        if self.is_stopping {
            return Ok(None);
        }
        let number = self.next;
        let link = client.begin(&self.config, number, now)?;
        self.links.insert(number, link.into());
        self.next += 1;
        Ok(Some(number))
    }

    /// Lets `what` happen to the connections of a link, with the memory that it may have, and takes note of what it has then.
    fn settled<T>(&mut self, link: u64, what: impl FnOnce(&mut mux::Mux, Span) -> T) -> Option<T> {
        let link = self.links.get_mut(&link)?;
        link.settle(&mut self.budget);
        let rtt = link.rtt();
        let outcome = what(link.mux_mut(), rtt);
        link.settle(&mut self.budget);
        Some(outcome)
    }

    /// Ends the largest links of those who have most while all have more than there is.
    fn relieve(&mut self, now: Time) {
        while let Some(peer) = self.budget.excess() {
            let links = self.links.values_mut().filter(|link| link.payer() == peer && link.held() > 0);
            let Some(link) = links.max_by_key(|link| link.held()) else { return };
            link.overload(now, &mut self.events);
            link.settle(&mut self.budget);
        }
    }

    /// Forgets links of which nothing is left, once what became of them is read.
    fn sweep(&mut self) {
        if let Side::Client(client) = &mut self.side {
            client.was_up |= self.links.values().any(|link| link.was_up());
        }
        if self.events.is_empty() {
            self.links.retain(|_, link| {
                let stays = !link.is_over();
                if !stays {
                    self.budget.charge(link.payer(), link.held(), 0);
                }
                stays
            });
        }
    }
}

impl Session for Tunnel {
    type Event = Event;

    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        let receiver = secure::receiver(bytes)?;
        if let Some(link) = self.links.values_mut().find(|link| link.association() == receiver && receiver.is_some()) {
            link.settle(&mut self.budget);
            let outcome = link.handle_datagram(now, from, bytes, &mut self.events);
            link.settle(&mut self.budget);
            self.relieve(now);
            self.sweep();
            return outcome;
        }
        let Side::Server(server) = &mut self.side else {
            let id = secure::unknown(bytes).ok_or(wire::Error::Unknown)?;
            let is_ours = self.links.values_mut().any(|link| link.doubt(now, id));
            return if is_ours { Ok(()) } else { Err(wire::Error::Unknown) };
        };
        let Some(attaching) = server.handle_datagram(now, from, bytes, receiver)? else { return Ok(()) };
        let is_full = self.links.len() >= self.config.links;
        let link = self.links.values_mut().find(|link| link.name() == attaching.stream && !link.is_down());
        match link {
            Some(link) => link.resume(now, attaching.carrier, &mut self.events),
            None if self.is_stopping => server.turn_away(now, attaching, secure::Reason::Stopped),
            None if !attaching.begins => server.refuse(now, attaching),
            None if is_full => {
                server.turn_away(now, attaching, secure::Reason::Overload);
            }
            None => match link::agree(&self.config, attaching.shape, now) {
                Some(stream) => {
                    let link = Link::admit(&self.config, self.next, attaching, stream);
                    self.events.push_back(Event::Up { link: self.next, from: link.peer(), key: link.peer_key() });
                    self.links.insert(self.next, link.into());
                    self.next += 1;
                }
                None => server.turn_away(now, attaching, secure::Reason::Protocol),
            },
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Time) {
        for link in self.links.values_mut() {
            link.handle_timeout(now, &mut self.events);
        }
        match &mut self.side {
            Side::Client(client) => {
                let waiting = self.links.values_mut().filter(|link| link.wants_association());
                waiting.for_each(|link| client.call(&self.config, link, now));
            }
            Side::Server(server) => server.handle_timeout(now),
        }
        self.sweep();
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if let Side::Server(server) = &mut self.side
            && let Some(transmit) = server.poll_transmit(now, buf)
        {
            return Some(transmit);
        }
        // Links take turns.
        for _ in 0..self.links.len() {
            let next = self.links.range(self.turn + 1..).next().or_else(|| self.links.iter().next());
            self.turn = *next?.0;
            let transmit = self.links.get_mut(&self.turn)?.poll_transmit(now, buf, &mut self.events);
            if transmit.is_some() {
                return transmit;
            }
        }
        self.sweep();
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        let side = match &self.side {
            Side::Client(_) => None,
            Side::Server(server) => server.poll_timeout(),
        };
        self.links.values().filter_map(|link| link.poll_timeout()).chain(side).min()
    }

    fn poll_event(&mut self) -> Option<Event> {
        let event = self.events.pop_front().or_else(|| self.links.values_mut().find_map(|link| link.poll_event()));
        if event.is_none() {
            self.sweep();
        }
        event
    }
}
