//! Makes the links and associations of a client.

use core::net::SocketAddr;

use super::carrier::Carrier;
use super::link::Link;
use super::{Config, agreement};
use crate::session::secure::{Association, Entropy, Key, KeyError, Role};
use crate::time::Time;
use crate::wire::tunnel::Message;

#[derive(Debug)]
pub(super) struct Client {
    key: Key,
    to: SocketAddr,
    entropy: Entropy,
    /// True if any link was ever up.
    pub(super) was_up: bool,
}

impl Client {
    pub(super) fn new(key: &Key, to: SocketAddr, entropy: Entropy) -> Client {
        Client { key: key.clone(), to, entropy, was_up: false }
    }

    /// Makes a new link and starts its handshake.
    pub(super) fn begin(&mut self, config: &Config, number: u64, now: Time) -> Result<Link, KeyError> {
        let (stream, shape) = (u128::from_be_bytes(self.entropy.bytes()), agreement::shape(config));
        let message = Message::Attach { stream, shape, begins: true };
        let carrier = Carrier::asking(self.initiate(config, now)?, message, now);
        Ok(Link::new(config, Role::Initiator, number, stream, carrier))
    }

    /// Makes another association for a link that has lost its own.
    pub(super) fn call(&mut self, config: &Config, link: &mut Link, now: Time) {
        let (stream, shape) = (link.name(), agreement::shape(config));
        let message = Message::Attach { stream, shape, begins: false };
        if let Ok(association) = self.initiate(config, now) {
            link.carry(Carrier::asking(association, message, now));
        }
    }

    fn initiate(&mut self, config: &Config, now: Time) -> Result<Association, KeyError> {
        Association::initiate(config.secure, &self.key, self.to, now, self.entropy.fork())
    }
}
