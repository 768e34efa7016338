//! Statistics of a link, for display.

use core::net::SocketAddr;

use super::link::Link;
use crate::probe::{Probe, Visitor};
use crate::session::stream::{receiver, sender};

/// The state and statistics of a link.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    link: &'a Link,
}

impl<'a> View<'a> {
    pub(super) fn new(link: &'a Link) -> View<'a> {
        View { link }
    }

    /// The number of the link.
    pub fn link(&self) -> u64 {
        self.link.number()
    }

    /// The peer's last known address.
    pub fn peer(&self) -> SocketAddr {
        self.link.peer()
    }

    /// True if both ends know the link, and it is neither interrupted nor down.
    pub fn is_up(&self) -> bool {
        self.link.was_up() && !self.link.is_interrupted() && !self.link.is_down()
    }

    /// The path as this end has measured it.
    pub fn measured(&self) -> sender::Measured {
        self.link.stream().map(|stream| stream.sender().measured()).unwrap_or_default()
    }

    /// The in-order delivery delays of what was written here.
    pub fn delays(&self) -> Option<&'a sender::Delays> {
        self.link.stream().map(|stream| stream.sender().delays())
    }

    /// Counts of the stream's packets that were sent.
    pub fn sent(&self) -> sender::Counts {
        self.link.stream().map(|stream| stream.sender().counts()).unwrap_or_default()
    }

    /// Counts of the stream's packets that were received.
    pub fn received(&self) -> receiver::Counts {
        self.link.stream().map(|stream| stream.receiver().counts()).unwrap_or_default()
    }

    /// The number of connections.
    pub fn connections(&self) -> usize {
        self.link.mux().len()
    }

    /// Bytes that wait to be sent, and to be read.
    pub fn buffered(&self) -> [u64; 2] {
        self.link.mux().buffered()
    }
}

impl Probe for View<'_> {
    /// Shows the values of the link's stream, as [`End`](crate::session::stream::End) names them; none before it is up.
    fn probe(&self, visit: &mut Visitor<'_>) {
        if let Some(stream) = self.link.stream() {
            stream.probe(visit);
        }
    }
}
