//! How an initiator gets in: hello, hello again with the cookie, answer.

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
pub(super) struct Greeting {
    id: u64,
    handshake: Handshake,
    message: Vec<u8>,
    cookie: u64,
    /// Whether a new cookie may bring the next hello forward: once for each that was sent.
    is_patient: bool,
    backoff: Backoff,
    since: Time,
}

impl Greeting {
    pub(super) fn new(config: &Config, key: &Key, id: u64, now: Time, entropy: &mut Entropy) -> Greeting {
        let len = config.datagram.clamp(Hello::MIN, MAX_DATAGRAM);
        let padding = [0; MAX_DATAGRAM];
        let padding = &padding[..len - Hello::HEADER - first_overhead(key)];
        let (handshake, message) = Handshake::begin(key, &hello_prologue(id), padding, entropy);
        Greeting { id, handshake, message, cookie: 0, is_patient: true, backoff: Backoff::new(now), since: now }
    }

    /// Whether anybody has answered at all.
    pub(super) fn is_heard(&self) -> bool {
        self.cookie != 0
    }

    pub(super) fn since(&self) -> Time {
        self.since
    }

    pub(super) fn on_cookie(&mut self, now: Time, cookie: u64) {
        if cookie != self.cookie {
            self.cookie = cookie;
            if core::mem::take(&mut self.is_patient) {
                self.backoff = Backoff::new(now);
            }
        }
    }

    /// Reads the answer: the id that the responder wants to be addressed by.
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
            self.is_patient = true;
            Hello { id: self.id, cookie: self.cookie, noise: &self.message }.emit(buf)
        })
    }

    pub(super) fn next(&self) -> Time {
        self.backoff.next()
    }
}
