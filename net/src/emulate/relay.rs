//! The ends of a relay: UDP sockets with their clients, and a server for each.

use std::net::SocketAddr;

use thalweg_core::time::Time;
use thalweg_lab::packet::{Body, CROSS, Packet};
use thalweg_lab::path::Side;

use super::Paths;
use crate::clock::Clock;
use crate::error::Error;
use crate::poll::Interests;
use crate::udp::{Inbox, Outbox, Socket, unspecified};

/// The number of sockets: those that clients send to, and one towards the server for each client that is kept apart.
pub const MAX_SOCKETS: usize = 64;

/// The sockets that clients send to, and the state of each client.
#[derive(Debug)]
pub(super) struct Relay {
    listeners: Vec<Listener>,
    clients: Clients,
    inbox: Inbox,
    outbox: Outbox,
}

/// A socket that clients send to, and the server behind it.
#[derive(Debug)]
struct Listener {
    socket: Socket,
    to: SocketAddr,
}

#[derive(Debug, Default)]
struct Clients {
    known: Vec<Client>,
    /// Clients that were ever known.
    seen: u32,
}

#[derive(Debug)]
struct Client {
    address: SocketAddr,
    /// The listener that it sends to.
    listener: usize,
    /// The number of its flow; modulo the number of listeners it is that of its listener, hence its station.
    flow: u32,
    upstream: Socket,
    last_seen: Time,
}

impl Relay {
    /// A relay from each of the first addresses to the second one of its pair.
    pub(super) fn open(pairs: &[(SocketAddr, SocketAddr)]) -> Result<Relay, Error> {
        let listener = |&(listen, to): &(SocketAddr, SocketAddr)| {
            let socket = Socket::bind(listen).map_err(Error::io(format!("listening on {listen}")))?;
            Ok(Listener { socket, to })
        };
        let listeners = pairs.iter().map(listener).collect::<Result<_, Error>>()?;
        let (inbox, outbox) = (Inbox::default(), Outbox::default());
        Ok(Relay { listeners, clients: Clients::default(), inbox, outbox })
    }

    pub(super) fn local(&self) -> Vec<SocketAddr> {
        self.listeners.iter().map(|listener| listener.socket.local()).collect()
    }

    pub(super) fn clients(&self) -> usize {
        self.clients.known.len()
    }

    /// Waits until `due` at most, and puts arrived datagrams onto their path.
    pub(super) fn receive(&mut self, clock: &Clock, due: Time, paths: &mut Paths) -> Result<(), Error> {
        let mut interests = Interests::new();
        self.listeners.iter().for_each(|listener| interests.read(&listener.socket));
        for client in &self.clients.known {
            interests.read(&client.upstream);
        }
        let timeout = due.since(clock.now());
        let mut ready = interests.wait(timeout).map_err(Error::io("waiting for datagrams"))?;
        let from_clients: Vec<bool> = self.listeners.iter().map(|_| ready.take()).collect();
        // Before new clients are added, which would shift the places.
        for index in 0..self.clients.known.len() {
            if ready.take() {
                self.receive_from_server(index, clock, paths);
            }
        }
        for (listener, _) in from_clients.into_iter().enumerate().filter(|(_, ready)| *ready) {
            self.receive_from_clients(listener, clock, paths);
        }
        Ok(())
    }

    fn receive_from_clients(&mut self, index: usize, clock: &Clock, paths: &mut Paths) {
        let listener = &self.listeners[index];
        listener.socket.receive(&mut self.inbox);
        let now = clock.now();
        for (from, payload) in self.inbox.datagrams() {
            // Without a socket for a further client, its datagram is lost, as on a host without free ports.
            if let Some(flow) = self.clients.flow_of(now, from, (index, listener.to), self.listeners.len()) {
                paths.accept(Side::Forward, now, Packet::datagram(flow, payload.to_vec()));
            }
        }
    }

    fn receive_from_server(&mut self, index: usize, clock: &Clock, paths: &mut Paths) {
        let client = &self.clients.known[index];
        client.upstream.receive(&mut self.inbox);
        let now = clock.now();
        for (from, payload) in self.inbox.datagrams() {
            if from == self.listeners[client.listener].to {
                paths.accept(Side::Reverse, now, Packet::datagram(client.flow, payload.to_vec()));
            }
        }
    }

    /// Sends datagrams that have reached the end of their path by `now`.
    pub(super) fn deliver(&mut self, now: Time, paths: &mut Paths) {
        self.deliver_to_servers(now, paths);
        self.deliver_to_clients(now, paths);
    }

    fn deliver_to_servers(&mut self, now: Time, paths: &mut Paths) {
        let (clients, outbox) = (&mut self.clients.known, &mut self.outbox);
        let mut filling: Option<usize> = None;
        while let Some(packet) = paths.poll(Side::Forward, now) {
            let Some(index) = clients.iter().position(|client| client.flow == packet.flow) else { continue };
            if let Some(other) = filling.filter(|other| *other != index) {
                outbox.flush(&mut clients[other].upstream);
            }
            filling = Some(index);
            let client = &mut clients[index];
            put(outbox, &mut client.upstream, self.listeners[client.listener].to, &packet.body);
        }
        if let Some(index) = filling {
            outbox.flush(&mut clients[index].upstream);
        }
    }

    fn deliver_to_clients(&mut self, now: Time, paths: &mut Paths) {
        let (listeners, outbox) = (&mut self.listeners, &mut self.outbox);
        let mut filling: Option<usize> = None;
        while let Some(packet) = paths.poll(Side::Reverse, now) {
            let Some(client) = self.clients.known.iter().find(|client| client.flow == packet.flow) else { continue };
            if let Some(other) = filling.filter(|other| *other != client.listener) {
                outbox.flush(&mut listeners[other].socket);
            }
            filling = Some(client.listener);
            put(outbox, &mut listeners[client.listener].socket, client.address, &packet.body);
        }
        if let Some(index) = filling {
            outbox.flush(&mut listeners[index].socket);
        }
    }
}

impl Clients {
    /// The flow of the client at `address` of a listener, which may be new; its datagrams go to the listener's server.
    fn flow_of(
        &mut self,
        now: Time,
        address: SocketAddr,
        (listener, to): (usize, SocketAddr),
        listeners: usize,
    ) -> Option<u32> {
        let mut known = self.known.iter_mut();
        if let Some(client) = known.find(|client| client.address == address && client.listener == listener) {
            client.last_seen = now;
            return Some(client.flow);
        }
        let upstream = Socket::bind(unspecified(to)).ok()?;
        if self.known.len() + listeners == MAX_SOCKETS {
            let silent = self.known.iter().enumerate().min_by_key(|(_, client)| client.last_seen);
            silent.map(|(index, _)| index).map(|index| self.known.swap_remove(index));
        }
        let flow = self.seen * listeners as u32 + listener as u32;
        self.seen = (self.seen + 1) % (CROSS / listeners as u32);
        self.known.push(Client { address, listener, flow, upstream, last_seen: now });
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
