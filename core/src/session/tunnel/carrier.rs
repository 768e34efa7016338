//! An association together with what is said in it beside the stream: which stream it carries.

use core::net::SocketAddr;

use crate::session::secure::{self, Association};
use crate::session::{MAX_DATAGRAM, Transmit};
use crate::time::{Span, Time};
use crate::wire::tunnel::{LONGEST, Message};
use crate::wire::{self};

/// How often an initiator asks for its stream until it is answered.
const AGAIN: Span = Span::from_millis(250);

#[derive(Debug)]
pub(super) struct Carrier {
    association: Box<Association>,
    /// What an initiator asks until it is answered, and when next.
    ask: Option<(Message, Time)>,
    /// What is to be said once.
    owed: Option<Message>,
}

impl Carrier {
    /// One that asks `message` until [`Carrier::attached`].
    pub(super) fn asking(association: Association, message: Message, now: Time) -> Carrier {
        Carrier { association: association.into(), ask: Some((message, now)), owed: None }
    }

    /// One that is asked.
    pub(super) fn listening(association: Association) -> Carrier {
        Carrier { association: association.into(), ask: None, owed: None }
    }

    pub(super) fn association(&self) -> &Association {
        &self.association
    }

    /// Whether it carries the stream, as far as this end knows.
    pub(super) fn is_attached(&self) -> bool {
        self.ask.is_none() && self.association.is_established()
    }

    pub(super) fn attached(&mut self) {
        self.ask = None;
    }

    pub(super) fn owe(&mut self, message: Message) {
        self.owed = Some(message);
    }

    pub(super) fn close(&mut self, now: Time, reason: secure::Reason) {
        (self.ask, self.owed) = (None, None);
        self.association.close(now, reason);
    }

    /// The other end is said to have no association of this id.
    pub(super) fn doubt(&mut self, now: Time, id: u64) -> bool {
        self.association.doubt(now, id)
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

    /// The next datagram that is not the stream's.
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
            _ => self.owed.take()?,
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
