//! A node around any session: the session itself, with real datagrams, and the application that uses it.

use core::net::SocketAddr;

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::{MAX_DATAGRAM, Session};
use thalweg_core::time::Time;

use crate::node::{Node, Tallied, Tally};
use crate::packet::{Body, Packet};

/// The user of a session: it produces what the session sends, and takes what the session delivers.
pub trait Application<S: Session> {
    /// The time of its next action that depends on the clock alone.
    fn next(&self) -> Option<Time> {
        None
    }

    /// Passes to the session all that the application has produced by now.
    fn feed(&mut self, now: Time, session: &mut S) {
        let _ = (now, session);
    }

    /// Takes the session's events and all that it has delivered. Returns true if the session may have more to send now.
    fn drain(&mut self, now: Time, session: &mut S) -> bool;
}

/// A session and its application, as an endpoint.
#[derive(Clone, PartialEq, Debug)]
pub struct End<S, A> {
    session: S,
    application: A,
    flow: u32,
    /// The address from which the peer's datagrams come.
    peer: SocketAddr,
    /// The time since which the session may have a datagram to send.
    ready: Option<Time>,
    /// Datagrams that the session has sent.
    sent: u64,
    /// Packets that have arrived from the network.
    received: u64,
}

impl<S: Session, A: Application<S>> End<S, A> {
    /// An endpoint of the flow `flow` that waits for its peer at `peer`.
    pub fn new(flow: u32, peer: SocketAddr, session: S, application: A) -> End<S, A> {
        End { session, application, flow, peer, ready: None, sent: 0, received: 0 }
    }

    /// The same endpoint, whose session has a datagram to send at `start`.
    #[must_use]
    pub fn starting(self, start: Time) -> End<S, A> {
        End { ready: Some(start), ..self }
    }

    /// The session.
    pub fn session(&self) -> &S {
        &self.session
    }

    /// The session, for changes from outside.
    pub fn session_mut(&mut self) -> &mut S {
        &mut self.session
    }

    /// The application.
    pub fn application(&self) -> &A {
        &self.application
    }

    /// The next datagram of the session.
    fn transmit(&mut self, now: Time) -> Option<Packet> {
        let mut buf = [0; MAX_DATAGRAM];
        // The first poll may drop the last media, which has expired, and give no datagram. The goodbye is then due, so
        // poll again.
        for _ in 0..2 {
            if self.session.poll_timeout().is_some_and(|due| due <= now) {
                self.session.handle_timeout(now);
            }
            if let Some(transmit) = self.session.poll_transmit(now, &mut buf) {
                self.sent += 1;
                return Some(Packet::datagram(self.flow, buf[..transmit.len].to_vec()));
            }
        }
        None
    }
}

impl<S: Session, A: Application<S>> Node for End<S, A> {
    fn accept(&mut self, now: Time, packet: Packet) {
        self.received += 1;
        self.ready = Some(now);
        if let Body::Datagram(bytes) = &packet.body {
            // The session counts the datagrams that it rejects.
            let _ = self.session.handle_datagram(now, self.peer, bytes);
        }
    }

    fn next(&self) -> Option<Time> {
        [self.ready, self.session.poll_timeout(), self.application.next()].into_iter().flatten().min()
    }

    /// The session's next datagram; if there is none, the endpoint is idle until its next event.
    fn poll(&mut self, now: Time) -> Option<Packet> {
        self.application.feed(now, &mut self.session);
        loop {
            let packet = self.transmit(now);
            let has_more = self.application.drain(now, &mut self.session);
            if packet.is_some() || !has_more {
                self.ready = packet.is_some().then_some(now);
                return packet;
            }
        }
    }
}

impl<S: Session, A: Application<S>> Tallied for End<S, A> {
    fn tally(&self) -> Tally {
        Tally { added: self.sent, consumed: self.received, ..Tally::default() }
    }
}

impl<S: Probe, A> Probe for End<S, A> {
    /// Reports the metrics of the session.
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.session.probe(visit);
    }
}
