//! A link, as those see it who show it.

use core::net::SocketAddr;

use super::link::Link;
use crate::session::stream::{receiver, sender};

/// What is worth knowing of a link.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    link: &'a Link,
}

impl<'a> View<'a> {
    pub(super) fn new(link: &'a Link) -> View<'a> {
        View { link }
    }

    /// Which it is.
    pub fn link(&self) -> u64 {
        self.link.number()
    }

    /// Where the other end was last.
    pub fn peer(&self) -> SocketAddr {
        self.link.peer()
    }

    /// Whether both ends know of it, and neither has fallen silent.
    pub fn is_up(&self) -> bool {
        self.link.was_up() && !self.link.is_interrupted() && !self.link.is_down()
    }

    /// The path as this end has measured it.
    pub fn measured(&self) -> sender::Measured {
        self.link.stream().map(|stream| stream.sender().measured()).unwrap_or_default()
    }

    /// How long what was written here took to arrive in order.
    pub fn delays(&self) -> Option<&'a sender::Delays> {
        self.link.stream().map(|stream| stream.sender().delays())
    }

    /// The stream's packets that left.
    pub fn sent(&self) -> sender::Counts {
        self.link.stream().map(|stream| stream.sender().counts()).unwrap_or_default()
    }

    /// The stream's packets that came.
    pub fn received(&self) -> receiver::Counts {
        self.link.stream().map(|stream| stream.receiver().counts()).unwrap_or_default()
    }

    /// How many connections it has.
    pub fn connections(&self) -> usize {
        self.link.mux().len()
    }

    /// Bytes that wait to be sent, and to be read.
    pub fn buffered(&self) -> [u64; 2] {
        self.link.mux().buffered()
    }
}
