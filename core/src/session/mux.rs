//! Connections inside one lossless stream: many byte streams each way, that open, end and break by themselves.
//!
//! The mux makes frames ([`crate::wire::mux`]) for the stream and reads what comes out of it; it is sans-I/O and knows no
//! stream. Whoever owns both writes what [`Mux::poll`] makes only while little is waiting in the stream to be sent, so that
//! a keystroke finds a short queue in front of it:
//!
//! - **Turns.** Frames without data go first. Connections with data take turns of one original each; one that was quiet
//!   goes before those that are not, once (T. Hoeiland-Joergensen et al., RFC 8290 §4.1, the flow queues of FQ-CoDel).
//! - **Credit.** Each connection may send what the other end has room for, 256 KiB at first. Where a reader takes half of
//!   it in less than two round trips it is doubled, to 32 MiB, out of 64 MiB that all connections share. What comes out of
//!   the stream is therefore always taken: a connection that nobody reads holds up no other.
//! - **Memory.** Who owns the mux says how much more it may hold. Short of that credit comes in small pieces, little is taken to be sent,
//!   and no connection is taken; at it the connection that has most to be read is broken off.
//! - **Ends.** Each direction finishes by itself, or the connection is reset, with a reason.

mod buffer;
mod connection;
mod hearing;
mod memory;
mod reader;
mod receiving;
mod sending;
mod told;
mod turns;

use std::collections::{BTreeMap, VecDeque};

pub use self::told::{Event, Reason, Unopened};

use self::connection::Connection;
pub(super) use self::memory::Bounds;
use self::reader::{Reader, Token};
use self::turns::Turns;
use crate::session::secure::Role;
use crate::time::{Span, Time};
use crate::wire::{self, mux::Frame};

/// What a reader's credit may grow by, over all connections, bytes.
const POOL: u64 = 64 << 20;
/// So many events or resets may wait before nothing more is read.
const BACKLOG: usize = 1024;

/// All connections of one stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Mux {
    /// How many connections there may be.
    limit: usize,
    connections: BTreeMap<u32, Connection>,
    /// The lowest bit of the ids that are opened here, and the next of them.
    parity: u32,
    next: Option<u32>,
    /// The highest id that the other end has opened.
    newest: Option<u32>,
    /// Connections that owe a frame without data.
    control: VecDeque<u32>,
    resets: VecDeque<(u32, Reason)>,
    turns: Turns,
    reader: Reader,
    events: VecDeque<Event>,
    /// By how much credit may still grow.
    pool: u64,
    /// Bytes that wait here, and how many more may.
    held: u64,
    spare: Bounds,
    is_closed: bool,
}

