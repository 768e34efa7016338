//! One connection: bytes between a tunnel and an outlet, each way as fast as the slower takes them.

use std::io::{self, ErrorKind};

use thalweg_core::session::tunnel::{Id, Tunnel};
use thalweg_core::time::Time;

use super::outside::Outlet;
use crate::watch::{Edge, Watch};

/// A connection and its outlet.
#[derive(Debug)]
pub(super) struct Line<O> {
    pub(super) id: Id,
    outlet: O,
    state: State,
    /// Whether both ways are done, as far as the tunnel goes.
    is_closed: bool,
    /// Whether it waits for its turn.
    pub(super) is_queued: bool,
    inward: Inward,
    outward: Outward,
}

/// What a turn of a line needs to know.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) now: Time,
    pub(super) watch: &'a Watch,
    /// What the line is called there.
    pub(super) token: u64,
    /// Bytes from outlets, and to them.
    pub(super) carried: &'a mut [u64; 2],
}

/// From the outlet into the tunnel.
#[derive(Debug, PartialEq)]
struct Inward {
    readable: bool,
    has_room: bool,
    ended: bool,
}

/// From the tunnel to the outlet.
#[derive(Debug, PartialEq)]
struct Outward {
    writable: bool,
    arrived: bool,
    end: End,
}

/// What the outlet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not ready yet.
    Settling,
    Settled,
    Broken,
}

/// How far the end of a direction is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// It is not near.
    Open,
    /// When the outlet has taken all that has arrived.
    Due,
    /// The outlet knows.
    Done,
}

impl<O: Outlet> Line<O> {
    pub(super) fn new(id: Id, outlet: O) -> Line<O> {
        let inward = Inward { readable: true, has_room: true, ended: false };
        let outward = Outward { writable: true, arrived: true, end: End::Open };
        Line { id, outlet, state: State::Settling, is_closed: false, is_queued: false, inward, outward }
    }

    pub(super) fn name(&self) -> String {
        self.outlet.name()
    }

    /// The outlet can go on.
    pub(super) fn on_edge(&mut self, edge: Edge) {
        self.inward.readable |= edge.readable;
        self.outward.writable |= edge.writable;
        if edge.broken && self.state == State::Settled {
            self.state = State::Broken;
        }
    }

    /// The outlet can go on, one way or the other.
    pub(super) fn on_stir(&mut self) {
        self.inward.readable = true;
        self.outward.writable = true;
    }

    /// Whether the outlet has ever been ready.
    pub(super) fn is_settled(&self) -> bool {
        self.state != State::Settling
    }

    /// The tunnel has something to read.
    pub(super) fn on_arrival(&mut self) {
        self.outward.arrived = true;
    }

    /// The tunnel takes something again.
    pub(super) fn on_room(&mut self) {
        self.inward.has_room = true;
    }

    /// The tunnel has handed out all that there was.
    pub(super) fn on_finish(&mut self) {
        self.outward.finish();
    }

    /// Both ways are done, as far as the tunnel goes.
    pub(super) fn on_close(&mut self) {
        self.is_closed = true;
        self.outward.finish();
    }

    /// Whether both ways are done, as far as the tunnel goes.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether both ways are done, and the outlet knows.
    pub(super) fn is_over(&self) -> bool {
        self.is_closed && self.outward.end == End::Done
    }

    /// Ends the outlet badly.
    pub(super) fn abort(self, why: &str) {
        self.outlet.abort(why);
    }

    /// Moves what one of `scratch` holds, each way; whether there may be more.
    ///
    /// # Errors
    /// The outlet is broken.
    pub(super) fn turn(&mut self, place: Place<'_>, tunnel: &mut Tunnel, scratch: &mut [u8]) -> io::Result<bool> {
        let Place { now, watch, token, carried } = place;
        match self.state {
            State::Settling if !self.outlet.settle(watch, token)? => return Ok(false),
            State::Settling => self.state = State::Settled,
            State::Settled => {}
            // Who reads would learn of it.
            State::Broken if self.inward.ended && self.outward.end != End::Done => {
                return Err(ErrorKind::ConnectionReset.into());
            }
            State::Broken => {}
        }
        let [taken, given] = carried;
        let out = self.take_out(now, tunnel, scratch.len(), given)?;
        let into = self.take_in(tunnel, scratch, taken)?;
        Ok(out || into)
    }

    fn take_in(&mut self, tunnel: &mut Tunnel, scratch: &mut [u8], count: &mut u64) -> io::Result<bool> {
        let inward = &mut self.inward;
        if inward.ended || !inward.readable || !inward.has_room {
            return Ok(false);
        }
        // What the tunnel has no room for stays outside, where its sender feels it.
        let room = tunnel.room(self.id).min(scratch.len());
        if room == 0 {
            inward.has_room = false;
            return Ok(false);
        }
        match unblocked(|| self.outlet.read(&mut scratch[..room]))? {
            None => inward.readable = false,
            Some(0) => {
                tunnel.finish(self.id);
                inward.ended = true;
            }
            Some(len) => {
                let taken = tunnel.write(self.id, &scratch[..len]);
                *count += taken as u64;
                debug_assert_eq!(taken, len, "there was room");
            }
        }
        Ok(inward.readable && !inward.ended)
    }

    /// Hands the outlet at most about `most` bytes. What it does not take stays in the tunnel, where it counts against its peer.
    fn take_out(&mut self, now: Time, tunnel: &mut Tunnel, most: usize, count: &mut u64) -> io::Result<bool> {
        let outward = &mut self.outward;
        if outward.end == End::Done || !outward.writable {
            return Ok(false);
        }
        let mut given = 0;
        while outward.arrived && given < most {
            let front = tunnel.front(self.id);
            if front.is_empty() {
                outward.arrived = false;
                break;
            }
            let Some(len) = unblocked(|| self.outlet.write(front))? else {
                outward.writable = false;
                return Ok(false);
            };
            tunnel.consume(now, self.id, len);
            *count += len as u64;
            given += len;
        }
        if !outward.arrived && outward.end == End::Due {
            outward.end = End::Done;
            self.outlet.finish()?;
        }
        Ok(outward.arrived)
    }
}

impl Outward {
    fn finish(&mut self) {
        if self.end == End::Open {
            self.end = End::Due;
        }
    }
}

/// What was done, or nothing where that would have meant to wait.
fn unblocked(mut go: impl FnMut() -> io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match go() {
            Ok(len) => return Ok(Some(len)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
