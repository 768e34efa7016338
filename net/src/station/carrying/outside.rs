//! What a tunnel's connections are for, as their station sees it.

use std::io;

use thalweg_core::session::mux;
use thalweg_core::session::tunnel::Id;

use crate::watch::Watch;

/// Who opens connections on this side of a tunnel, and who takes those that the other side opens.
pub trait Outside {
    /// What each connection is for.
    type Outlet: Outlet;

    /// What this end is called in metrics.
    const SIDE: &'static str;

    /// Whether it has one connection alone, whose end is its own.
    const IS_SINGLE: bool = false;

    /// What the other side is told of a connection that nobody takes.
    const REFUSAL: mux::Reason = mux::Reason::Unreachable;

    /// Has `watch` tell under `token` when somebody may have come.
    ///
    /// # Errors
    /// The kernel refuses to watch.
    fn watch(&self, watch: &Watch, token: u64) -> io::Result<()>;

    /// The next who has come and wants a connection.
    ///
    /// # Errors
    /// Nobody will come any more.
    fn accept(&mut self) -> io::Result<Option<Self::Outlet>>;

    /// What the connection that the other side has opened is for.
    ///
    /// # Errors
    /// Nobody is there to take it.
    fn admit(&mut self, id: Id) -> io::Result<Self::Outlet>;

    /// The token of an outlet that can go on without a descriptor that would tell so.
    fn stirred(&mut self) -> Option<u64> {
        None
    }

    /// The other side is there.
    fn on_up(&mut self) {}

    /// Whether nobody will come any more, once the last connection has ended.
    fn is_over(&self) -> bool;

    /// Whether to go on although there is no way to the other side; `was_up` if there has been one.
    fn survives(&self, _was_up: bool) -> bool {
        true
    }
}

/// Where the bytes of one connection come from and go to, without ever waiting.
pub trait Outlet {
    /// What it is for people.
    fn name(&self) -> String;

    /// Becomes ready, and has `watch` tell under `token` how it goes on; false if it is not yet.
    ///
    /// # Errors
    /// It never will.
    fn settle(&mut self, watch: &Watch, token: u64) -> io::Result<bool>;

    /// As [`io::Read::read`].
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] while there is nothing; all others are the end.
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize>;

    /// As [`io::Write::write`].
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] while it takes nothing; all others are the end.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Nothing more will be written.
    ///
    /// # Errors
    /// It is broken.
    fn finish(&mut self) -> io::Result<()>;

    /// Ends it in a way that nobody takes for a good end.
    fn abort(self, why: &str);
}
