//! Transfer of bytes, and acceptance of connections, between the outside and the tunnel.

use std::io;

use thalweg_core::session::mux;
use thalweg_core::session::tunnel::Id;
use thalweg_core::time::{Span, Time};

use super::splice::{Splice, TurnContext};
use super::{LocalSide, LocalStream, NEWCOMERS, TunnelEndpoint};
use crate::error::plain;

/// Pieces moved in one turn of the loop; more would keep datagrams waiting.
const PIECES: usize = 16;
/// Connections accepted in one turn of the loop.
const ACCEPTS: usize = 64;
/// Pause of accepting when the machine lacks resources for more connections.
const ACCEPT_PAUSE: Span = Span::from_millis(500);

impl<O: LocalSide> TunnelEndpoint<O> {
    /// Splices an outlet to a connection.
    pub(super) fn attach(&mut self, id: Id, stream: O::LocalStream) {
        self.reports.opened(id, &stream.name());
        let slot = self.splices.put(Splice::new(id, stream));
        self.slot_of.insert(id, slot);
        self.enqueue(slot);
    }

    /// Queues a splice for its turn.
    fn enqueue(&mut self, slot: usize) {
        if let Some(splice) = self.splices.get_mut(slot)
            && !std::mem::replace(&mut splice.is_queued, true)
        {
            self.queue.push_back(slot);
        }
    }

    /// Applies `what` to the splice of a connection, which may then make progress.
    pub(super) fn wake(&mut self, id: Id, what: impl FnOnce(&mut Splice<O::LocalStream>)) {
        if let Some(&slot) = self.slot_of.get(&id)
            && let Some(splice) = self.splices.get_mut(slot)
        {
            what(splice);
            self.enqueue(slot);
        }
    }

    /// Removes the splice of a connection.
    pub(super) fn remove(&mut self, id: Id) -> Option<Splice<O::LocalStream>> {
        self.splices.take(self.slot_of.remove(&id)?)
    }

    /// Handles the kernel's changes of readiness; returns true if there may be more.
    pub(super) fn poll_watch(&mut self) -> io::Result<bool> {
        let TunnelEndpoint { watch, splices, queue, may_accept, .. } = self;
        let more = watch.poll(|edge| {
            *may_accept |= edge.token == NEWCOMERS;
            if let Some(splice) = splices.get_mut(edge.token as usize) {
                splice.on_edge(edge);
                if !std::mem::replace(&mut splice.is_queued, true) {
                    queue.push_back(edge.token as usize);
                }
            }
        })?;
        Ok(more)
    }

    /// Accepts waiting connections; returns true if there may be more.
    pub(super) fn accept(&mut self, now: Time) -> bool {
        while let Some(token) = self.local.take_ready() {
            if let Some(splice) = self.splices.get_mut(token as usize) {
                splice.on_ready();
                self.enqueue(token as usize);
            }
        }
        for _ in 0..ACCEPTS {
            let stream = match self.local.accept() {
                Ok(Some(stream)) => stream,
                Ok(None) => {
                    self.may_accept = false;
                    return false;
                }
                Err(error) => {
                    self.accept_at = now + ACCEPT_PAUSE;
                    self.reports.warn(format!("accepting connections: {}; retrying", plain(&error)));
                    return false;
                }
            };
            match self.tunnel.open(now) {
                Ok(id) => self.attach(id, stream),
                Err(why) => {
                    self.reports.turned_away(&stream.name(), &why.to_string());
                    stream.abort(&why.to_string());
                }
            }
        }
        true
    }

    /// Moves bytes, splice by splice; returns true if there are more.
    pub(super) fn move_bytes(&mut self, now: Time) -> bool {
        for _ in 0..PIECES {
            let Some(slot) = self.queue.pop_front() else { return false };
            let Some(splice) = self.splices.get_mut(slot) else { continue };
            splice.is_queued = false;
            let at = TurnContext { now, watch: &self.watch, token: slot as u64, carried: &mut self.ledger.carried };
            match splice.turn(at, &mut self.tunnel, &mut self.scratch) {
                Ok(more) => self.after_turn(slot, more),
                Err(error) => self.reset_broken(now, slot, &error),
            }
        }
        !self.queue.is_empty()
    }

    fn after_turn(&mut self, slot: usize, more: bool) {
        if more {
            self.enqueue(slot);
        } else if self.splices.get_mut(slot).is_some_and(|splice| splice.is_over())
            && let Some(splice) = self.splices.take(slot)
        {
            self.slot_of.remove(&splice.id);
            self.reports.closed(splice.id);
        }
    }

    /// Resets the connection of a broken outlet.
    fn reset_broken(&mut self, now: Time, slot: usize, error: &io::Error) {
        let Some(splice) = self.splices.take(slot) else { return };
        self.slot_of.remove(&splice.id);
        let reason = if splice.is_settled() { mux::Reason::Aborted } else { mux::Reason::Unreachable };
        self.tunnel.reset(splice.id, reason);
        let why = plain(error);
        self.reports.broken(splice.id, &splice.name(), &why, reason);
        if O::IS_SINGLE {
            self.fail(now, format!("{}: {why}", splice.name()));
        }
        splice.abort(&why);
    }
}
