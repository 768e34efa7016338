//! The end that begins associations.

use core::net::SocketAddr;
use std::collections::VecDeque;

use super::{Change, LONGEST, Notice};
use crate::session::live::inside;
use crate::session::secure::{self, Association, Config, Ending, Entropy, Event, Key, KeyError};
use crate::session::{Session, Transmit};
use crate::time::{Span, Time};
use crate::wire::Error;

/// The wait after a peer has closed the association. Ours: it is full or stopping; shorter repeats handshakes with it
/// more often, longer delays the stream.
const AGAIN: Span = Span::from_secs(1);

/// An association that is made anew when it ends.
#[derive(Debug)]
pub(super) struct Caller {
    config: Config,
    key: Key,
    to: SocketAddr,
    entropy: Entropy,
    association: Association,
    /// The association that takes over if the peer does not know the present one any more.
    next: Option<Association>,
    /// The time at which an association that the peer has closed gets a successor.
    call_at: Option<Time>,
    was_up: bool,
    changes: VecDeque<Change>,
}

impl Caller {
    pub(super) fn new(
        (config, key): (Config, Key),
        to: SocketAddr,
        now: Time,
        mut entropy: Entropy,
    ) -> Result<Caller, KeyError> {
        let association = Association::initiate(config, &key, to, now, entropy.fork())?;
        let changes = VecDeque::new();
        Ok(Caller { config, key, to, entropy, association, next: None, call_at: None, was_up: false, changes })
    }

    /// The peer's address.
    pub(super) fn peer(&self) -> SocketAddr {
        self.association.peer()
    }

    /// Opens a datagram into `out`, and names its sender.
    pub(super) fn open<'a>(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        out: &'a mut [u8],
    ) -> Result<Option<(SocketAddr, &'a [u8])>, Error> {
        let Some(id) = secure::receiver(bytes)? else {
            let id = secure::unknown(bytes).ok_or(Error::Unknown)?;
            return self.on_unknown(now, id).then_some(None).ok_or(Error::Unknown);
        };
        let association = match &mut self.next {
            Some(next) if next.id() == id => next,
            _ => &mut self.association,
        };
        let opened = association.handle_datagram(now, from, bytes, out)?;
        Ok(opened.map(|plain| (self.name(), plain)))
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.association.handle_timeout(now);
        if let Some(next) = &mut self.next {
            next.handle_timeout(now);
        }
        if self.call_at.take_if(|at| *at <= now).is_some() {
            self.replace(now);
        }
    }

    /// Writes the next datagram of the associations, or else of `session`; without an association the latter is lost.
    pub(super) fn poll_transmit(&mut self, now: Time, buf: &mut [u8], session: &mut impl Session) -> Option<Transmit> {
        let control = self.association.poll_transmit(now, buf);
        let control = control.or_else(|| self.next.as_mut()?.poll_transmit(now, buf));
        if control.is_some() {
            return control;
        }
        if self.association.is_established() {
            let write = |space: &mut [u8]| session.poll_transmit(now, &mut space[..LONGEST]).map(|written| written.len);
            return self.association.seal_written(now, buf, write);
        }
        while session.poll_transmit(now, &mut buf[..LONGEST]).is_some() {}
        None
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let next = self.next.as_ref().and_then(Association::poll_timeout);
        [self.association.poll_timeout(), next, self.call_at].into_iter().flatten().min()
    }

    /// The next change.
    pub(super) fn poll_change(&mut self, now: Time) -> Option<Change> {
        self.check_next(now);
        while let Some(event) = self.association.poll_event() {
            match event {
                Event::Established => {
                    self.was_up = true;
                    self.changes.push_back(Change::Up);
                }
                Event::Moved { to } => self.changes.push_back(Change::Moved { name: self.name(), to }),
                Event::Ended(ending) => self.on_ended(now, ending),
                Event::Rekeyed { .. } => {}
            }
        }
        self.changes.pop_front()
    }

    /// The name of the only peer.
    fn name(&self) -> SocketAddr {
        inside(self.to, 0)
    }

    /// Takes a claim that the peer does not know the association. Anyone on the path can make it, so the peer has to
    /// complete another handshake, before which it is asked whether the claim is true.
    fn on_unknown(&mut self, now: Time, id: u64) -> bool {
        let is_ours = self.association.on_unknown(now, id);
        if is_ours && self.next.is_none() {
            self.next = self.initiate(now);
        }
        is_ours
    }

    /// Lets the next association take over once the peer has answered it, and not the present one.
    fn check_next(&mut self, now: Time) {
        let Some(next) = &mut self.next else { return };
        let is_wanted = self.association.is_doubted() || self.association.is_over();
        let mut is_alive = true;
        while let Some(event) = next.poll_event() {
            is_alive &= !matches!(event, Event::Ended(_));
        }
        if is_wanted && next.is_established() {
            self.replace(now);
        } else if !is_wanted || !is_alive {
            self.next = None;
        }
    }

    fn replace(&mut self, now: Time) {
        let Some(next) = self.next.take().or_else(|| self.initiate(now)) else { return };
        if next.is_established() {
            self.changes.push_back(Change::Up);
        }
        self.association = next;
    }

    fn on_ended(&mut self, now: Time, ending: Ending) {
        match ending {
            Ending::Refused | Ending::Version(_) if !self.was_up => {
                self.changes.push_back(Change::Noticed(Notice::Refused(ending)));
            }
            Ending::ClosedByPeer(_) => self.call_at = Some(now + AGAIN),
            _ => self.replace(now),
        }
    }

    fn initiate(&mut self, now: Time) -> Option<Association> {
        // The key was checked with the first association.
        Association::initiate(self.config, &self.key, self.to, now, self.entropy.fork()).ok()
    }
}
