//! An association, together with the messages besides the stream: they name the stream that it carries.

use core::net::SocketAddr;

use crate::session::secure::{self, Association};
use crate::session::{MAX_DATAGRAM, Transmit};
use crate::time::{Span, Time};
use crate::wire::tunnel::{LONGEST, Message};
use crate::wire::{self};

/// The interval at which an initiator asks for its stream until it is answered. Ours: the first wait of a handshake
/// (`secure/backoff.rs`). The message may be lost in either direction; shorter repeats it on paths whose round trip is
/// longer.
const AGAIN: Span = Span::from_millis(250);

#[derive(Debug)]
pub(super) struct Carrier {
    association: Box<Association>,
    /// The request that an initiator repeats until it is answered, and the time of the next.
    ask: Option<(Message, Time)>,
    /// A message to be sent once.
    pending: Option<Message>,
}

impl Carrier {
    /// Makes a carrier that repeats `message` until [`Carrier::attached`].
    pub(super) fn asking(association: Association, message: Message, now: Time) -> Carrier {
        Carrier { association: association.into(), ask: Some((message, now)), pending: None }
    }

    /// Makes a carrier that waits for the peer's request.
    pub(super) fn listening(association: Association) -> Carrier {
        Carrier { association: association.into(), ask: None, pending: None }
    }

    pub(super) fn association(&self) -> &Association {
        &self.association
    }

    /// True if the association carries the stream, as far as this end knows.
    pub(super) fn is_attached(&self) -> bool {
        self.ask.is_none() && self.association.is_established()
    }

    pub(super) fn attached(&mut self) {
        self.ask = None;
    }

    pub(super) fn queue_message(&mut self, message: Message) {
        self.pending = Some(message);
    }

    pub(super) fn close(&mut self, now: Time, reason: secure::Reason) {
        (self.ask, self.pending) = (None, None);
        self.association.close(now, reason);
    }

    /// Handles the claim that the peer has no association `id`; returns true if this association has that id.
    pub(super) fn on_unknown(&mut self, now: Time, id: u64) -> bool {
        self.association.on_unknown(now, id)
    }

    /// Opens a datagram into `out`.
    pub(super) fn open<'a>(
        &mut self,
        now: Time,
        from: SocketAddr,
        bytes: &[u8],
        out: &'a mut [u8],
    ) -> Result<Option<&'a [u8]>, wire::Error> {
        self.association.handle_datagram(now, from, bytes, out)
    }

    /// Seals what `write` writes, if it does.
    pub(super) fn seal(
        &mut self,
        now: Time,
        buf: &mut [u8],
        write: impl FnOnce(&mut [u8]) -> Option<usize>,
    ) -> Option<Transmit> {
        self.association.seal_written(now, buf, write)
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.association.handle_timeout(now);
    }

    /// Writes the next datagram that is not the stream's.
    pub(super) fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        debug_assert!(buf.len() >= MAX_DATAGRAM);
        if let Some(transmit) = self.association.poll_transmit(now, buf) {
            return Some(transmit);
        }
        if !self.association.is_established() {
            return None;
        }
        let message = match &mut self.ask {
            Some((message, at)) if *at <= now => {
                *at = now + AGAIN;
                *message
            }
            _ => self.pending.take()?,
        };
        let mut plain = [0; LONGEST];
        let len = message.emit(&mut plain);
        self.association.seal(now, &plain[..len], buf)
    }

    pub(super) fn poll_timeout(&self) -> Option<Time> {
        let ask = self.ask.filter(|_| self.association.is_established()).map(|(_, at)| at);
        [self.association.poll_timeout(), ask].into_iter().flatten().min()
    }

    pub(super) fn poll_event(&mut self) -> Option<secure::Event> {
        self.association.poll_event()
    }

    pub(super) fn is_over(&self) -> bool {
        self.association.is_over()
    }
}
