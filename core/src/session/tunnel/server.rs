//! The server besides its links: the acceptor, and a lobby of associations that have not yet named their stream.

use core::net::SocketAddr;
use std::collections::{BTreeMap, VecDeque};

use super::Config;
use super::carrier::Carrier;
use crate::session::secure::{Acceptor, Entropy, Key, KeyError, Reason};
use crate::session::{MAX_DATAGRAM, Transmit};
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::tunnel::{Message, Shape};

/// The number of replies of the acceptor that may wait; datagrams beyond it are not answered. Ours: a dropped client
/// handshake is repeated after 250 ms, so a short queue costs only time; a longer one holds more memory for unknown
/// peers.
const MAX_REPLIES: usize = 64;

#[derive(Debug)]
pub(super) struct Server {
    acceptor: Acceptor,
    half_open: BTreeMap<u64, HalfOpen>,
    /// The maximum number of clients in the lobby.
    limit: usize,
    /// The longest time that a client stays in the lobby without asking for a stream.
    timeout: Span,
    replies: VecDeque<(SocketAddr, Vec<u8>)>,
    is_stopping: bool,
}

#[derive(Debug)]
struct HalfOpen {
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
            acceptor: Acceptor::new(config.secure, key, entropy)?,
            half_open: BTreeMap::new(),
            limit: 2 * config.links + 64,
            timeout: config.secure.handshake,
            replies: VecDeque::new(),
            is_stopping: false,
        })
    }

    /// Takes a datagram that is for no link: from a client in the lobby, or from an unknown peer.
    pub(super) fn handle_datagram(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        receiver: Option<u64>,
    ) -> Result<Option<Attaching>, Error> {
        let Some((id, entry)) = receiver.and_then(|id| Some((id, self.half_open.get_mut(&id)?))) else {
            return self.on_unknown_peer(now, from, bytes).map(|()| None);
        };
        let mut out = [0; MAX_DATAGRAM];
        let opened = entry.carrier.open(now, from, bytes, &mut out);
        while entry.carrier.poll_event().is_some() {}
        let Some(plain) = opened? else { return Ok(None) };
        let Message::Attach { stream, shape, begins } = Message::parse(plain)? else { return Err(Error::Malformed) };
        let entry = self.half_open.remove(&id).ok_or(Error::Unknown)?;
        Ok(Some(Attaching { carrier: entry.carrier, stream, shape, begins }))
    }

    /// Answers that there is no such stream; the client may ask for another.
    pub(super) fn refuse(&mut self, now: Time, mut attaching: Attaching) {
        attaching.carrier.queue_message(Message::Unknown { stream: attaching.stream });
        self.insert(now, attaching.carrier);
    }

    /// Closes an association with `reason`.
    pub(super) fn reject(&mut self, now: Time, mut attaching: Attaching, reason: Reason) {
        attaching.carrier.close(now, reason);
        self.insert(now, attaching.carrier);
    }

    pub(super) fn shutdown(&mut self, now: Time) {
        self.is_stopping = true;
        self.half_open.values_mut().for_each(|entry| entry.carrier.close(now, Reason::Stopped));
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        for entry in self.half_open.values_mut() {
            entry.carrier.handle_timeout(now);
            if entry.until <= now {
                entry.carrier.close(now, Reason::Protocol);
                entry.until = Time::NEVER;
            }
            while entry.carrier.poll_event().is_some() {}
        }
        self.half_open.retain(|_, entry| !entry.carrier.is_over());
    }

    pub(super) fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if let Some((to, reply)) = self.replies.pop_front() {
            buf[..reply.len()].copy_from_slice(&reply);
            return Some(Transmit { to, len: reply.len() });
        }
        let transmit = self.half_open.values_mut().find_map(|entry| entry.carrier.poll_transmit(now, buf));
        self.half_open.retain(|_, entry| !entry.carrier.is_over());
        transmit
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        self.half_open.values().flat_map(|entry| [entry.carrier.poll_timeout(), Some(entry.until)]).flatten().min()
    }

    /// The number of client handshakes of another version, or with another key.
    pub(super) fn rejected(&self) -> u64 {
        self.acceptor.rejected()
    }

    /// True if the lobby is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.half_open.is_empty()
    }

    fn on_unknown_peer(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), Error> {
        if self.replies.len() >= MAX_REPLIES || self.half_open.len() >= self.limit || self.is_stopping {
            return Err(Error::Unknown);
        }
        let mut buf = [0; MAX_DATAGRAM];
        let reply = self.acceptor.handle_datagram(now, from, bytes, &mut buf)?;
        self.replies.push_back((reply.transmit.to, buf[..reply.transmit.len].to_vec()));
        if let Some(association) = reply.association {
            self.insert(now, Carrier::listening(association));
        }
        Ok(())
    }

    fn insert(&mut self, now: Time, carrier: Carrier) {
        let until = now + self.timeout;
        self.half_open.insert(carrier.association().id(), HalfOpen { carrier, until });
    }
}
