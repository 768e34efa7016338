//! A live session and the carrier of its datagrams: UDP itself, in the clear, or secure associations.
//!
//! | part | contents |
//! |---|---|
//! | [`Carried`] | the session, with or without a key |
//! | caller | the end that begins associations: one at a time |
//! | called | the end that accepts them: one for each peer |
//! | [`inside`](super::inside) | the name that a session gives a peer instead of its address |
//!
//! With a key, each datagram that the session writes is sealed, and only what opens reaches the session. Addresses,
//! replays, cookies and keys are the association's matter. The session has a constant name for each peer, so that it never
//! sees a stranger, nor a changed address. While there is no association, datagrams of the session are lost, as on a path
//! without a peer.

mod called;
mod caller;
mod notice;

use core::net::SocketAddr;
use core::ops::{Deref, DerefMut};
use std::collections::VecDeque;

use self::called::Called;
use self::caller::Caller;
pub use self::notice::Notice;
use self::notice::Notices;
use super::Network;
use crate::probe::{Probe, Visitor};
use crate::session::secure::{self, Entropy, Key, KeyError};
use crate::session::{MAX_DATAGRAM, Session, Transmit};
use crate::time::{Span, Time};
use crate::wire;

/// The longest datagram of a session that is sealed: what IPv6, UDP and the seal leave of an Ethernet payload.
const LONGEST: usize = MAX_DATAGRAM - 48 - secure::OVERHEAD;

/// The configuration of a live stream's associations: a peer counts as silent after 15 s, as a tunnel's.
pub fn association() -> secure::Config {
    secure::Config { keepalive: Span::from_secs(5), idle: Span::from_secs(15), ..secure::Config::default() }
}

/// A session that associations can carry. It writes into buffers that are shorter than [`MAX_DATAGRAM`] by the headers of
/// IPv6 and UDP and the seal, so that sealed datagrams fit into an Ethernet payload.
pub trait Carriable: Session {
    /// Takes the networks of the peers that it accepts, which then are the carrier's to check; empty for all.
    fn take_allow(&mut self) -> Vec<Network> {
        Vec::new()
    }

    /// Returns whether the stream is with the peer of this name.
    fn is_with(&self, name: SocketAddr) -> bool;

    /// Takes note that there is an association with a peer from now on.
    fn on_association(&mut self, _now: Time) {}

    /// `event`, with the address `at` of each peer in place of its name.
    fn located(event: Self::Event, at: impl Fn(SocketAddr) -> SocketAddr) -> Self::Event;

    /// The event of a peer that has proved a new address.
    fn moved(to: SocketAddr) -> Self::Event;
}

/// A session, and the carrier of its datagrams. It derefs to the session.
#[derive(Debug)]
pub struct Carried<S: Session> {
    session: S,
    carrier: Carrier,
    /// Changes of addresses that are still to be reported.
    moves: VecDeque<SocketAddr>,
    notices: Notices,
    /// Datagrams that no association has opened.
    rejected: u64,
    /// A buffer for opened datagrams.
    opened: Box<[u8]>,
}

#[derive(Debug)]
enum Carrier {
    Clear,
    Caller(Box<Caller>),
    Called(Box<Called>),
}

/// A change of an association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Change {
    /// There is an association from now on.
    Up,
    /// The peer of this name has proved a new address.
    Moved { name: SocketAddr, to: SocketAddr },
    /// The user is to be notified.
    Noticed(Notice),
}

impl<S: Carriable> Carried<S> {
    /// A session in the clear.
    pub fn clear(session: S) -> Carried<S> {
        Carried::new(session, Carrier::Clear)
    }

    /// A session that calls its peer at `to`, whose name is [`inside`](super::inside)`(to, 0)`.
    ///
    /// # Errors
    /// A static key does not have exactly one peer.
    pub fn calling(
        session: S,
        (config, key): (secure::Config, &Key),
        to: SocketAddr,
        now: Time,
        entropy: Entropy,
    ) -> Result<Carried<S>, KeyError> {
        let caller = Caller::new((config, key.clone()), to, now, entropy)?;
        Ok(Carried::new(session, Carrier::Caller(Box::new(caller))))
    }

    /// A session that peers with the key call.
    ///
    /// # Errors
    /// A static key has no peer.
    pub fn called(
        mut session: S,
        (config, key): (secure::Config, &Key),
        entropy: Entropy,
    ) -> Result<Carried<S>, KeyError> {
        let called = Called::new(session.take_allow(), config, key, entropy)?;
        Ok(Carried::new(session, Carrier::Called(Box::new(called))))
    }

