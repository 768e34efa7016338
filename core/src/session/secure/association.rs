//! One association: the same object at both ends.

mod control;

use core::net::SocketAddr;
use std::collections::VecDeque;
use std::sync::Arc;

use super::backoff::Backoff;
use super::entropy::Entropy;
use super::greeting::Greeting;
use super::key::{Key, KeyError, PublicKey};
use super::keyring::Keyring;
use super::noise::{Keys, Role};
use super::path::Path;
use super::pulse::Pulse;
use super::{Config, Ending, Event, OVERHEAD, Reason};
use crate::session::{MAX_DATAGRAM, Transmit};
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::secure::Datagram;
use crate::wire::secure::inner::Inner;

/// How long a close is repeated while the other end does not answer it.
const FAREWELL: Span = Span::from_secs(1);

/// One end of a secure association. After every `handle_*`, drain every `poll_*`.
#[derive(Debug)]
pub struct Association {
    config: Config,
    key: Arc<Key>,
    role: Role,
    entropy: Entropy,
    /// By which id this end is addressed, and the other.
    ids: [u64; 2],
    path: Path,
    /// Who the other end has proved to be, where it has a key of its own.
    peer_key: Option<PublicKey>,
    greeting: Option<Greeting>,
    keyring: Option<Keyring>,
    pulse: Pulse,
    is_established: bool,
    owed: Owed,
    farewell: Option<Farewell>,
    is_ended: bool,
    events: VecDeque<Event>,
    /// What is sealed next.
    plain: Box<[u8]>,
}

/// Answers that are still to be sent, at most one of a kind: what is asked twice before is answered once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Owed {
    pong: bool,
    proof: Option<(SocketAddr, u64)>,
    close: Option<Reason>,
}

/// A close that has begun here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Farewell {
    reason: Reason,
    backoff: Backoff,
    until: Time,
}

impl Association {
    /// The initiator's end, which says hello to `to` at once.
    ///
    /// # Errors
    /// The key does not say whom to speak to.
    pub fn initiate(
        config: Config,
        key: &Key,
        to: SocketAddr,
        now: Time,
        mut entropy: Entropy,
    ) -> Result<Association, KeyError> {
        key.check_initiator()?;
        let id = entropy.u64();
        let greeting = Greeting::new(&config, key, id, now, &mut entropy);
        let key = Arc::new(key.clone());
        let mut initiator = Association::new(config, key, Role::Initiator, [id, 0], to, now, entropy);
        initiator.greeting = Some(greeting);
        Ok(initiator)
    }

    /// The responder's end, once the initiator's first message was read.
    pub(super) fn admit(
        config: Config,
        key: Arc<Key>,
        ids: [u64; 2],
        from: SocketAddr,
        keys: Keys,
        now: Time,
        entropy: Entropy,
    ) -> Association {
        let mut responder = Association::new(config, key, Role::Responder, ids, from, now, entropy);
        responder.peer_key = keys.peer();
        responder.keyring = Some(Keyring::new(Role::Responder, config.limits, keys, now));
        responder
    }

    fn new(
        config: Config,
        key: Arc<Key>,
        role: Role,
        ids: [u64; 2],
        address: SocketAddr,
        now: Time,
        entropy: Entropy,
    ) -> Association {
        Association {
            key,
            role,
            entropy,
            ids,
            path: Path::new(address),
            peer_key: None,
            greeting: None,
            keyring: None,
            pulse: Pulse::new(now, &config),
            is_established: false,
            owed: Owed::default(),
            farewell: None,
            is_ended: false,
            events: VecDeque::new(),
            plain: [0; MAX_DATAGRAM].into(),
            config,
        }
    }

    /// The id by which datagrams name this end.
    pub fn id(&self) -> u64 {
        self.ids[0]
    }

    /// Which end this is.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Where the other end is: the last address that it has proved, or the one that an initiator was given.
    pub fn peer(&self) -> SocketAddr {
        self.path.address()
    }

    /// The other end's public key, once it is known; none where both ends have a shared one.
    pub fn peer_key(&self) -> Option<PublicKey> {
        self.peer_key
    }

    /// Whether there is sealing.
    pub fn is_established(&self) -> bool {
        self.is_established && !self.is_ended && self.farewell.is_none()
    }

    /// Whether all is over, the last close included; it may be forgotten.
    pub fn is_over(&self) -> bool {
        self.is_ended && self.owed.close.is_none()
    }

