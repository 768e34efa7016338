//! Connections inside one lossless stream: many byte streams each way, that open, finish and are reset independently.
//!
//! The mux makes frames ([`crate::wire::mux`]) for the stream and reads those that arrive in it; it is sans-I/O and has
//! no access to the stream. The owner of both writes what [`Mux::poll`] makes only while little waits in the stream to
//! be sent, so that a keystroke finds a short queue in front of it:
//!
//! - **Turns.** Frames without data go first. Connections with data take turns of one original each; one that was idle
//!   goes before the others, once (T. Hoeiland-Joergensen et al., RFC 8290 §4.1, the flow queues of FQ-CoDel).
//! - **Credit.** Each connection may send what the peer has free space for, 256 KiB at first. If half of it is used and
//!   read within eight round trips, it is doubled, to 32 MiB, out of 64 MiB that all connections share. The bytes of
//!   the stream are therefore always accepted: a connection that no program reads blocks no other.
//! - **Memory.** The owner of the mux sets how much more it may hold. At its limit of unsent bytes credit is granted in
//!   small pieces, little is accepted to be sent, and new connections are refused; at that of unread bytes the
//!   connection with the most of them is reset.
//! - **Ends.** Each direction finishes independently, or the connection is reset, with a reason.

mod buffer;
mod connection;
mod event;
mod frames;
mod memory;
mod reader;
mod receiving;
mod round_robin;
mod sending;

use std::collections::{BTreeMap, VecDeque};

pub use self::event::{Event, Reason, Unopened};

use self::connection::Connection;
pub(super) use self::memory::Bounds;
use self::memory::Memory;
use self::reader::{Reader, Token};
use self::round_robin::RoundRobin;
use crate::session::secure::Role;
use crate::time::{Span, Time};
use crate::wire::{self, mux::Frame};

/// The bytes by which credit may grow, over all connections. Ours: two of the largest windows. More lets more fast
/// connections fill a long path, and a peer hold more memory.
const POOL: u64 = 64 << 20;
/// The number of waiting events or resets at which no more of the stream is read. Ours: one for each connection of a
/// client by default; a peer that opens and resets faster than the program polls waits.
const BACKLOG: usize = 1024;

/// All connections of one stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Mux {
    /// The maximum number of connections.
    limit: usize,
    connections: BTreeMap<u32, Connection>,
    /// The lowest bit of the ids that are opened here, and the next of these ids.
    parity: u32,
    next: Option<u32>,
    /// The highest id that the peer has opened.
    newest: Option<u32>,
    /// Connections that owe a frame without data.
    control: VecDeque<u32>,
    resets: VecDeque<(u32, Reason)>,
    turns: RoundRobin,
    reader: Reader,
    events: VecDeque<Event>,
    /// The bytes by which credit may still grow.
    pool: u64,
    memory: Memory,
    is_closed: bool,
}

