//! The local side of a tunnel's connections, as their endpoint sees it.

use std::io;

use thalweg_core::session::mux;
use thalweg_core::session::tunnel::Id;

use crate::watch::Watch;

/// The local side of a tunnel: opens connections, and accepts those that the peer opens.
pub trait LocalSide {
    /// The local end of a connection.
    type LocalStream: LocalStream;

    /// The name of this side in metrics.
    const SIDE: &'static str;

    /// True if there is a single connection, with which the endpoint ends.
    const IS_SINGLE: bool = false;

    /// The reason that the peer is given for a refused connection.
    const REFUSAL: mux::Reason = mux::Reason::Unreachable;

    /// Has `watch` report under `token` when a connection may be waiting.
    ///
    /// # Errors
    /// The kernel refuses to watch.
    fn watch(&self, watch: &Watch, token: u64) -> io::Result<()>;

    /// The next local connection that waits for one through the tunnel, if there is one.
    ///
    /// # Errors
    /// None can be accepted now; the endpoint tries again later.
    fn accept(&mut self) -> io::Result<Option<Self::LocalStream>>;

    /// The outlet for a connection that the peer has opened.
    ///
    /// # Errors
    /// The connection is refused.
    fn admit(&mut self, id: Id) -> io::Result<Self::LocalStream>;

    /// The token of an outlet that has become ready without a descriptor that would report it.
    fn take_ready(&mut self) -> Option<u64> {
        None
    }

    /// Handles that a link to the peer is up.
    fn on_up(&mut self) {}

    /// True if no more connections will come: the endpoint ends with the last one.
    fn is_over(&self) -> bool;

    /// True if the endpoint continues without a link to the peer; `was_up` is true if there has been one.
    fn survives(&self, _was_up: bool) -> bool {
        true
    }
}

/// The local end of one connection, which never blocks.
pub trait LocalStream {
    /// The outlet's name, for people.
    fn name(&self) -> String;

    /// Becomes ready, and has `watch` report readiness under `token`; false if the outlet is not ready yet.
    ///
    /// # Errors
    /// The outlet will never be ready.
    fn settle(&mut self, watch: &Watch, token: u64) -> io::Result<bool>;

    /// Reads like [`io::Read::read`].
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] while there is no data; all others are final.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize>;

    /// Writes like [`io::Write::write`].
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] while no data is taken; all others are final.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Ends the written data.
    ///
    /// # Errors
    /// The outlet is broken.
    fn finish(&mut self) -> io::Result<()>;

    /// Ends the outlet so that its data cannot be taken for complete.
    fn abort(self, why: &str);
}
