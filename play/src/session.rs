//! The session for datagrams: the receiver of R3CP+ that plays now. Each PLAY has a receiver of its own.

use std::net::SocketAddr;

use thalweg_core::session::stored::receiver::{Event, Receiver};
use thalweg_core::session::{Session, Transmit};
use thalweg_core::time::Time;
use thalweg_core::wire;

/// The receiver of the present PLAY; none before the first, and none of a plain session.
#[derive(Debug, Default)]
pub struct PlaySession {
    pub(crate) receiver: Option<Receiver>,
    /// The arrival of the last datagram.
    pub(crate) heard: Option<Time>,
}

impl Session for PlaySession {
    type Event = Event;

    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        let receiver = self.receiver.as_mut().ok_or(wire::Error::Unknown)?;
        receiver.handle_datagram(now, from, bytes)?;
        self.heard = Some(now);
        Ok(())
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Some(receiver) = &mut self.receiver {
            receiver.handle_timeout(now);
        }
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        self.receiver.as_mut()?.poll_transmit(now, buf)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.receiver.as_ref()?.poll_timeout()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.receiver.as_mut()?.poll_event()
    }
}
