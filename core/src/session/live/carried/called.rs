//! The end that accepts associations.

use core::net::SocketAddr;
use std::collections::VecDeque;

use super::{Change, LONGEST, Notice};
use crate::session::live::{Network, inside};
use crate::session::secure::{self, Acceptor, Association, Config, Entropy, Event, Key, KeyError, Reason};
use crate::session::{MAX_DATAGRAM, Session, Transmit};
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::secure::Datagram;

/// The number of associations. Ours: a peer that restarts each second has 15 before the first ends in silence; more take
/// memory.
const PEERS: usize = 64;
/// The number of replies of the acceptor that may wait. Ours: as of a tunnel's server.
const MAX_REPLIES: usize = 64;
/// The number of associations that have not sent a sealed datagram yet; the oldest makes place for a new one. Ours:
/// recorded hellos can be repeated to displace a caller within its round trip; more take more memory.
const MAX_HALF_OPEN: usize = 128;
/// The time of silence after which a peer makes place for another one. Ours: as the `QUIET` of a receiver.
const QUIET: Span = Span::from_secs(2);

/// The associations of peers that have the key.
#[derive(Debug)]
pub(super) struct Called {
    acceptor: Acceptor,
    /// Networks of the peers that are accepted; empty for all.
    allow: Vec<Network>,
    half_open: VecDeque<Association>,
    /// The peers, by the number of their names.
    peers: Vec<Option<Peer>>,
    replies: VecDeque<(SocketAddr, Vec<u8>)>,
    changes: VecDeque<Change>,
    /// The datagram that is sealed next, since its destination is known once it is written.
    plain: Box<[u8]>,
}

#[derive(Debug)]
struct Peer {
    association: Association,
    name: SocketAddr,
    /// The time of its last authentic datagram.
    heard: Time,
}

impl Called {
    /// Accepts peers from the networks of `allow`.
    pub(super) fn new(allow: Vec<Network>, config: Config, key: &Key, entropy: Entropy) -> Result<Called, KeyError> {
        Ok(Called {
            acceptor: Acceptor::new(config, key, entropy)?,
            allow,
            half_open: VecDeque::new(),
            peers: (0..PEERS).map(|_| None).collect(),
            replies: VecDeque::new(),
            changes: VecDeque::new(),
            plain: [0; LONGEST].into(),
        })
    }

    /// The address of the peer with this name.
    pub(super) fn peer(&self, name: SocketAddr) -> Option<SocketAddr> {
        let peer = self.peers.get(usize::from(name.port()))?.as_ref()?;
        Some(peer.association.peer()).filter(|_| peer.name == name)
    }

