//! The responder's acceptor: no state for unknown clients, an association for each that has the key.

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

/// The most keys checked a second, so that a flood of hellos with valid cookies leaves time for existing associations.
/// Ours: fewer let a flood displace clients sooner (docs/security.md computes how often), more take more of a
/// processor: one or two multiplications on the curve each with static keys.
const CHECKS: u64 = 1000;

/// The most answers a second that an association is unknown. Ours: the answer is shorter than its cause, so the bound
/// only limits work; a client whose answer is suppressed is pinged anyway and repeats.
const DENIALS: u64 = 100;

/// The most initiators accepted within the lifetime of a cookie. Ours: 204 new ones a second for 20 s; more take more
/// memory, fewer let repeated handshakes keep others out.
const MOST_CLIENTS: usize = 4096;

/// The acceptor of associations: answers hellos.
#[derive(Debug)]
pub struct Acceptor {
    config: Config,
    key: Arc<Key>,
    cookies: Cookies,
    entropy: Entropy,
    /// The second Noise message for each accepted initiator, by the id of its hello: a hello that is repeated, or
    /// replayed, gets the same answer and no other association.
    accepted_clients: BTreeMap<u64, Vec<u8>>,
    /// The times at which these are forgotten: when no cookie of the hello is valid any more.
    leaving: VecDeque<(Time, u64)>,
    checks: Allowance,
    denials: Allowance,
    rejected: u64,
}

/// The acceptor's result for one datagram.
#[derive(Debug)]
pub struct Reply {
    /// The datagram to send back; never longer than the one received.
    pub transmit: Transmit,
    /// The association of an initiator that has the key. It reports [`super::Event::Established`] when the first sealed
    /// datagram has arrived; without one it ends by itself.
    pub association: Option<Association>,
}

impl Acceptor {
    /// An acceptor of clients that have `key`.
    ///
    /// # Errors
    /// A static key has no peer.
    pub fn new(config: Config, key: &Key, mut entropy: Entropy) -> Result<Acceptor, KeyError> {
        key.check_responder()?;
        Ok(Acceptor {
            config,
            key: Arc::new(key.clone()),
            cookies: Cookies::new(&mut entropy),
            entropy,
            accepted_clients: BTreeMap::new(),
            leaving: VecDeque::new(),
            checks: Allowance::default(),
            denials: Allowance::default(),
            rejected: 0,
        })
    }

    /// Takes a datagram that is for no association, and writes the one to send back into `buf`.
    ///
    /// # Errors
    /// The datagram is neither a hello nor sealed, or has another key, or too many arrived; nothing is sent back.
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
                match self.accepted_clients.get(&hello.id) {
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

    /// The number of initiators that the acceptor remembers.
    pub fn accepted_clients(&self) -> usize {
        self.accepted_clients.len()
    }

    /// Rejected hellos: of another version, or with another key. An initiator repeats its own.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    /// Accepts an initiator that proves possession of the key.
    fn admit(&mut self, now: Time, from: SocketAddr, hello: &Hello<'_>, buf: &mut [u8]) -> Result<Reply, Error> {
        if !self.checks.take(now, CHECKS) || self.accepted_clients.len() >= MOST_CLIENTS {
            return Err(Error::Unknown);
        }
        let id = self.entropy.u64();
        let (prologue, payload) = (hello_prologue(hello.id), id.to_be_bytes());
        let response = noise::respond(&self.key, &prologue, hello.noise, &payload, &mut self.entropy);
        let (keys, noise) = response.inspect_err(|_| self.rejected += 1)?;
        let len = Answer { id: hello.id, noise: &noise }.emit(buf);
        self.accepted_clients.insert(hello.id, noise);
        self.leaving.push_back((now + cookies::LIFE, hello.id));
        let entropy = self.entropy.fork();
        let association = Association::admit(self.config, self.key.clone(), [id, hello.id], from, keys, now, entropy);
        Ok(Reply { transmit: Transmit { to: from, len }, association: Some(association) })
    }

    fn forget(&mut self, now: Time) {
        while let Some((_, id)) = self.leaving.front().filter(|(until, _)| *until <= now) {
            self.accepted_clients.remove(id);
            self.leaving.pop_front();
        }
    }
}

/// A rate limit: so much a second, and no more than a second's worth at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Allowance {
    /// The time at which the rate will have allowed everything taken.
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
