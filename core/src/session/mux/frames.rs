//! Handling of the peer's frames.

use super::connection::Connection;
use super::{Event, Mux, Reason};
use crate::time::Time;
use crate::wire::{self, mux::Frame};

impl Mux {
    pub(super) fn on_frame(&mut self, now: Time, frame: Frame) -> Result<(), wire::Error> {
        let (Frame::Open { id }
        | Frame::Data { id, .. }
        | Frame::Credit { id, .. }
        | Frame::Finish { id }
        | Frame::Reset { id, .. }) = frame;
        if let Frame::Open { .. } = frame {
            return self.on_open(now, id);
        }
        let Some(connection) = self.connections.get_mut(&id) else {
            // The peer sent it before it learned that the connection has ended.
            return if self.was_open(id) { Ok(()) } else { Err(wire::Error::Malformed) };
        };
        match frame {
            Frame::Open { .. } => {}
            Frame::Data { len, .. } => connection.receiving.expect(len.into())?,
            Frame::Credit { more, .. } => {
                connection.sending.credit(more)?;
                self.turns.put(id, connection);
            }
            Frame::Finish { .. } => {
                connection.receiving.end()?;
                self.settle(id);
            }
            Frame::Reset { reason, .. } => {
                self.forget(id);
                self.events.push_back(Event::Reset(id, reason.into()));
            }
        }
        Ok(())
    }

    fn on_open(&mut self, now: Time, id: u32) -> Result<(), wire::Error> {
        if self.is_own(id) || self.newest.is_some_and(|newest| id <= newest) {
            return Err(wire::Error::Malformed);
        }
        self.newest = Some(id);
        let refusal = if self.is_closed {
            Some(Reason::Stopped)
        } else if self.connections.len() >= self.limit {
            Some(Reason::TooMany)
        } else {
            Some(Reason::Memory).filter(|_| self.memory.is_short())
        };
        if let Some(reason) = refusal {
            self.resets.push_back((id, reason));
            return Ok(());
        }
        self.connections.insert(id, Connection::new(now, false));
        self.events.push_back(Event::Opened(id));
        Ok(())
    }

    pub(super) fn on_bytes(&mut self, id: u32, part: &[u8]) {
        let growth = self.connections.get(&id).map_or(0, |connection| connection.receiving.growth(part.len()));
        self.free_memory(id, growth);
        if let Some(connection) = self.connections.get_mut(&id) {
            let before = connection.held();
            if connection.receiving.put(part) {
                self.events.push_back(Event::Readable(id));
            }
            let after = connection.held();
            self.memory.charge(before, after);
        }
    }

    /// Frees memory for `more` bytes of `id`: if there is too little, resets the connection with the most unread data,
    /// or `id` itself if there is none.
    fn free_memory(&mut self, id: u32, more: u64) {
        while !self.memory.takes(more) && self.connections.contains_key(&id) {
            let unread = |id: &u32| self.connections[id].receiving.buffered();
            let most = self.connections.keys().copied().max_by_key(unread).filter(|most| unread(most) > 0);
            let broken = most.unwrap_or(id);
            self.forget(broken);
            self.resets.push_back((broken, Reason::Memory));
            self.events.push_back(Event::Reset(broken, Reason::Memory));
        }
    }

    fn is_own(&self, id: u32) -> bool {
        id % 2 == self.parity
    }

    /// True if a connection that does not exist was open before.
    fn was_open(&self, id: u32) -> bool {
        if self.is_own(id) {
            self.next.is_none_or(|next| id < next)
        } else {
            self.newest.is_some_and(|newest| id <= newest)
        }
    }
}