    /// Takes a datagram that came from `from`, and opens what the layer above is to read into `out`, which must hold
    /// [`MAX_DATAGRAM`] bytes.
    ///
    /// # Errors
    /// The datagram was no good, is a repetition, or is not for this end. It is forgotten, the association goes on.
    pub fn handle_datagram<'a>(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        out: &'a mut [u8],
    ) -> Result<Option<&'a [u8]>, Error> {
        let datagram = Datagram::parse(bytes)?;
        if datagram.receiver() != Some(self.id()) || self.is_ended {
            return Err(Error::Unknown);
        }
        match datagram {
            Datagram::Sealed(sealed) => self.on_sealed(now, from, &sealed, out),
            Datagram::Cookie(cookie) => self.on_cookie(now, cookie.cookie).map(|()| None),
            Datagram::Answer(answer) => self.on_answer(now, answer.noise).map(|()| None),
            Datagram::Refusal(refusal) => self.on_refusal(refusal.version).map(|()| None),
            Datagram::Hello(_) | Datagram::Foreign { .. } | Datagram::Unknown(_) => Err(Error::Unknown),
        }
    }

    /// Seals what the layer above wrote into `buf`, which must be [`OVERHEAD`] longer. None while there is no sealing; when
    /// there is, [`Event::Established`] says so.
    ///
    /// # Panics
    /// `buf` is too short, or the plaintext longer than a datagram.
    pub fn seal(&mut self, now: Time, plaintext: &[u8], buf: &mut [u8]) -> Option<Transmit> {
        self.seal_written(now, buf, |room| {
            room[..plaintext.len()].copy_from_slice(plaintext);
            Some(plaintext.len())
        })
    }

    /// As [`Association::seal`], what `write` writes over the first bytes of its buffer and tells the length of, if anything.
    pub fn seal_written(
        &mut self,
        now: Time,
        buf: &mut [u8],
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Option<Transmit> {
        if !self.is_established() {
            return None;
        }
        let (kind, room) = self.plain.split_first_mut()?;
        *kind = Inner::DATA;
        let len = 1 + write(room)?;
        self.emit_plain(now, len, self.path.address(), buf)
    }

    /// The longest plaintext that makes a datagram of [`Config::datagram`] bytes.
    pub fn max_plaintext(&self) -> usize {
        self.config.datagram.min(MAX_DATAGRAM).saturating_sub(OVERHEAD)
    }

    /// Closes: the other end is told why, and [`Event::Ended`] follows when it has answered, or after a second.
    pub fn close(&mut self, now: Time, reason: Reason) {
        if self.is_ended || self.farewell.is_some() {
            return;
        }
        if self.is_established {
            self.farewell = Some(Farewell { reason, backoff: Backoff::new(now), until: now + FAREWELL });
        } else {
            self.end(Ending::Closed(reason));
        }
    }

    /// Tells the association that the time of [`Association::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.is_ended {
            return;
        }
        self.path.handle_timeout(now);
        if let Some(keyring) = &mut self.keyring {
            keyring.handle_timeout(now, &self.key, &mut self.entropy);
            if keyring.is_worn_out(now) {
                return self.end(Ending::WornOut);
            }
        }
        if let Some(farewell) = self.farewell.filter(|farewell| farewell.until <= now) {
            return self.end(Ending::Closed(farewell.reason));
        }
        if self.silent_at() <= now {
            self.end(match &self.greeting {
                Some(greeting) if greeting.is_heard() => Ending::Refused,
                Some(_) => Ending::NoAnswer,
                None => Ending::Silent,
            });
        }
    }

    /// Writes the next datagram of the association's own that is due into `buf`, which must hold [`MAX_DATAGRAM`] bytes.
    pub fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if let Some(greeting) = self.greeting.as_mut().filter(|_| !self.is_ended) {
            return greeting.poll(now, buf).map(|len| Transmit { to: self.path.address(), len });
        }
        if let Some(reason) = self.owed.close.take() {
            return self.emit(now, Inner::Close(reason.into()), self.path.address(), buf);
        }
        if self.is_ended || !self.is_established {
            return None;
        }
        self.poll_farewell(now, buf)
            .or_else(|| self.poll_path(now, buf))
            .or_else(|| self.poll_keys(now, buf))
            .or_else(|| self.poll_pulse(now, buf))
    }

    /// When the association next wants to be called, if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.is_ended {
            return None;
        }
        let greeting = self.greeting.as_ref().map(Greeting::next);
        let keyring = self.keyring.as_ref().map(Keyring::next);
        let farewell = self.farewell.map(|farewell| farewell.backoff.next().min(farewell.until));
        let pulse = self.is_established.then(|| self.pulse.next());
        let waits = [greeting, keyring, farewell, pulse, self.path.next(Association::CONTROL)];
        waits.into_iter().flatten().chain([self.silent_at()]).min()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// When the other end has been silent for too long.
    fn silent_at(&self) -> Time {
        match &self.greeting {
            Some(greeting) => greeting.since() + self.config.handshake,
            None if self.is_established => self.pulse.silent_at(&self.config),
            None => self.pulse.heard() + self.config.handshake,
        }
    }

    fn end(&mut self, ending: Ending) {
        self.is_ended = true;
        self.events.push_back(Event::Ended(ending));
    }
}
