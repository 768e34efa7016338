//! A receiver inside associations.

use core::net::SocketAddr;

use super::calling::Calling;
use super::{Event, Receiver};
use crate::session::live::Network;
use crate::session::live::carried::Carriable;
use crate::time::Time;

impl Carriable for Receiver {
    fn take_allow(&mut self) -> Vec<Network> {
        core::mem::take(&mut self.config.allow)
    }

    fn is_with(&self, name: SocketAddr) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.from() == name)
    }

    fn on_association(&mut self, _now: Time) {
        self.calling.iter_mut().for_each(Calling::restart);
    }

    fn located(event: Event, at: impl Fn(SocketAddr) -> SocketAddr) -> Event {
        match event {
            Event::Started { from, media, latency, round_trip } => {
                Event::Started { from: at(from), media, latency, round_trip }
            }
            Event::Moved { from } => Event::Moved { from: at(from) },
            Event::OtherVersion { from, version } => Event::OtherVersion { from: at(from), version },
            other => other,
        }
    }

    fn moved(from: SocketAddr) -> Event {
        Event::Moved { from }
    }
}