impl Mux {
    /// Makes a mux without connections; `limit` counts those that either end opens.
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
            turns: RoundRobin::default(),
            reader: Reader::default(),
            events: VecDeque::new(),
            pool: POOL,
            memory: Memory::default(),
            is_closed: false,
        }
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// There are too many connections, all ids were used, or the mux was shut down.
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

    /// Accepts a prefix of `bytes` and returns its length: less than all if too much waits, 0 after [`Mux::finish`].
    pub fn write(&mut self, id: u32, bytes: &[u8]) -> usize {
        let Some(connection) = self.connections.get_mut(&id) else { return 0 };
        let before = connection.held();
        let count = connection.sending.write(bytes, self.memory.unsent());
        self.turns.put(id, connection);
        let after = connection.held();
        self.memory.charge(before, after);
        count
    }

    /// The number of bytes that [`Mux::write`] accepts now; if 0, [`Event::Writable`] follows.
    pub fn capacity(&mut self, id: u32) -> usize {
        self.connections.get_mut(&id).map_or(0, |connection| connection.sending.capacity(self.memory.unsent()))
    }

    /// Reads into the start of `buf` and returns the number of bytes. `rtt` is that of the stream.
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
            // If there is nothing to read, this may be the end.
            self.settle(id);
        }
        read
    }

    /// The next bytes to be read, as many as are contiguous; none if there are none yet, or no more.
    pub fn front(&self, id: u32) -> &[u8] {
        self.connections.get(&id).map_or(&[], |connection| connection.receiving.front())
    }

    /// Consumes the first `count` bytes of [`Mux::front`]. `rtt` is that of the stream.
    pub fn consume(&mut self, now: Time, rtt: Span, id: u32, count: usize) {
        let is_memory_short = self.memory.is_short();
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let before = connection.held();
        connection.receiving.consume(now, rtt, count, &mut self.pool, is_memory_short);
        if connection.adds_pending_frame() {
            self.control.push_back(id);
        }
        let after = connection.held();
        self.memory.charge(before, after);
        self.settle(id);
    }

    /// Ends writing: nothing more will be written.
    pub fn finish(&mut self, id: u32) {
        if let Some(connection) = self.connections.get_mut(&id) {
            connection.sending.finish();
            self.turns.put(id, connection);
        }
    }

    /// Resets a connection; no more events follow for it.
    pub fn reset(&mut self, id: u32, reason: Reason) {
        if let Some(connection) = self.forget(id) {
            self.events.retain(|event| event.id() != id);
            if !connection.is_unopened() {
                self.resets.push_back((id, reason));
            }
        }
    }

    /// Resets all connections and refuses new ones.
    pub fn shutdown(&mut self) {
        self.is_closed = true;
        let ids: Vec<u32> = self.connections.keys().copied().collect();
        ids.into_iter().for_each(|id| self.reset(id, Reason::Stopped));
    }

    /// Ends with the stream. Connections that are complete but for unread data stay. Returns the ids of the others,
    /// except those whose opening was not yet reported; no more events follow for them.
    pub fn end(&mut self) -> Vec<u32> {
        self.is_closed = true;
        (self.control, self.resets, self.turns) = (VecDeque::new(), VecDeque::new(), RoundRobin::default());
        let broken = self.connections.iter().filter(|(_, connection)| !connection.is_complete());
        let broken: Vec<u32> = broken.map(|(id, _)| *id).collect();
        for id in &broken {
            self.forget(*id);
        }
        let is_unreported = |id: &u32| self.events.contains(&Event::Opened(*id));
        let reported: Vec<u32> = broken.iter().copied().filter(|id| !is_unreported(id)).collect();
        // The ids are sorted.
        self.events.retain(|event| broken.binary_search(&event.id()).is_err());
        reported
    }

    /// Takes bytes that were read from the stream.
    ///
    /// # Errors
    /// The bytes are not valid frames: the stream is of no more use.
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

    /// True if more of the stream may be passed in; if not, take events and write frames first.
    pub fn is_ready(&self) -> bool {
        self.events.len() < BACKLOG && self.resets.len() < BACKLOG
    }

    /// Appends the next frames to `out`: at most `capacity` bytes, which must be 16 or more, and a finish frame behind the
    /// last data. Returns true if there were any.
    pub fn poll(&mut self, capacity: usize, out: &mut Vec<u8>) -> bool {
        if let Some((id, reason)) = self.resets.pop_front() {
            Frame::Reset { id, reason: reason.into() }.emit(out);
            return true;
        }
        while let Some(id) = self.control.pop_front() {
            if let Some(connection) = self.connections.get_mut(&id) {
                connection.emit_frames(id, out);
                return true;
            }
        }
        while let Some(id) = self.turns.next() {
            let Some(connection) = self.connections.get_mut(&id) else { continue };
            if !connection.sending.has_data() {
                self.turns.drop(connection);
                continue;
            }
            let before = connection.held();
            if connection.sending.emit(id, capacity, out) {
                self.events.push_back(Event::Writable(id));
            }
            let after = connection.held();
            self.memory.charge(before, after);
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

    /// The number of connections.
    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// True if there is no connection.
    pub fn is_empty(&self) -> bool {
        self.connections.is_empty()
    }

    /// True if nothing is left to be read or reported.
    pub fn is_over(&self) -> bool {
        self.connections.is_empty() && self.events.is_empty()
    }

    /// Sets the limits of further bytes that may wait here from now on.
    pub(super) fn bound(&mut self, bounds: Bounds) {
        self.memory.bound(bounds);
    }

    /// Bytes of memory in which data waits, in both directions.
    pub fn held(&self) -> u64 {
        self.memory.held()
    }

    /// Bytes that wait here to be sent, and to be read.
    pub fn buffered(&self) -> [u64; 2] {
        self.connections.values().fold([0; 2], |[out, inn], connection| {
            [out + connection.sending.buffered(), inn + connection.receiving.buffered()]
        })
    }

    /// Reports which ends of a connection have been reached.
    fn settle(&mut self, id: u32) {
        let Some(connection) = self.connections.get_mut(&id) else { return };
        if connection.receiving.poll_end() {
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
        self.memory.charge(connection.held(), 0);
        Some(connection)
    }
}

#[cfg(test)]
mod tests;
