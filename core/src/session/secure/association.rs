//! One association, the same type at both ends.

mod control;

use core::net::SocketAddr;
use std::collections::VecDeque;
use std::sync::Arc;

use super::address::Address;
use super::backoff::Backoff;
use super::client_handshake::ClientHandshake;
use super::entropy::Entropy;
use super::keepalive::Keepalive;
use super::key::{Key, KeyError, PublicKey};
use super::keyring::Keyring;
use super::noise::{Keys, Role};
use super::{Config, Ending, Event, OVERHEAD, Reason};
use crate::session::{MAX_DATAGRAM, Transmit};
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::secure::Datagram;
use crate::wire::secure::inner::Inner;

/// The time for which a close is repeated while the peer does not answer it. Ours: three transmissions ([`Backoff`]); a
/// peer that has none of them notices by its idle timeout. RFC 9000 §10.2 waits three probe timeouts.
const CLOSE_TIMEOUT: Span = Span::from_secs(1);

/// One end of a secure association. After every `handle_*`, drain every `poll_*`.
#[derive(Debug)]
pub struct Association {
    config: Config,
    key: Arc<Key>,
    role: Role,
    entropy: Entropy,
    /// The ids by which this end and the peer are addressed.
    ids: [u64; 2],
    address: Address,
    /// The public key that the peer has proved to own, where it has a key of its own.
    peer_key: Option<PublicKey>,
    handshake: Option<ClientHandshake>,
    keyring: Option<Keyring>,
    keepalive: Keepalive,
    is_established: bool,
    pending: PendingReplies,
    closing: Option<Closing>,
    is_ended: bool,
    events: VecDeque<Event>,
    /// The plaintext that is sealed next.
    plain: Box<[u8]>,
}

/// Answers that are still to be sent, at most one of a kind: several requests at once get one answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct PendingReplies {
    pong: bool,
    proof: Option<(SocketAddr, u64)>,
    close: Option<Reason>,
}

/// A close that this end has begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Closing {
    reason: Reason,
    backoff: Backoff,
    until: Time,
}

impl Association {
    /// The initiator's end, whose first hello to `to` is due at once.
    ///
    /// # Errors
    /// A static key does not have exactly one peer.
    pub fn initiate(
        config: Config,
        key: &Key,
        to: SocketAddr,
        now: Time,
        mut entropy: Entropy,
    ) -> Result<Association, KeyError> {
        key.check_initiator()?;
        let id = entropy.u64();
        let handshake = ClientHandshake::new(&config, key, id, now, &mut entropy);
        let key = Arc::new(key.clone());
        let mut initiator = Association::new(config, key, Role::Initiator, [id, 0], to, now, entropy);
        initiator.handshake = Some(handshake);
        Ok(initiator)
    }

