//! A receiver inside associations.

use core::net::SocketAddr;

use super::{Event, Receiver};
use crate::session::live::Network;
use crate::session::live::carried::Carriable;

impl Carriable for Receiver {
    /// Ours: a sender that restarts each second has 15 associations before the first ends in silence; more take memory.
    const PEERS: usize = 64;

    fn take_allow(&mut self) -> Vec<Network> {
        core::mem::take(&mut self.config.allow)
    }

    fn is_with(&self, name: SocketAddr) -> bool {
        self.stream.as_ref().is_some_and(|stream| stream.from() == name)
    }

    fn located(event: Event, at: impl Fn(SocketAddr) -> SocketAddr) -> Event {
        match event {
            Event::Started { from, media, latency } => Event::Started { from: at(from), media, latency },
            Event::Moved { from } => Event::Moved { from: at(from) },
            Event::OtherVersion { from, version } => Event::OtherVersion { from: at(from), version },
            other => other,
        }
    }

    fn moved(from: SocketAddr) -> Event {
        Event::Moved { from }
    }
}
