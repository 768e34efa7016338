//! What a server has beside its links: the door, and associations that have not said yet which stream they carry.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use super::Config;
use super::carrier::Carrier;
use crate::session::secure::{Door, Entropy, Key, KeyError, Reason};
use crate::session::{MAX_DATAGRAM, Transmit};
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::tunnel::{Message, Shape};

/// So many answers of the door may wait; what comes then is not answered.
const MAX_REPLIES: usize = 64;

#[derive(Debug)]
pub(super) struct Server {
    door: Door,
    lobby: BTreeMap<u64, Guest>,
    /// How many guests there may be.
    limit: usize,
    /// How long one may stay.
    patience: Span,
    replies: VecDeque<(SocketAddr, Vec<u8>)>,
    is_stopping: bool,
}

#[derive(Debug)]
struct Guest {
    carrier: Carrier,
    until: Time,
}

/// An association that is to carry a stream.
#[derive(Debug)]
pub(super) struct Attaching {
    pub(super) carrier: Carrier,
    pub(super) stream: u128,
    pub(super) shape: Shape,
    pub(super) begins: bool,
}

impl Server {
    pub(super) fn new(config: &Config, key: &Key, entropy: Entropy) -> Result<Server, KeyError> {
        Ok(Server {
            door: Door::new(config.secure, key, entropy)?,
            lobby: BTreeMap::new(),
            limit: 2 * config.links + 64,
            patience: config.secure.handshake,
            replies: VecDeque::new(),
            is_stopping: false,
        })
    }

    /// Takes a datagram that is for no link: a guest's, or a stranger's.
    pub(super) fn handle_datagram(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        receiver: Option<u64>,
    ) -> Result<Option<Attaching>, Error> {
        let Some((id, guest)) = receiver.and_then(|id| Some((id, self.lobby.get_mut(&id)?))) else {
            return self.on_stranger(now, from, bytes).map(|()| None);
        };
        let mut out = [0; MAX_DATAGRAM];
        let opened = guest.carrier.open(now, from, bytes, &mut out);
        while guest.carrier.poll_event().is_some() {}
        let Some(plain) = opened? else { return Ok(None) };
        let Message::Attach { stream, shape, begins } = Message::parse(plain)? else { return Err(Error::Malformed) };
        let guest = self.lobby.remove(&id).ok_or(Error::Unknown)?;
        Ok(Some(Attaching { carrier: guest.carrier, stream, shape, begins }))
    }

    /// Says that there is no such stream; the client may ask for another.
    pub(super) fn refuse(&mut self, now: Time, mut attaching: Attaching) {
        attaching.carrier.owe(Message::Unknown { stream: attaching.stream });
        self.seat(now, attaching.carrier);
    }

    /// Says why it has to go.
    pub(super) fn turn_away(&mut self, now: Time, mut attaching: Attaching, reason: Reason) {
        attaching.carrier.close(now, reason);
        self.seat(now, attaching.carrier);
    }

    pub(super) fn shutdown(&mut self, now: Time) {
        self.is_stopping = true;
        self.lobby.values_mut().for_each(|guest| guest.carrier.close(now, Reason::Stopped));
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        for guest in self.lobby.values_mut() {
            guest.carrier.handle_timeout(now);
            if guest.until <= now {
                guest.carrier.close(now, Reason::Protocol);
                guest.until = Time::NEVER;
            }
            while guest.carrier.poll_event().is_some() {}
        }
        self.lobby.retain(|_, guest| !guest.carrier.is_over());
    }

    pub(super) fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if let Some((to, reply)) = self.replies.pop_front() {
            buf[..reply.len()].copy_from_slice(&reply);
            return Some(Transmit { to, len: reply.len() });
        }
        let transmit = self.lobby.values_mut().find_map(|guest| guest.carrier.poll_transmit(now, buf));
        self.lobby.retain(|_, guest| !guest.carrier.is_over());
        transmit
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.lobby.values().flat_map(|guest| [guest.carrier.poll_timeout(), Some(guest.until)]).flatten().min()
    }

    /// Hellos of another version, or with another key.
    pub(super) fn rejected(&self) -> u64 {
        self.door.rejected()
    }

    /// Whether nobody is in the lobby.
    pub(super) fn is_empty(&self) -> bool {
        self.lobby.is_empty()
    }

    fn on_stranger(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), Error> {
        if self.replies.len() >= MAX_REPLIES || self.lobby.len() >= self.limit || self.is_stopping {
            return Err(Error::Unknown);
        }
        let mut buf = [0; MAX_DATAGRAM];
        let reply = self.door.handle_datagram(now, from, bytes, &mut buf)?;
        self.replies.push_back((reply.transmit.to, buf[..reply.transmit.len].to_vec()));
        if let Some(association) = reply.association {
            self.seat(now, Carrier::listening(association));
        }
        Ok(())
    }

    fn seat(&mut self, now: Time, carrier: Carrier) {
        let until = now + self.patience;
        self.lobby.insert(carrier.association().id(), Guest { carrier, until });
    }
}
