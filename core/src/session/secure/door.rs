//! The responder's door: no state for strangers, an association for whoever has the key.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::Config;
use super::association::Association;
use super::cookies::{self, Cookies};
use super::entropy::Entropy;
use super::key::{Key, KeyError};
use super::noise::{self, hello_prologue};
use crate::session::Transmit;
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::secure::handshake::{Answer, Cookie, Hello, Refusal, Unknown};
use crate::wire::secure::{Datagram, VERSION};

/// How many keys are checked a second at most, so that a flood of hellos with good cookies leaves time for those inside.
const CHECKS: u64 = 1000;

/// How many a second are told that they are not known.
const DENIALS: u64 = 100;

/// How many initiators are let in within the life of a cookie.
const GUESTS: usize = 4096;

/// Answers hellos.
#[derive(Debug)]
pub struct Door {
    config: Config,
    key: Arc<Key>,
    cookies: Cookies,
    entropy: Entropy,
    /// Who was let in, by the id of the hello, and the second Noise message: a hello that is repeated, or replayed, gets
    /// the same answer and no other association.
    guests: BTreeMap<u64, Vec<u8>>,
    /// When each is forgotten: when no cookie of its hello is good any more.
    leaving: VecDeque<(Time, u64)>,
    checks: Allowance,
    denials: Allowance,
    rejected: u64,
}

/// What a door does with a datagram.
#[derive(Debug)]
pub struct Reply {
    /// What to send back; never longer than what came.
    pub transmit: Transmit,
    /// The association of an initiator that has the key. It says [`super::Event::Established`] when the first sealed
    /// datagram has come; without one it ends by itself.
    pub association: Option<Association>,
}

impl Door {
    /// A door that opens to `key`.
    ///
    /// # Errors
    /// The key lets nobody in.
    pub fn new(config: Config, key: &Key, mut entropy: Entropy) -> Result<Door, KeyError> {
        key.check_responder()?;
        Ok(Door {
            config,
            key: Arc::new(key.clone()),
            cookies: Cookies::new(&mut entropy),
            entropy,
            guests: BTreeMap::new(),
            leaving: VecDeque::new(),
            checks: Allowance::default(),
            denials: Allowance::default(),
            rejected: 0,
        })
    }

    /// Takes a datagram that is for no association, and writes what to send back into `buf`.
    ///
    /// # Errors
    /// The datagram is neither hello nor sealed, or has another key, or too many came; nothing is sent back.
    pub fn handle_datagram(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        buf: &mut [u8],
    ) -> Result<Reply, Error> {
        let reply = |len| Reply { transmit: Transmit { to: from, len }, association: None };
        match Datagram::parse(bytes)? {
            Datagram::Foreign { id, .. } => {
                self.rejected += 1;
                Ok(reply(Refusal { version: VERSION, id }.emit(buf)))
            }
            Datagram::Hello(hello) if self.cookies.is_good(now, from, hello.id, hello.cookie) => {
                self.forget(now);
                match self.guests.get(&hello.id) {
                    Some(noise) => Ok(reply(Answer { id: hello.id, noise }.emit(buf))),
                    None => self.admit(now, from, &hello, buf),
                }
            }
            Datagram::Hello(Hello { id, .. }) => {
                let cookie = self.cookies.of(now, from, id);
                Ok(reply(Cookie { id, cookie }.emit(buf)))
            }
            Datagram::Sealed(sealed) if self.denials.take(now, DENIALS) => {
                Ok(reply(Unknown { id: sealed.id }.emit(buf)))
            }
            _ => Err(Error::Unknown),
        }
    }

    /// How many initiators the door remembers.
    pub fn guests(&self) -> usize {
        self.guests.len()
    }

    /// Hellos that let nobody in: of another version, or with another key. An initiator repeats its own.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Lets in whoever has the key.
    fn admit(&mut self, now: Time, from: SocketAddr, hello: &Hello<'_>, buf: &mut [u8]) -> Result<Reply, Error> {
        if !self.checks.take(now, CHECKS) || self.guests.len() >= GUESTS {
            return Err(Error::Unknown);
        }
        let id = self.entropy.u64();
        let (prologue, payload) = (hello_prologue(hello.id), id.to_be_bytes());
        let response = noise::respond(&self.key, &prologue, hello.noise, &payload, &mut self.entropy);
        let (keys, noise) = response.inspect_err(|_| self.rejected += 1)?;
        let len = Answer { id: hello.id, noise: &noise }.emit(buf);
        self.guests.insert(hello.id, noise);
        self.leaving.push_back((now + cookies::LIFE, hello.id));
        let entropy = self.entropy.fork();
        let association = Association::admit(self.config, self.key.clone(), [id, hello.id], from, keys, now, entropy);
        Ok(Reply { transmit: Transmit { to: from, len }, association: Some(association) })
    }

    fn forget(&mut self, now: Time) {
        while let Some((_, id)) = self.leaving.front().filter(|(until, _)| *until <= now) {
            self.guests.remove(id);
            self.leaving.pop_front();
        }
    }
}

/// So much a second, and no more than a second's worth at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Allowance {
    /// When what was taken will have been allowed.
    free_at: Time,
}

impl Allowance {
    fn take(&mut self, now: Time, rate: u64) -> bool {
        let one = Span::from_secs(1) / rate;
        let begin = self.free_at.max(now);
        let is_allowed = begin + one <= now + Span::from_secs(1);
        if is_allowed {
            self.free_at = begin + one;
        }
        is_allowed
    }
}
