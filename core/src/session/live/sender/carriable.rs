//! A sender inside an association.

use core::net::SocketAddr;

use super::{Event, Sender};
use crate::session::live::carried::Carriable;
use crate::time::Time;

impl Carriable for Sender {
    fn is_with(&self, name: SocketAddr) -> bool {
        self.peer.to() == name
    }

    fn on_association(&mut self, now: Time) {
        self.peer.schedule_hello(now);
    }

    fn located(event: Event, at: impl Fn(SocketAddr) -> SocketAddr) -> Event {
        match event {
            Event::Connected { to, latency, round_trip } => Event::Connected { to: at(to), latency, round_trip },
            Event::Moved { to } => Event::Moved { to: at(to) },
            other => other,
        }
    }

    fn moved(to: SocketAddr) -> Event {
        Event::Moved { to }
    }
}
