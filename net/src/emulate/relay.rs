//! The ends of a relay: clients of a UDP socket, and one server.

use std::net::SocketAddr;

use thalweg_core::time::Time;
use thalweg_lab::packet::{Body, CROSS, Packet};

use super::Direction;
use crate::clock::Clock;
use crate::error::Error;
use crate::poll::Interests;
use crate::udp::{Inbox, Outbox, Socket, unspecified};

/// The number of clients that are kept apart; a further one replaces the client that was silent for longest.
pub const MAX_CLIENTS: usize = 63;

/// The socket that clients send to, and the state of each client.
#[derive(Debug)]
pub(super) struct Relay {
    listen: Socket,
    to: SocketAddr,
    clients: Clients,
    inbox: Inbox,
    outbox: Outbox,
}

#[derive(Debug, Default)]
struct Clients {
    known: Vec<Client>,
    next_flow: u32,
}

#[derive(Debug)]
struct Client {
    address: SocketAddr,
    flow: u32,
    upstream: Socket,
    last_seen: Time,
}

impl Relay {
    pub(super) fn open(listen: SocketAddr, to: SocketAddr) -> Result<Relay, Error> {
        let listen = Socket::bind(listen).map_err(Error::io(format!("listening on {listen}")))?;
        let (inbox, outbox) = (Inbox::default(), Outbox::default());
        Ok(Relay { listen, to, clients: Clients::default(), inbox, outbox })
    }

    pub(super) fn local(&self) -> SocketAddr {
        self.listen.local()
    }

    pub(super) fn clients(&self) -> usize {
        self.clients.known.len()
    }

    /// Waits until `due` at most, and puts arrived datagrams onto their path.
    pub(super) fn receive(
        &mut self,
        clock: &Clock,
        due: Time,
        forward: &mut Direction,
        reverse: &mut Direction,
    ) -> Result<(), Error> {
        let mut interests = Interests::new();
        interests.read(&self.listen);
        for client in &self.clients.known {
            interests.read(&client.upstream);
        }
        let timeout = due.since(clock.now());
        let mut ready = interests.wait(timeout).map_err(Error::io("waiting for datagrams"))?;
        let from_clients = ready.take();
        // Before new clients are added, which would shift the places.
        for index in 0..self.clients.known.len() {
            if ready.take() {
                self.receive_from_server(index, clock, reverse);
            }
        }
        if from_clients {
            self.receive_from_clients(clock, forward);
        }
        Ok(())
    }

    fn receive_from_clients(&mut self, clock: &Clock, forward: &mut Direction) {
        self.listen.receive(&mut self.inbox);
        let now = clock.now();
        for (from, payload) in self.inbox.datagrams() {
            // Without a socket for a further client, its datagram is lost, as on a host without free ports.
            if let Some(flow) = self.clients.flow_of(now, from, self.to) {
                forward.accept(now, Packet::datagram(flow, payload.to_vec()));
            }
        }
    }

    fn receive_from_server(&mut self, index: usize, clock: &Clock, reverse: &mut Direction) {
        let client = &self.clients.known[index];
        client.upstream.receive(&mut self.inbox);
        let now = clock.now();
        for (from, payload) in self.inbox.datagrams() {
            if from == self.to {
                reverse.accept(now, Packet::datagram(client.flow, payload.to_vec()));
            }
        }
    }

    /// Sends datagrams that have reached the end of their path by `now`.
    pub(super) fn deliver(&mut self, now: Time, forward: &mut Direction, reverse: &mut Direction) {
        self.deliver_to_server(now, forward);
        self.deliver_to_clients(now, reverse);
    }

    fn deliver_to_server(&mut self, now: Time, forward: &mut Direction) {
        let (clients, outbox) = (&mut self.clients.known, &mut self.outbox);
        let mut filling: Option<usize> = None;
        while let Some(packet) = forward.poll(now) {
            let Some(index) = clients.iter().position(|client| client.flow == packet.flow) else { continue };
            if let Some(other) = filling.filter(|other| *other != index) {
                outbox.flush(&mut clients[other].upstream);
            }
            filling = Some(index);
            put(outbox, &mut clients[index].upstream, self.to, &packet.body);
        }
        if let Some(index) = filling {
            outbox.flush(&mut clients[index].upstream);
        }
    }

    fn deliver_to_clients(&mut self, now: Time, reverse: &mut Direction) {
        while let Some(packet) = reverse.poll(now) {
            if let Some(client) = self.clients.known.iter().find(|client| client.flow == packet.flow) {
                put(&mut self.outbox, &mut self.listen, client.address, &packet.body);
            }
        }
        self.outbox.flush(&mut self.listen);
    }
}

impl Clients {
    /// The flow of the client at `address`, which may be new; its datagrams go `to` the server.
    fn flow_of(&mut self, now: Time, address: SocketAddr, to: SocketAddr) -> Option<u32> {
        if let Some(client) = self.known.iter_mut().find(|client| client.address == address) {
            client.last_seen = now;
            return Some(client.flow);
        }
        let upstream = Socket::bind(unspecified(to)).ok()?;
        if self.known.len() == MAX_CLIENTS {
            let silent = self.known.iter().enumerate().min_by_key(|(_, client)| client.last_seen);
            silent.map(|(index, _)| index).map(|index| self.known.swap_remove(index));
        }
        let flow = self.next_flow;
        self.next_flow = (flow + 1) % CROSS;
        self.known.push(Client { address, flow, upstream, last_seen: now });
        Some(flow)
    }
}

/// Puts a datagram of any length into the outbox.
fn put(outbox: &mut Outbox, socket: &mut Socket, to: SocketAddr, body: &Body) {
    let Body::Datagram(payload) = body else { return };
    if payload.len() > outbox.space().len() {
        outbox.flush(socket);
    }
    // An empty outbox has space for the longest UDP datagram.
    if let Some(space) = outbox.space().get_mut(..payload.len()) {
        space.copy_from_slice(payload);
        outbox.push(socket, to, payload.len());
    }
}