    /// The responder's end, once the initiator's first message is read.
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
            address: Address::new(address),
            peer_key: None,
            handshake: None,
            keyring: None,
            keepalive: Keepalive::new(now, &config),
            is_established: false,
            pending: PendingReplies::default(),
            closing: None,
            is_ended: false,
            events: VecDeque::new(),
            plain: [0; MAX_DATAGRAM].into(),
            config,
        }
    }

    /// The id by which datagrams address this end.
    pub fn id(&self) -> u64 {
        self.ids[0]
    }

    /// The role of this end.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The peer's address: the last one that it has proved, or the one that the initiator was given.
    pub fn peer(&self) -> SocketAddr {
        self.address.at()
    }

    /// The peer's public key, once it is known; none where both ends have a shared key.
    pub fn peer_key(&self) -> Option<PublicKey> {
        self.peer_key
    }

    /// True if datagrams can be sealed.
    pub fn is_established(&self) -> bool {
        self.is_established && !self.is_ended && self.closing.is_none()
    }

    /// True if all is over, the last close included; the association may be dropped.
    pub fn is_over(&self) -> bool {
        self.is_ended && self.pending.close.is_none()
    }

    /// Takes a datagram received from `from`, and opens data for the layer above into `out`, which must hold
    /// [`MAX_DATAGRAM`] bytes.
    ///
    /// # Errors
    /// The datagram is invalid, is a repetition, or is not for this end. It is discarded, and the association
    /// continues.
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

    /// Seals a plaintext of the layer above into `buf`, which must be [`OVERHEAD`] longer. None before
    /// [`Event::Established`], and once the association is closing or over.
    ///
    /// # Panics
    /// `buf` is too short, or the plaintext is longer than a datagram.
    pub fn seal(&mut self, now: Time, plaintext: &[u8], buf: &mut [u8]) -> Option<Transmit> {
        self.seal_written(now, buf, |space| {
            space[..plaintext.len()].copy_from_slice(plaintext);
            Some(plaintext.len())
        })
    }

    /// As [`Association::seal`], with a plaintext that `write` writes to the start of its buffer. `write` returns the
    /// length of the plaintext, if there is one.
    pub fn seal_written(
        &mut self,
        now: Time,
        buf: &mut [u8],
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Option<Transmit> {
        if !self.is_established() {
            return None;
        }
        let (kind, space) = self.plain.split_first_mut()?;
        *kind = Inner::DATA;
        let len = 1 + write(space)?;
        self.emit_plain(now, len, self.address.at(), buf)
    }

    /// The longest plaintext that makes a datagram of [`Config::datagram`] bytes.
    pub fn max_plaintext(&self) -> usize {
        self.config.datagram.min(MAX_DATAGRAM).saturating_sub(OVERHEAD)
    }

    /// Closes: the peer is sent the reason, and [`Event::Ended`] follows when it has answered, or after a second.
    pub fn close(&mut self, now: Time, reason: Reason) {
        if self.is_ended || self.closing.is_some() {
            return;
        }
        if self.is_established {
            self.closing = Some(Closing { reason, backoff: Backoff::new(now), until: now + CLOSE_TIMEOUT });
        } else {
            self.end(Ending::Closed(reason));
        }
    }

    /// Notifies the association that the time of [`Association::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.is_ended {
            return;
        }
        self.address.handle_timeout(now);
        if let Some(keyring) = &mut self.keyring {
            keyring.handle_timeout(now, &self.key, &mut self.entropy);
            if keyring.is_worn_out(now) {
                return self.end(Ending::WornOut);
            }
        }
        if let Some(closing) = self.closing.filter(|closing| closing.until <= now) {
            return self.end(Ending::Closed(closing.reason));
        }
        if self.silent_at() <= now {
            self.end(match &self.handshake {
                Some(handshake) if handshake.is_answered() => Ending::Refused,
                Some(_) => Ending::NoAnswer,
                None => Ending::Silent,
            });
        }
    }

    /// Writes the next control datagram that is due into `buf`, which must hold [`MAX_DATAGRAM`] bytes.
    pub fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if let Some(handshake) = self.handshake.as_mut().filter(|_| !self.is_ended) {
            return handshake.poll(now, buf).map(|len| Transmit { to: self.address.at(), len });
        }
        if let Some(reason) = self.pending.close.take() {
            return self.emit(now, Inner::Close(reason.into()), self.address.at(), buf);
        }
        if self.is_ended || !self.is_established {
            return None;
        }
        self.poll_close(now, buf)
            .or_else(|| self.poll_path(now, buf))
            .or_else(|| self.poll_keys(now, buf))
            .or_else(|| self.poll_keepalive(now, buf))
    }

    /// The time at which [`Association::handle_timeout`] is due, if nothing happens before.
    pub fn poll_timeout(&self) -> Option<Time> {
        if self.is_ended {
            return None;
        }
        let handshake = self.handshake.as_ref().map(ClientHandshake::next);
        let keyring = self.keyring.as_ref().map(Keyring::next);
        let closing = self.closing.map(|closing| closing.backoff.next().min(closing.until));
        let keepalive = self.is_established.then(|| self.keepalive.next());
        let waits = [handshake, keyring, closing, keepalive, self.address.next(Association::CONTROL)];
        waits.into_iter().flatten().chain([self.silent_at()]).min()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The time at which the peer counts as gone unless it is heard before.
    fn silent_at(&self) -> Time {
        match &self.handshake {
            Some(handshake) => handshake.since() + self.config.handshake,
            None if self.is_established => self.keepalive.silent_at(&self.config),
            None => self.keepalive.heard() + self.config.handshake,
        }
    }

    fn end(&mut self, ending: Ending) {
        self.is_ended = true;
        self.events.push_back(Event::Ended(ending));
    }
}
