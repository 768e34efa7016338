//! The client handshake of an initiator: hello, hello again with the cookie, answer.

use super::Config;
use super::backoff::Backoff;
use super::entropy::Entropy;
use super::key::Key;
use super::noise::{Handshake, Keys, first_overhead, hello_prologue};
use crate::session::MAX_DATAGRAM;
use crate::time::Time;
use crate::wire::Error;
use crate::wire::secure::handshake::Hello;

/// A first handshake that has begun.
#[derive(Debug)]
pub(super) struct ClientHandshake {
    id: u64,
    handshake: Handshake,
    message: Vec<u8>,
    cookie: u64,
    /// True if a new cookie may make the next hello due at once: once for each hello that was sent.
    may_retry: bool,
    backoff: Backoff,
    since: Time,
}

impl ClientHandshake {
    pub(super) fn new(config: &Config, key: &Key, id: u64, now: Time, entropy: &mut Entropy) -> ClientHandshake {
        let len = config.datagram.clamp(Hello::MIN, MAX_DATAGRAM);
        let padding = [0; MAX_DATAGRAM];
        let padding = &padding[..len - Hello::HEADER - first_overhead(key)];
        let (handshake, message) = Handshake::begin(key, &hello_prologue(id), padding, entropy);
        ClientHandshake { id, handshake, message, cookie: 0, may_retry: true, backoff: Backoff::new(now), since: now }
    }

    /// True if a responder has answered with a cookie.
    pub(super) fn is_answered(&self) -> bool {
        self.cookie != 0
    }

    pub(super) fn since(&self) -> Time {
        self.since
    }

    pub(super) fn on_cookie(&mut self, now: Time, cookie: u64) {
        if cookie != self.cookie {
            self.cookie = cookie;
            if core::mem::take(&mut self.may_retry) {
                self.backoff = Backoff::new(now);
            }
        }
    }

    /// Reads the answer, and returns the id by which the responder wants to be addressed.
    pub(super) fn on_answer(&mut self, noise: &[u8]) -> Result<u64, Error> {
        let payload = self.handshake.read(noise)?;
        payload.first_chunk().map(|id| u64::from_be_bytes(*id)).ok_or(Error::Truncated)
    }

    pub(super) fn into_keys(self) -> Keys {
        self.handshake.into_keys()
    }

    /// Writes the hello if it is due.
    pub(super) fn poll(&mut self, now: Time, buf: &mut [u8]) -> Option<usize> {
        self.backoff.fire(now).then(|| {
            self.may_retry = true;
            Hello { id: self.id, cookie: self.cookie, noise: &self.message }.emit(buf)
        })
    }

    pub(super) fn next(&self) -> Time {
        self.backoff.next()
    }
}