    fn new(session: S, carrier: Carrier) -> Carried<S> {
        Carried {
            session,
            carrier,
            moves: VecDeque::new(),
            notices: Notices::default(),
            rejected: 0,
            opened: [0; MAX_DATAGRAM].into(),
        }
    }

    /// True if all datagrams are sealed.
    pub fn is_encrypted(&self) -> bool {
        !matches!(self.carrier, Carrier::Clear)
    }

    /// Replaces the session by its successor, and returns it; associations remain.
    pub fn replace(&mut self, session: S) -> S {
        core::mem::replace(&mut self.session, session)
    }

    /// The next notice about keys.
    pub fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.poll()
    }

    /// The address of the peer with this name; the name itself in the clear, and of a peer that is gone.
    fn address(&self, name: SocketAddr) -> SocketAddr {
        let address = match &self.carrier {
            Carrier::Clear => None,
            Carrier::Caller(caller) => Some(caller.peer()),
            Carrier::Called(called) => called.peer(name),
        };
        address.unwrap_or(name)
    }

    /// Handles the changes of associations.
    fn settle(&mut self, now: Time) {
        loop {
            let change = match &mut self.carrier {
                Carrier::Clear => return,
                Carrier::Caller(caller) => caller.poll_change(now),
                Carrier::Called(called) => called.poll_change(now),
            };
            match change {
                None => return,
                Some(Change::Up) => self.session.on_association(now),
                Some(Change::Moved { name, to }) => self.moves.extend(self.session.is_with(name).then_some(to)),
                Some(Change::Noticed(notice)) => self.notices.push(notice),
            }
        }
    }

    /// Writes the next datagram of the associations, or else of the session.
    fn poll(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        match &mut self.carrier {
            Carrier::Clear => self.session.poll_transmit(now, buf),
            Carrier::Caller(caller) => caller.poll_transmit(now, buf, &mut self.session),
            Carrier::Called(called) => called.poll_transmit(now, buf, &mut self.session),
        }
    }
}

impl<S: Carriable> Session for Carried<S> {
    type Event = S::Event;

    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        let mut buf = core::mem::take(&mut self.opened);
        let opened = match &mut self.carrier {
            Carrier::Clear => Ok(Some((from, bytes))),
            Carrier::Caller(caller) => caller.open(now, from, bytes, &mut buf),
            Carrier::Called(called) => called.open(now, from, bytes, &mut buf),
        };
        let is_opened = opened.is_ok();
        let outcome = match opened {
            Ok(Some((from, plain))) => self.session.handle_datagram(now, from, plain),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        self.opened = buf;
        self.rejected += u64::from(!is_opened);
        if outcome.is_err() {
            self.notices.on_rejected(from, bytes, self.is_encrypted());
        }
        self.settle(now);
        outcome
    }

    fn handle_timeout(&mut self, now: Time) {
        match &mut self.carrier {
            Carrier::Clear => {}
            Carrier::Caller(caller) => caller.handle_timeout(now),
            Carrier::Called(called) => called.handle_timeout(now),
        }
        self.settle(now);
        self.session.handle_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        self.poll(now, buf).or_else(|| {
            // Keys that are worn out end an association here, and the hello of the next one is due.
            self.settle(now);
            self.poll(now, buf)
        })
    }

    fn poll_timeout(&self) -> Option<Time> {
        let carrier = match &self.carrier {
            Carrier::Clear => None,
            Carrier::Caller(caller) => caller.poll_timeout(),
            Carrier::Called(called) => called.poll_timeout(),
        };
        [carrier, self.session.poll_timeout()].into_iter().flatten().min()
    }

    fn poll_event(&mut self) -> Option<S::Event> {
        if let Some(to) = self.moves.pop_front() {
            return Some(S::moved(to));
        }
        let event = self.session.poll_event()?;
        Some(S::located(event, |name| self.address(name)))
    }
}

impl<S: Session> Deref for Carried<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.session
    }
}

impl<S: Session> DerefMut for Carried<S> {
    fn deref_mut(&mut self) -> &mut S {
        &mut self.session
    }
}

impl<S: Session + Probe> Probe for Carried<S> {
    /// Reports the metrics of the session; datagrams that no association has opened are rejected ones.
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.session.probe(&mut |name, value| {
            let more = if name == "rejected_datagrams_total" { self.rejected } else { 0 };
            visit(name, value + more as f64);
        });
    }
}
