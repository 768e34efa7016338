//! The top floor: sender and receiver of each profile, as values without I/O.

mod keyed;
pub mod live;
pub mod mux;
pub mod secure;
pub mod stream;
pub mod tunnel;

use core::net::SocketAddr;

use crate::time::Time;
use crate::wire;

/// A datagram that is to leave now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// Where to.
    pub to: SocketAddr,
    /// How many bytes of the buffer it fills.
    pub len: usize,
}

/// The five verbs of every session. After every `handle_*`, drain every `poll_*`.
///
/// `now` never goes back from one call to the next: it is a monotonic clock's. What the other side's clock does is the
/// session's to follow.
pub trait Session {
    /// What the session tells its owner.
    type Event;

    /// Takes a datagram that came from `from`.
    ///
    /// # Errors
    /// The peer's bytes were no good. The datagram is forgotten, the session goes on.
    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error>;

    /// Tells the session that the time of [`Session::poll_timeout`] has come.
    fn handle_timeout(&mut self, now: Time);

    /// Writes the next datagram that is due into `buf`, which must hold [`MAX_DATAGRAM`] bytes.
    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit>;

    /// When the session next wants to be called, if nothing happens before.
    fn poll_timeout(&self) -> Option<Time>;

    /// The next event.
    fn poll_event(&mut self) -> Option<Self::Event>;
}

/// The longest datagram that a session writes: an Ethernet payload.
pub const MAX_DATAGRAM: usize = 1500;
