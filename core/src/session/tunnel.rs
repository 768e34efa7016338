//! A tunnel: many connections at once over one association, between ends that have each other's key. No byte of them is
//! lost or duplicated when the association has to be made anew.
//!
//! | layer | what it is |
//! |---|---|
//! | [`secure::Association`] | sealed datagrams between two ends |
//! | [`End`](super::stream::End) | one lossless stream of bytes each way |
//! | [`mux::Mux`] | connections inside that stream |
//! | link | the three above: one peer |
//! | [`Tunnel`] | all links of an end: one at a time for a client, many for a server; its [`secure::Acceptor`] (acceptor) |
//!
//! A link belongs to its stream, which has a name of 128 random bits; its associations may change. If one ends in
//! silence, the client makes a new handshake, and the new association *attaches* the same stream
//! ([`crate::wire::tunnel`]): both ends continue where they were. A restarted server does not know the stream and says
//! so; then, or after [`Config::resume`], or when the peer closes, all connections of the link end with a reason. A
//! client makes a new link for the next connection.
//!
//! After every `handle_*`, `open`, `write`, `read`, `finish`, `reset` and `shutdown`, drain [`Session::poll_transmit`]
//! and [`Session::poll_event`], and ask [`Session::poll_timeout`] again.
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

mod agreement;
mod budget;
mod carrier;
mod client;
mod config;
mod event;
mod link;
mod server;
mod view;

use core::net::SocketAddr;
use std::collections::BTreeMap;

pub use self::config::Config;
pub use self::event::{Error, Event, Id, Reason, Why};
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
    is_stopping: bool,
}

#[derive(Debug)]
enum Side {
    Client(Box<Client>),
    Server(Box<Server>),
}

impl Tunnel {
    /// Makes a client, which starts its handshake with `to` at once.
    ///
    /// # Errors
    /// A value of `config` is out of its range (the error names it), or the key does not name one server.
    pub fn connect(config: Config, key: &Key, to: SocketAddr, now: Time, entropy: Entropy) -> Result<Tunnel, Error> {
        let client = Client::new(key, to, entropy);
        let mut tunnel = Tunnel::new(config, Side::Client(Box::new(client)))?;
        tunnel.begin(now).map_err(Error::Key)?;
        Ok(tunnel)
    }

    /// Makes a server.
    ///
    /// # Errors
    /// A value of `config` is out of its range (the error names it), or the key admits no client.
    pub fn serve(config: Config, key: &Key, entropy: Entropy) -> Result<Tunnel, Error> {
        let server = Server::new(&config, key, entropy).map_err(Error::Key)?;
        Tunnel::new(config, Side::Server(Box::new(server)))
    }

    fn new(config: Config, side: Side) -> Result<Tunnel, Error> {
        agreement::check(&config).map_err(Error::Config)?;
        let budget = Budget::new(config.memory.0);
        Ok(Tunnel { config, side, links: BTreeMap::new(), budget, next: 0, turn: 0, is_stopping: false })
    }

    /// Opens a connection: a client's to its server, if need be before the server has answered; a server's to the
    /// newest of its clients.
    ///
    /// # Errors
    /// There are too many connections, there is no peer, or the shutdown has begun.
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

    /// Accepts a prefix of `bytes` and returns its length: less than all if too much waits, 0 after [`Tunnel::finish`]
    /// or when the connection is gone.
    pub fn write(&mut self, id: Id, bytes: &[u8]) -> usize {
        self.settled(id.link, |mux, _| mux.write(id.connection, bytes)).unwrap_or(0)
    }

    /// The number of bytes that [`Tunnel::write`] accepts now; if 0, [`Event::Writable`] follows, unless the connection
    /// is gone.
    pub fn room(&mut self, id: Id) -> usize {
        self.settled(id.link, |mux, _| mux.capacity(id.connection)).unwrap_or(0)
    }

    /// Reads into the start of `buf` and returns the number of bytes; 0 if there is nothing yet, or no more.
    pub fn read(&mut self, now: Time, id: Id, buf: &mut [u8]) -> usize {
        self.settled(id.link, |mux, rtt| mux.read(now, rtt, id.connection, buf)).unwrap_or(0)
    }

    /// The next bytes to be read, as many as are contiguous; none if there are none yet, or no more.
    pub fn front(&self, id: Id) -> &[u8] {
        self.links.get(&id.link).map_or(&[], |link| link.mux().front(id.connection))
    }

    /// Consumes the first `count` bytes of [`Tunnel::front`].
    pub fn consume(&mut self, now: Time, id: Id, count: usize) {
        self.settled(id.link, |mux, rtt| mux.consume(now, rtt, id.connection, count));
    }

    /// Ends writing: nothing more will be written.
    pub fn finish(&mut self, id: Id) {
        if let Some(link) = self.links.get_mut(&id.link) {
            link.mux_mut().finish(id.connection);
        }
    }