    /// Opens a datagram into `out`, and names its sender.
    pub(super) fn open<'a>(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        out: &'a mut [u8],
    ) -> Result<Option<(SocketAddr, &'a [u8])>, Error> {
        if !self.allow.is_empty() && !self.allow.iter().any(|network| network.contains(from.ip())) {
            return Err(Error::Unknown);
        }
        let Some(id) = secure::receiver(bytes)? else { return self.on_stranger(now, from, bytes).map(|()| None) };
        if let Some(peer) = self.peers.iter_mut().flatten().find(|peer| peer.association.id() == id) {
            let opened = peer.association.handle_datagram(now, from, bytes, out)?;
            peer.heard = now;
            return Ok(opened.map(|plain| (peer.name, plain)));
        }
        let Some(nth) = self.half_open.iter().position(|association| association.id() == id) else {
            return self.on_stranger(now, from, bytes).map(|()| None);
        };
        let association = &mut self.half_open[nth];
        let opened = association.handle_datagram(now, from, bytes, out)?;
        if !association.is_established() {
            return Ok(None);
        }
        let name = self.half_open.remove(nth).and_then(|association| self.admit(now, association));
        Ok(name.zip(opened))
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        let peers = self.peers.iter_mut().flatten().map(|peer| &mut peer.association);
        peers.chain(&mut self.half_open).for_each(|association| association.handle_timeout(now));
        self.sweep();
    }

    /// Writes the next datagram of the associations, or else of `session`; one to a peer that is gone is lost.
    pub(super) fn poll_transmit(&mut self, now: Time, buf: &mut [u8], session: &mut impl Session) -> Option<Transmit> {
        if let Some((to, reply)) = self.replies.pop_front() {
            buf[..reply.len()].copy_from_slice(&reply);
            return Some(Transmit { to, len: reply.len() });
        }
        let mut peers = self.peers.iter_mut().flatten().map(|peer| &mut peer.association).chain(&mut self.half_open);
        if let Some(transmit) = peers.find_map(|association| association.poll_transmit(now, buf)) {
            return Some(transmit);
        }
        self.sweep();
        while let Some(Transmit { to, len }) = session.poll_transmit(now, &mut self.plain) {
            let peer = self.peers.get_mut(usize::from(to.port())).and_then(Option::as_mut);
            let sealed = peer.filter(|peer| peer.name == to);
            let sealed = sealed.and_then(|peer| peer.association.seal(now, &self.plain[..len], buf));
            if sealed.is_some() {
                return sealed;
            }
        }
        None
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let peers = self.peers.iter().flatten().map(|peer| &peer.association);
        peers.chain(&self.half_open).filter_map(Association::poll_timeout).min()
    }

    /// The next change.
    pub(super) fn poll_change(&mut self, _now: Time) -> Option<Change> {
        for peer in self.peers.iter_mut().flatten() {
            while let Some(event) = peer.association.poll_event() {
                if let Event::Moved { to } = event {
                    self.changes.push_back(Change::Moved { name: peer.name, to });
                }
            }
        }
        self.changes.pop_front()
    }

    /// Answers a datagram that is for no association, as far as anyone may know.
    fn on_stranger(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), Error> {
        if self.replies.len() >= MAX_REPLIES {
            return Err(Error::Unknown);
        }
        let (mut buf, rejected) = ([0; MAX_DATAGRAM], self.acceptor.rejected());
        let reply = self.acceptor.handle_datagram(now, from, bytes, &mut buf);
        if self.acceptor.rejected() > rejected {
            self.changes.push_back(Change::Noticed(match Datagram::parse(bytes) {
                Ok(Datagram::Foreign { version, .. }) => Notice::OtherVersion { from, version },
                _ => Notice::OtherKey { from },
            }));
        }
        let reply = reply?;
        self.replies.push_back((reply.transmit.to, buf[..reply.transmit.len].to_vec()));
        if let Some(association) = reply.association {
            if self.half_open.len() >= MAX_HALF_OPEN {
                self.half_open.pop_front();
            }
            self.half_open.push_back(association);
        }
        Ok(())
    }

    /// Gives a peer that has proved the key a name: a free one, or that of the peer that has been silent for longest. If
    /// none is silent, the association is closed.
    fn admit(&mut self, now: Time, mut association: Association) -> Option<SocketAddr> {
        let heard = |peer: &Option<Peer>| peer.as_ref().map(|peer| peer.heard);
        let number = (0..self.peers.len()).min_by_key(|number| heard(&self.peers[*number]))?;
        if heard(&self.peers[number]).is_some_and(|heard| now.since(heard) < QUIET) {
            association.close(now, Reason::Overload);
            self.half_open.push_back(association);
            return None;
        }
        let name = inside(association.peer(), number as u16);
        self.peers[number] = Some(Peer { association, name, heard: now });
        self.changes.push_back(Change::Up);
        Some(name)
    }

    /// Forgets associations that are over.
    fn sweep(&mut self) {
        for peer in &mut self.peers {
            peer.take_if(|peer| peer.association.is_over());
        }
        self.half_open.retain(|association| !association.is_over());
    }
}
