//! The keys in use, the keys before for late datagrams, the keys to come, and the handshake by which an initiator gets
//! new ones.
//!
//! The handshake for new keys runs inside the old ones and is bound to the handshake before. The responder has its new
//! keys first, and takes them into use with the first datagram that is sealed with them. The initiator keeps pinging
//! until an answer under the new keys arrives.

use super::Limits;
use super::backoff::Backoff;
use super::entropy::Entropy;
use super::epoch::Epoch;
use super::key::Key;
use super::noise::{self, Handshake, Keys, Role, rekey_prologue};
use crate::time::Time;
use crate::wire::Error;
use crate::wire::secure::inner::Inner;
use crate::wire::secure::sealed::Sealed;

/// A datagram that was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Opened {
    pub(super) len: usize,
    /// True if its nonce is the highest so far under the current keys.
    pub(super) is_newest: bool,
    /// True if it is the first under its keys.
    pub(super) is_first: bool,
}

/// A handshake for new keys that the initiator has begun.
#[derive(Debug)]
struct Request {
    handshake: Handshake,
    message: Vec<u8>,
    backoff: Backoff,
}

/// New keys that the responder has made, and its answer.
#[derive(Debug)]
struct Offer {
    epoch: Epoch,
    message: Vec<u8>,
    is_due: bool,
}

/// All keys of an association.
#[derive(Debug)]
pub(super) struct Keyring {
    role: Role,
    limits: Limits,
    current: Epoch,
    /// True if the peer is known to have them.
    is_confirmed: bool,
    /// The keys before, and the time until which they open late datagrams; without limit while the current ones are not
    /// confirmed.
    previous: Option<(Epoch, Option<Time>)>,
    request: Option<Request>,
    offer: Option<Offer>,
}

impl Keyring {
    pub(super) fn new(role: Role, limits: Limits, keys: Keys, now: Time) -> Keyring {
        let current = Epoch::new(0, keys, now);
        Keyring { role, limits, current, is_confirmed: false, previous: None, request: None, offer: None }
    }

    /// True if the peer is known to have the current keys.
    pub(super) fn is_confirmed(&self) -> bool {
        self.is_confirmed
    }

    /// True if the current keys must not seal any more.
    pub(super) fn is_worn_out(&self, now: Time) -> bool {
        self.current.worn_out_at(&self.limits) <= now
    }

    /// Seals for `id`; the keys must not be worn out.
    pub(super) fn seal(&mut self, id: u64, plain: &[u8], buf: &mut [u8]) -> usize {
        self.current.seal(id, plain, buf)
    }

    /// Opens with the keys that the datagram names.
    pub(super) fn open(&mut self, now: Time, sealed: &Sealed<'_>, out: &mut [u8]) -> Result<Opened, Error> {
        let names = |epoch: &Epoch| epoch.number as u8 == sealed.epoch;
        if names(&self.current) {
            let (len, is_newest) = self.current.open(sealed, out)?;
            let is_first = !self.is_confirmed;
            self.confirm(now);
            return Ok(Opened { len, is_newest, is_first });
        }
        if let Some(offer) = self.offer.as_mut().filter(|offer| names(&offer.epoch)) {
            let (len, is_newest) = offer.epoch.open(sealed, out)?;
            self.take_offer();
            self.confirm(now);
            return Ok(Opened { len, is_newest, is_first: true });
        }
        let (epoch, _) = self.previous.as_mut().filter(|(epoch, _)| names(epoch)).ok_or(Error::Unknown)?;
        let (len, _) = epoch.open(sealed, out)?;
        Ok(Opened { len, is_newest: false, is_first: false })
    }

    /// Forgets old keys, and begins a request for new ones when they are due.
    pub(super) fn handle_timeout(&mut self, now: Time, key: &Key, entropy: &mut Entropy) {
        if self.forget_at().is_some_and(|at| at <= now) {
            self.previous = None;
        }
        if self.wants_request() && self.current.old_at(&self.limits) <= now {
            let prologue = rekey_prologue(self.current.number.wrapping_add(1), self.current.keys.hash());
            let (handshake, message) = Handshake::begin(key, &prologue, &[], entropy);
            self.request = Some(Request { handshake, message, backoff: Backoff::new(now) });
        }
    }

    /// The message about new keys that is due.
    pub(super) fn poll(&mut self, now: Time) -> Option<Inner<'_>> {
        let epoch = self.current.number.wrapping_add(1);
        if let Some(request) = self.request.as_mut().filter(|request| request.backoff.next() <= now) {
            request.backoff.fire(now);
            return Some(Inner::Rekey { epoch, noise: &request.message });
        }
        let offer = self.offer.as_mut().filter(|offer| offer.is_due)?;
        offer.is_due = false;
        Some(Inner::Rekeyed { epoch, noise: &offer.message })
    }

    /// Answers a request for new keys; a repeated request gets the same answer.
    pub(super) fn on_rekey(
        &mut self,
        now: Time,
        (number, noise): (u32, &[u8]),
        key: &Key,
        entropy: &mut Entropy,
    ) -> Result<(), Error> {
        if self.role == Role::Initiator {
            return Err(Error::Unknown);
        }
        if number != self.current.number.wrapping_add(1) {
            // A late repetition of a request that is done with.
            return Err(Error::Repeated);
        }
        if let Some(offer) = &mut self.offer {
            offer.is_due = true;
            return Ok(());
        }
        let prologue = rekey_prologue(number, self.current.keys.hash());
        let (keys, message) = noise::respond(key, &prologue, noise, &[], entropy)?;
        self.offer = Some(Offer { epoch: Epoch::new(number, keys, now), message, is_due: true });
        Ok(())
    }

    /// Takes the answer to a request for new keys, and takes the new keys into use.
    pub(super) fn on_rekeyed(&mut self, now: Time, number: u32, noise: &[u8]) -> Result<(), Error> {
        let request = self.request.as_mut().ok_or(Error::Repeated)?;
        if number != self.current.number.wrapping_add(1) {
            return Err(Error::Repeated);
        }
        request.handshake.read(noise)?;
        let keys = self.request.take().ok_or(Error::Repeated)?.handshake.into_keys();
        self.succeed(Epoch::new(number, keys, now));
        Ok(())
    }

    /// The number of key changes so far.
    pub(super) fn epoch(&self) -> u32 {
        self.current.number
    }

    pub(super) fn next(&self) -> Time {
        let old = self.wants_request().then(|| self.current.old_at(&self.limits));
        let request = self.request.as_ref().map(|request| request.backoff.next());
        let worn_out = self.current.worn_out_at(&self.limits);
        [old, request, self.forget_at()].into_iter().flatten().fold(worn_out, Time::min)
    }

    fn wants_request(&self) -> bool {
        self.role == Role::Initiator && self.request.is_none() && self.is_confirmed
    }

    fn forget_at(&self) -> Option<Time> {
        self.previous.as_ref().and_then(|(_, until)| *until)
    }

    fn confirm(&mut self, now: Time) {
        if !self.is_confirmed {
            self.is_confirmed = true;
            if let Some((_, until)) = &mut self.previous {
                *until = Some(now + self.limits.grace);
            }
        }
    }

    fn take_offer(&mut self) {
        if let Some(offer) = self.offer.take() {
            self.succeed(offer.epoch);
        }
    }

    /// Takes new keys into use.
    fn succeed(&mut self, epoch: Epoch) {
        let before = core::mem::replace(&mut self.current, epoch);
        self.previous = Some((before, None));
        self.is_confirmed = false;
    }
}
