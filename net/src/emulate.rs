//! The emulator: a UDP relay whose packets take the lab's paths, by the wall clock.

mod way;

use std::net::SocketAddr;

use thalweg_core::time::{Span, Time};
use thalweg_lab::packet::{Body, CROSS};
use thalweg_lab::scenario::Scenario;

pub use self::way::Way;
use crate::clock::{Clock, sharpen_timers};
use crate::error::Error;
use crate::poll::Interests;
use crate::signal::Stop;
use crate::udp::{Inbox, Outbox, Socket, unspecified};

/// How many clients are told apart; one more makes the one forgotten that was silent for longest.
pub const MAX_CLIENTS: usize = 63;
/// How often a run tells how it goes.
const TICK: Span = Span::from_secs(1);

/// A relay between its clients and one server.
///
/// Each client has a socket of its own towards the server, so that the server tells them apart as well; all of them
/// share the two paths.
#[derive(Debug)]
pub struct Emulator {
    clock: Clock,
    listen: Socket,
    to: SocketAddr,
    forward: Way,
    reverse: Way,
    clients: Vec<Client>,
    next_flow: u32,
}

#[derive(Debug)]
struct Client {
    address: SocketAddr,
    flow: u32,
    upstream: Socket,
    heard: Time,
}

/// What one turn reads into and writes from.
#[derive(Debug, Default)]
struct Buffers {
    inbox: Inbox,
    outbox: Outbox,
}

impl Emulator {
    /// A relay from `listen` to `to`, whose paths start now.
    ///
    /// # Errors
    /// The address to listen on is not ours, or in use.
    pub fn open(listen: SocketAddr, to: SocketAddr, scenario: Scenario) -> Result<Emulator, Error> {
        Ok(Emulator {
            clock: Clock::start(),
            listen: Socket::bind(listen).map_err(Error::io(format!("listen on {listen}")))?,
            to,
            forward: Way::new(scenario.forward),
            reverse: Way::new(scenario.reverse),
            clients: Vec::new(),
            next_flow: 0,
        })
    }

    /// Where it listens.
    pub fn local(&self) -> SocketAddr {
        self.listen.local()
    }

    /// The time on its clock, which started with its paths.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// How many clients it knows.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// From the clients to the server.
    pub fn forward(&self) -> &Way {
        &self.forward
    }

    /// From the server to the clients.
    pub fn reverse(&self) -> &Way {
        &self.reverse
    }

    /// Relays until `stop` is asked for, and calls `tick` once a second.
    ///
    /// # Errors
    /// The kernel would not wait.
    pub fn run(&mut self, stop: &Stop, mut tick: impl FnMut(&Emulator)) -> Result<(), Error> {
        sharpen_timers();
        let mut buffers = Buffers::default();
        let mut next_tick = self.clock.now() + TICK;
        while !stop.asked() {
            self.turn(next_tick, &mut buffers)?;
            let now = self.clock.now();
            if now >= next_tick {
                tick(self);
                next_tick = now.max(next_tick + TICK);
            }
        }
        Ok(())
    }

    /// Sleeps until a datagram comes, one is due, or `until`; then does what there is to do.
    fn turn(&mut self, until: Time, buffers: &mut Buffers) -> Result<(), Error> {
        let due = [self.forward.next(), self.reverse.next()].into_iter().flatten().fold(until, Time::min);
        let mut interests = Interests::new();
        interests.read(&self.listen);
        for client in &self.clients {
            interests.read(&client.upstream);
        }
        let timeout = due.since(self.clock.now());
        let mut ready = interests.wait(timeout).map_err(Error::io("wait for datagrams"))?;
        let from_clients = ready.take();
        // Before new clients come and shift the places.
        for index in 0..self.clients.len() {
            if ready.take() {
                self.receive_from_server(index, &mut buffers.inbox);
            }
        }
        if from_clients {
            self.receive_from_clients(&mut buffers.inbox);
        }
        let now = self.clock.now();
        self.deliver_to_server(now, &mut buffers.outbox);
        self.deliver_to_clients(now, &mut buffers.outbox);
        Ok(())
    }

    fn receive_from_clients(&mut self, inbox: &mut Inbox) {
        self.listen.receive(inbox);
        let now = self.clock.now();
        for (from, payload) in inbox.datagrams() {
            // Without a socket for one more client its datagram is lost, as on a host without free ports.
            if let Some(flow) = self.flow_of(now, from) {
                self.forward.accept(now, flow, payload);
            }
        }
    }

    fn receive_from_server(&mut self, index: usize, inbox: &mut Inbox) {
        let client = &self.clients[index];
        client.upstream.receive(inbox);
        let now = self.clock.now();
        for (from, payload) in inbox.datagrams() {
            if from == self.to {
                self.reverse.accept(now, client.flow, payload);
            }
        }
    }

    /// The flow of the client at `address`, who may be new.
    fn flow_of(&mut self, now: Time, address: SocketAddr) -> Option<u32> {
        if let Some(client) = self.clients.iter_mut().find(|client| client.address == address) {
            client.heard = now;
            return Some(client.flow);
        }
        let upstream = Socket::bind(unspecified(self.to)).ok()?;
        if self.clients.len() == MAX_CLIENTS {
            let silent = self.clients.iter().enumerate().min_by_key(|(_, client)| client.heard);
            silent.map(|(index, _)| index).map(|index| self.clients.swap_remove(index));
        }
        let flow = self.next_flow;
        self.next_flow = (flow + 1) % CROSS;
        self.clients.push(Client { address, flow, upstream, heard: now });
        Some(flow)
    }

    fn deliver_to_server(&mut self, now: Time, outbox: &mut Outbox) {
        let mut filling: Option<usize> = None;
        while let Some(packet) = self.forward.poll(now) {
            let Some(index) = self.clients.iter().position(|client| client.flow == packet.flow) else { continue };
            if let Some(other) = filling.filter(|other| *other != index) {
                outbox.flush(&mut self.clients[other].upstream);
            }
            filling = Some(index);
            put(outbox, &mut self.clients[index].upstream, self.to, &packet.body);
        }
        if let Some(index) = filling {
            outbox.flush(&mut self.clients[index].upstream);
        }
    }

    fn deliver_to_clients(&mut self, now: Time, outbox: &mut Outbox) {
        while let Some(packet) = self.reverse.poll(now) {
            if let Some(client) = self.clients.iter().find(|client| client.flow == packet.flow) {
                put(outbox, &mut self.listen, client.address, &packet.body);
            }
        }
        outbox.flush(&mut self.listen);
    }
}

/// Puts a datagram of any length into the outbox.
fn put(outbox: &mut Outbox, socket: &mut Socket, to: SocketAddr, body: &Body) {
    let Body::Datagram(payload) = body else { return };
    if payload.len() > outbox.room().len() {
        outbox.flush(socket);
    }
    // An empty outbox has room for the longest datagram that UDP knows.
    if let Some(room) = outbox.room().get_mut(..payload.len()) {
        room.copy_from_slice(payload);
        outbox.push(socket, to, payload.len());
    }
}