    /// Resets a connection; no more events follow for it.
    pub fn reset(&mut self, id: Id, reason: mux::Reason) {
        self.settled(id.link, |mux, _| mux.reset(id.connection, reason));
    }

    /// Begins the shutdown: open connections are reset, what is already in the streams is delivered, then associations
    /// are closed with `reason`. [`Tunnel::is_over`] becomes true at the end.
    pub fn shutdown(&mut self, now: Time, reason: secure::Reason) {
        self.is_stopping = true;
        self.links.values_mut().for_each(|link| link.shutdown(now, reason));
        if let Side::Server(server) = &mut self.side {
            server.shutdown(now);
        }
    }

    /// True if all is over: after [`Tunnel::shutdown`], or if a client never reached its server.
    pub fn is_over(&self) -> bool {
        self.links.is_empty()
            && match &self.side {
                Side::Client(client) => self.is_stopping || !client.was_up,
                Side::Server(server) => self.is_stopping && server.is_empty(),
            }
    }

    /// All links, with their statistics. One that went down is included at least until its events are read.
    pub fn links(&self) -> impl Iterator<Item = View<'_>> {
        self.links.values().map(|link| View::new(link))
    }

    /// The number of client handshakes that were refused: of another version, or with another key.
    pub fn rejected(&self) -> u64 {
        if let Side::Server(server) = &self.side { server.rejected() } else { 0 }
    }

    /// Makes a client's next link, if it may have one, and returns its number.
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

    /// Applies `what` to the connections of a link, with its current memory limits, and charges the memory that it then
    /// holds.
    fn settled<T>(&mut self, link: u64, what: impl FnOnce(&mut mux::Mux, Span) -> T) -> Option<T> {
        let link = self.links.get_mut(&link)?;
        link.settle(&mut self.budget);
        let rtt = link.rtt();
        let outcome = what(link.mux_mut(), rtt);
        link.settle(&mut self.budget);
        Some(outcome)
    }

    /// Ends the largest links of the peers that hold most, while all together hold more than the limit.
    fn enforce_memory_limit(&mut self, now: Time) {
        while let Some(peer) = self.budget.excess() {
            let links = self.links.values_mut().filter(|link| link.payer() == peer && link.held() > 0);
            let Some(link) = links.max_by_key(|link| link.held()) else { return };
            link.overload(now);
            link.settle(&mut self.budget);
        }
    }

    /// Forgets links of which nothing is left, once their events are read.
    fn sweep(&mut self) {
        if let Side::Client(client) = &mut self.side {
            client.was_up |= self.links.values().any(|link| link.was_up());
        }
        self.links.retain(|_, link| {
            let stays = !link.is_over();
            if !stays {
                self.budget.charge(link.payer(), link.held(), 0);
            }
            stays
        });
    }
}

impl Session for Tunnel {
    type Event = Event;

    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        let receiver = secure::receiver(bytes)?;
        if let Some(link) = self.links.values_mut().find(|link| link.association() == receiver && receiver.is_some()) {
            link.settle(&mut self.budget);
            let outcome = link.handle_datagram(now, from, bytes);
            link.settle(&mut self.budget);
            self.enforce_memory_limit(now);
            self.sweep();
            return outcome;
        }
        let Side::Server(server) = &mut self.side else {
            let id = secure::unknown(bytes).ok_or(wire::Error::Unknown)?;
            let is_ours = self.links.values_mut().any(|link| link.on_unknown(now, id));
            return if is_ours { Ok(()) } else { Err(wire::Error::Unknown) };
        };
        let Some(attaching) = server.handle_datagram(now, from, bytes, receiver)? else { return Ok(()) };
        let is_full = self.links.len() >= self.config.links;
        let link = self.links.values_mut().find(|link| link.name() == attaching.stream && !link.is_down());
        match link {
            Some(link) => link.resume(now, attaching.carrier),
            None if self.is_stopping => server.reject(now, attaching, secure::Reason::Stopped),
            None if !attaching.begins => server.refuse(now, attaching),
            None if is_full => {
                server.reject(now, attaching, secure::Reason::Overload);
            }
            None => match agreement::agree(&self.config, attaching.shape, now) {
                Some(stream) => {
                    let link = Link::admit(&self.config, self.next, attaching, stream);
                    self.links.insert(self.next, link.into());
                    self.next += 1;
                }
                None => server.reject(now, attaching, secure::Reason::Protocol),
            },
        }
        Ok(())
    }

    fn handle_timeout(&mut self, now: Time) {
        for link in self.links.values_mut() {
            link.handle_timeout(now);
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
            let transmit = self.links.get_mut(&self.turn)?.poll_transmit(now, buf);
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
        let event = self.links.values_mut().find_map(|link| link.poll_event());
        if event.is_none() {
            self.sweep();
        }
        event
    }
}
