//! One splice: bytes between a tunnel's connection and an outlet, each way as fast as the slower side takes them.

use std::io::{self, ErrorKind};

use thalweg_core::session::tunnel::{Id, Tunnel};
use thalweg_core::time::Time;

use super::local::LocalStream;
use crate::watch::{Edge, Watch};

/// A tunnel's connection and its outlet.
#[derive(Debug)]
pub(super) struct Splice<O> {
    pub(super) id: Id,
    stream: O,
    state: State,
    /// True if both directions have ended in the tunnel.
    is_closed: bool,
    /// True if it waits for its turn.
    pub(super) is_queued: bool,
    inward: Inward,
    outward: Outward,
}

/// The context of a splice's turn.
#[derive(Debug)]
pub(super) struct TurnContext<'a> {
    pub(super) now: Time,
    pub(super) watch: &'a Watch,
    /// The splice's watch token.
    pub(super) token: u64,
    /// Bytes from outlets, and to them.
    pub(super) carried: &'a mut [u64; 2],
}

/// The direction from the outlet into the tunnel.
#[derive(Debug, PartialEq)]
struct Inward {
    readable: bool,
    has_capacity: bool,
    ended: bool,
}

/// The direction from the tunnel to the outlet.
#[derive(Debug, PartialEq)]
struct Outward {
    writable: bool,
    arrived: bool,
    end: End,
}

/// The state of the outlet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Not ready yet.
    Settling,
    Settled,
    Broken,
}

/// The progress of a direction's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// No end yet.
    Open,
    /// An end after the outlet has taken all data that has arrived.
    Due,
    /// An end that was passed to the outlet.
    Done,
}

impl<O: LocalStream> Splice<O> {
    pub(super) fn new(id: Id, stream: O) -> Splice<O> {
        let inward = Inward { readable: true, has_capacity: true, ended: false };
        let outward = Outward { writable: true, arrived: true, end: End::Open };
        Splice { id, stream, state: State::Settling, is_closed: false, is_queued: false, inward, outward }
    }

    pub(super) fn name(&self) -> String {
        self.stream.name()
    }

    /// Records that the outlet has become ready, as `edge` says.
    pub(super) fn on_edge(&mut self, edge: Edge) {
        self.inward.readable |= edge.readable;
        self.outward.writable |= edge.writable;
        if edge.broken && self.state == State::Settled {
            self.state = State::Broken;
        }
    }

    /// Records that the outlet may have become ready, in either direction.
    pub(super) fn on_ready(&mut self) {
        self.inward.readable = true;
        self.outward.writable = true;
    }

    /// True if the outlet has ever been ready.
    pub(super) fn is_settled(&self) -> bool {
        self.state != State::Settling
    }

    /// Records that the tunnel has data to read.
    pub(super) fn on_arrival(&mut self) {
        self.outward.arrived = true;
    }

    /// Records that the tunnel takes data again.
    pub(super) fn on_capacity(&mut self) {
        self.inward.has_capacity = true;
    }

    /// Records that all data of the peer has been read from the tunnel.
    pub(super) fn on_finish(&mut self) {
        self.outward.finish();
    }

    /// Records that both directions have ended in the tunnel.
    pub(super) fn on_close(&mut self) {
        self.is_closed = true;
        self.outward.finish();
    }

    /// True if both directions have ended in the tunnel.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// True if both directions have ended, and the outlet was ended too.
    pub(super) fn is_over(&self) -> bool {
        self.is_closed && self.outward.end == End::Done
    }

    /// Aborts the outlet.
    pub(super) fn abort(self, why: &str) {
        self.stream.abort(why);
    }

    /// Moves up to about the length of `scratch` in each direction; returns true if there may be more.
    ///
    /// # Errors
    /// The outlet is broken.
    pub(super) fn turn(
        &mut self,
        context: TurnContext<'_>,
        tunnel: &mut Tunnel,
        scratch: &mut [u8],
    ) -> io::Result<bool> {
        let TurnContext { now, watch, token, carried } = context;
        match self.state {
            State::Settling if !self.stream.settle(watch, token)? => return Ok(false),
            State::Settling => self.state = State::Settled,
            State::Settled => {}
            // As long as data is read from the outlet, the read reports the error.
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
        if inward.ended || !inward.readable || !inward.has_capacity {
            return Ok(false);
        }
        // Data beyond the tunnel's capacity stays in the outlet, where it slows the sender down.
        let capacity = tunnel.room(self.id).min(scratch.len());
        if capacity == 0 {
            inward.has_capacity = false;
            return Ok(false);
        }
        match unblocked(|| self.stream.read(&mut scratch[..capacity]))? {
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

    /// Writes about `most` bytes at most to the outlet. Data that the outlet does not take stays in the tunnel, where
    /// it counts against the peer's flow control.
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
            let Some(len) = unblocked(|| self.stream.write(front))? else {
                outward.writable = false;
                return Ok(false);
            };
            tunnel.consume(now, self.id, len);
            *count += len as u64;
            given += len;
        }
        if !outward.arrived && outward.end == End::Due {
            outward.end = End::Done;
            self.stream.finish()?;
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

/// The result of `go`, or none if it would block.
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
