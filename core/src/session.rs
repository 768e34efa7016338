//! The top layer: sender and receiver of each profile, as values without I/O.

#[cfg(feature = "media")]
pub mod live;
#[cfg(feature = "secure")]
pub mod mux;
mod path;
#[cfg(feature = "media")]
pub mod rtp;
#[cfg(feature = "secure")]
pub mod secure;
#[cfg(feature = "media")]
pub mod stored;
pub mod stream;
#[cfg(feature = "secure")]
pub mod tunnel;

use core::net::SocketAddr;

use crate::time::Time;
use crate::wire;

/// A datagram to send now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transmit {
    /// The destination.
    pub to: SocketAddr,
    /// The number of bytes at the start of the buffer that the datagram takes.
    pub len: usize,
}

/// The five methods of every session. After every `handle_*`, drain every `poll_*`.
///
/// `now` never decreases from one call to the next: it is read from a monotonic clock. The session itself follows
/// changes of the peer's clock.
pub trait Session {
    /// An event that the session reports to its owner.
    type Event;

    /// Takes a datagram received from `from`.
    ///
    /// # Errors
    /// The peer's bytes were invalid. The datagram is discarded, and the session continues.
    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error>;

    /// Notifies the session that the time of [`Session::poll_timeout`] has come.
    fn handle_timeout(&mut self, now: Time);

    /// Writes the next datagram that is due into `buf`, which must hold [`MAX_DATAGRAM`] bytes.
    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit>;

    /// The time at which [`Session::handle_timeout`] is due, if nothing happens before.
    fn poll_timeout(&self) -> Option<Time>;

    /// The next event.
    fn poll_event(&mut self) -> Option<Self::Event>;
}

/// The longest datagram that a session writes: an Ethernet payload.
pub const MAX_DATAGRAM: usize = 1500;
