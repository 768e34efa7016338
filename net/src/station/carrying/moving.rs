//! Bytes, and who comes: from outside into the tunnel and back.

use std::io;

use thalweg_core::session::mux;
use thalweg_core::session::tunnel::Id;
use thalweg_core::time::{Span, Time};

use super::line::{Line, Place};
use super::{Carrying, NEWCOMERS, Outlet, Outside};
use crate::error::plain;

/// So many pieces are moved in one turn of the loop, so that datagrams are not kept waiting.
const PIECES: usize = 16;
/// Connections that are taken in one turn of the loop.
const ACCEPTS: usize = 64;
/// How long nobody is taken in where the machine has no room for more.
const BREATH: Span = Span::from_millis(500);

impl<O: Outside> Carrying<O> {
    /// Connects an outlet to a connection.
    pub(super) fn place(&mut self, id: Id, outlet: O::Outlet) {
        self.telling.opened(id, &outlet.name());
        let slot = self.lines.put(Line::new(id, outlet));
        self.places.insert(id, slot);
        self.enqueue(slot);
    }

    /// Gives a line its turn.
    fn enqueue(&mut self, slot: usize) {
        if let Some(line) = self.lines.get_mut(slot)
            && !std::mem::replace(&mut line.is_queued, true)
        {
            self.queue.push_back(slot);
        }
    }

    /// Lets `what` happen to the line of a connection, which may then go on.
    pub(super) fn wake(&mut self, id: Id, what: impl FnOnce(&mut Line<O::Outlet>)) {
        if let Some(&slot) = self.places.get(&id)
            && let Some(line) = self.lines.get_mut(slot)
        {
            what(line);
            self.enqueue(slot);
        }
    }

    /// Takes the line of a connection away.
    pub(super) fn remove(&mut self, id: Id) -> Option<Line<O::Outlet>> {
        self.lines.take(self.places.remove(&id)?)
    }

    /// What the kernel tells of descriptors.
    pub(super) fn look(&mut self) -> io::Result<bool> {
        let Carrying { watch, lines, queue, somebody_waits, .. } = self;
        let more = watch.look(|edge| {
            *somebody_waits |= edge.token == NEWCOMERS;
            if let Some(line) = lines.get_mut(edge.token as usize) {
                line.on_edge(edge);
                if !std::mem::replace(&mut line.is_queued, true) {
                    queue.push_back(edge.token as usize);
                }
            }
        })?;
        Ok(more)
    }

    /// Takes those in who have come; whether more may have.
    pub(super) fn accept(&mut self, now: Time) -> bool {
        while let Some(token) = self.outside.stirred() {
            if let Some(line) = self.lines.get_mut(token as usize) {
                line.on_stir();
                self.enqueue(token as usize);
            }
        }
        for _ in 0..ACCEPTS {
            let outlet = match self.outside.accept() {
                Ok(Some(outlet)) => outlet,
                Ok(None) => {
                    self.somebody_waits = false;
                    return false;
                }
                Err(error) => {
                    self.accept_at = now + BREATH;
                    self.telling.warn(format!("waiting for connections: {}; trying on", plain(&error)));
                    return false;
                }
            };
            match self.tunnel.open(now) {
                Ok(id) => self.place(id, outlet),
                Err(why) => {
                    self.telling.turned_away(&outlet.name(), &why.to_string());
                    outlet.abort(&why.to_string());
                }
            }
        }
        true
    }

    /// Moves bytes, connection by connection; whether there are more.
    pub(super) fn move_bytes(&mut self, now: Time) -> bool {
        for _ in 0..PIECES {
            let Some(slot) = self.queue.pop_front() else { return false };
            let Some(line) = self.lines.get_mut(slot) else { continue };
            line.is_queued = false;
            let at = Place { now, watch: &self.watch, token: slot as u64, carried: &mut self.ledger.carried };
            match line.turn(at, &mut self.tunnel, &mut self.scratch) {
                Ok(more) => self.after_turn(slot, more),
                Err(error) => self.break_off(now, slot, &error),
            }
        }
        !self.queue.is_empty()
    }

    fn after_turn(&mut self, slot: usize, more: bool) {
        if more {
            self.enqueue(slot);
        } else if self.lines.get_mut(slot).is_some_and(|line| line.is_over())
            && let Some(line) = self.lines.take(slot)
        {
            self.places.remove(&line.id);
            self.telling.closed(line.id);
        }
    }

    /// An outlet is broken: the other end is told.
    fn break_off(&mut self, now: Time, slot: usize, error: &io::Error) {
        let Some(line) = self.lines.take(slot) else { return };
        self.places.remove(&line.id);
        let reason = if line.is_settled() { mux::Reason::Aborted } else { mux::Reason::Unreachable };
        self.tunnel.reset(line.id, reason);
        let why = plain(error);
        self.telling.broken(line.id, &line.name(), &why, reason);
        if O::IS_SINGLE {
            self.fail(now, format!("{}: {why}", line.name()));
        }
        line.abort(&why);
    }
}