impl Mux {
    /// Without connections; at most `limit`, whoever opens them.
    pub fn new(role: Role, limit: usize) -> Mux {
        let parity = u32::from(role == Role::Responder);
        Mux {
            limit,
            connections: BTreeMap::new(),
            parity,
            next: Some(parity),
            newest: None,
            control: VecDeque::new(),
            resets: VecDeque::new(),
            turns: Turns::default(),
            reader: Reader::default(),
            events: VecDeque::new(),
            pool: POOL,
            held: 0,
            spare: Bounds::default(),
            is_closed: false,
        }
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// There are too many, there were too many ever, or the end has begun.
    pub fn open(&mut self, now: Time) -> Result<u32, Unopened> {
        if self.is_closed {
            return Err(Unopened::Stopped);
        }
        if self.connections.len() >= self.limit {
            return Err(Unopened::Full { limit: self.limit });
        }
        let id = self.next.ok_or(Unopened::Spent)?;
        self.next = id.checked_add(2);
        self.connections.insert(id, Connection::new(now, true));
        self.control.push_back(id);
        Ok(id)
    }

    /// Takes the first of `bytes`, and tells how many: less than all if too much waits, none after [`Mux::finish`].
    pub fn write(&mut self, id: u32, bytes: &[u8]) -> usize {
        let Some(connection) = self.connections.get_mut(&id) else { return 0 };
        let before = connection.held();
        let count = connection.sending.write(bytes, self.spare.unsent);
        self.turns.put(id, connection);
        let after = connection.held();
        self.charge(before, after);
        count
    }

    /// Bytes that [`Mux::write`] takes now; if none, [`Event::Writable`] follows.
    pub fn room(&mut self, id: u32) -> usize {
        self.connections.get_mut(&id).map_or(0, |connection| connection.sending.room(self.spare.unsent))
    }

    /// Reads over the first bytes of `buf`, and tells how many. `rtt` is that of the stream.
    pub fn read(&mut self, now: Time, rtt: Span, id: u32, buf: &mut [u8]) -> usize {
        let mut read = 0;
        while let front @ [_, ..] = self.front(id)
            && read < buf.len()
        {
            let count = front.len().min(buf.len() - read);
            buf[read..read + count].copy_from_slice(&front[..count]);
            self.consume(now, rtt, id, count);
            read += count;
        }
        if read == 0 {
            // That there is nothing may be the end.
            self.settle(id);
        }
        read
    }

    /// The next bytes to be read, as many as lie in one piece; none if there are none yet, or no more.
    pub fn front(&self, id: u32) -> &[u8] {
        self.connections.get(&id).map_or(&[], |connection| connection.receiving.front())
    }

    /// The first `count` bytes of [`Mux::front`] were read. `rtt` is that of the stream.
    pub fn consume(&mut self, now: Time, rtt: Span, id: u32, count: usize) {
        let is_thrifty = self.is_thrifty();
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let before = connection.held();
        connection.receiving.consume(now, rtt, count, &mut self.pool, is_thrifty);
        if connection.owes_news() {
            self.control.push_back(id);
        }
        let after = connection.held();
        self.charge(before, after);
        self.settle(id);
    }

    /// Nothing more will be written.
    pub fn finish(&mut self, id: u32) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.sending.finish();
            self.turns.put(id, connection);
        }
    }

    /// Breaks a connection off; nothing more is told of it.
    pub fn reset(&mut self, id: u32, reason: Reason) {
        if let Some(connection) = self.forget(id) {
            self.events.retain(|event| event.id() != id);
            if !connection.is_news() {
                self.resets.push_back((id, reason));
            }
        }
    }

    /// Breaks all connections off, and takes no more.
    pub fn shutdown(&mut self) {
        self.is_closed = true;
        let ids: Vec<u32> = self.connections.keys().copied().collect();
        ids.into_iter().for_each(|id| self.reset(id, Reason::Stopped));
    }

    /// The stream is gone. Connections that are done but for what is unread stay; the ids of the others that were told of
    /// are returned, and nothing more is told of them.
    pub fn end(&mut self) -> Vec<u32> {
        self.is_closed = true;
        (self.control, self.resets, self.turns) = (VecDeque::new(), VecDeque::new(), Turns::default());
        let broken = self.connections.iter().filter(|(_, connection)| !connection.is_complete());
        let broken: Vec<u32> = broken.map(|(id, _)| *id).collect();
        for id in &broken {
            self.forget(*id);
        }
        let untold = |id: &u32| self.events.contains(&Event::Opened(*id));
        let told: Vec<u32> = broken.iter().copied().filter(|id| !untold(id)).collect();
        // Ids are in order.
        self.events.retain(|event| broken.binary_search(&event.id()).is_err());
        told
    }

    /// Takes bytes that came out of the stream.
    ///
    /// # Errors
    /// They make no sense: the stream is of no more use.
    pub fn handle(&mut self, now: Time, mut bytes: &[u8]) -> Result<(), wire::Error> {
        while !bytes.is_empty() {
            let (token, rest) = self.reader.next(bytes)?;
            match token {
                Token::None => {}
                Token::Frame(frame) => self.on_frame(now, frame)?,
                Token::Bytes(id, part) => self.on_bytes(id, part),
            }
            bytes = rest;
        }
        Ok(())
    }

    /// Whether more should come out of the stream; if not, after events were taken and frames made.
    pub fn is_ready(&self) -> bool {
        self.events.len() < BACKLOG && self.resets.len() < BACKLOG
    }

    /// Writes the next frames behind what is in `out`, at most `room` bytes that hold 16 or more; whether there were any.
    pub fn poll(&mut self, room: usize, out: &mut Vec<u8>) -> bool {
        if let Some((id, reason)) = self.resets.pop_front() {
            Frame::Reset { id, reason: reason.into() }.emit(out);
            return true;
        }
        while let Some(id) = self.control.pop_front() {
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.emit_news(id, out);
                return true;
            }
        }
        while let Some(id) = self.turns.next() {
            let Some(connection) = self.connections.get_mut(&id) else { continue };
            if !connection.sending.speaks() {
                self.turns.drop(connection);
                continue;
            }
            let before = connection.held();
            if connection.sending.emit(id, room, out) {
                self.events.push_back(Event::Writable(id));
            }
            let after = connection.held();
            self.charge(before, after);
            self.turns.again(id);
            self.settle(id);
            return true;
        }
        false
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// How many connections there are.
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    /// Whether nothing is left to be read or told.
    pub fn is_over(&self) -> bool {
        self.connections.is_empty() && self.events.is_empty()
    }

    /// Bytes that wait here to be sent, and to be read.
    pub fn buffered(&self) -> [u64; 2] {
        self.connections.values().fold([0; 2], |[out, inn], connection| {
            [out + connection.sending.buffered(), inn + connection.receiving.buffered()]
        })
    }

    /// Tells what has ended of a connection.
    fn settle(&mut self, id: u32) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.receiving.tell_ended() {
            self.events.push_back(Event::Finished(id));
        }
        if connection.is_complete() && connection.receiving.buffered() == 0 {
            self.forget(id);
            self.events.push_back(Event::Closed(id));
        }
    }

    fn forget(&mut self, id: u32) -> Option<Connection> {
        let connection = self.connections.remove(&id)?;
        self.pool += connection.receiving.grown();
        self.charge(connection.held(), 0);
        Some(connection)
    }
}

#[cfg(test)]
mod tests;
