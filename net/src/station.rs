//! One end of a stream or a tunnel, as the loop that turns it sees it.

mod carrying;
mod memory;
mod receiving;
mod sending;
mod standard;
mod tcp;

pub use carrying::{Carrying, Outlet, Outside};
pub use memory::{Ending, Memory, Tasks};
pub use receiving::Receiving;
pub use sending::{Retry, Sending};
pub use standard::Standard;
pub use tcp::{Listening, Reaching};

use thalweg_core::probe::Probe;
use thalweg_core::session::Session;
use thalweg_core::session::live::Metric;
use thalweg_core::time::{Span, Time};

use crate::error::Error;
use crate::figures::Histogram;
use crate::poll::{Interests, Ready};
use crate::report::Report;

/// Where nobody takes the spacing of datagrams from when they are looked at, they gather for so long: a fifth of a SYN.
const REST: Span = Span::from_millis(2);

/// A session together with where what it carries comes from or goes to.
///
/// The loop hands datagrams, timeouts and transmissions to the session itself; everything else of a turn is here.
pub trait Station: Probe {
    /// The session at this end.
    type Session: Session;

    /// What this end is called in metrics: `send`, `recv`, `tunnel` or `pipe`.
    const SIDE: &'static str;

    /// Every metric that [`Probe::probe`] shows.
    fn metrics() -> impl Iterator<Item = &'static Metric>;

    /// The session, to be driven.
    fn session(&mut self) -> &mut Self::Session;

    /// Moves media between the session and the outside; whether more may be waiting. `ready` holds, in their order,
    /// the interests of [`Station::interests`].
    ///
    /// # Errors
    /// There is no outside left.
    fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error>;

    /// What to wait for.
    fn interests<'a>(&'a self, interests: &mut Interests<'a>);

    /// How long what comes in may gather before it is looked at: to be woken costs more than to pass a dozen datagrams.
    /// What the session has planned to leave still leaves on time.
    fn rest(&self) -> Span;

    /// When [`Station::exchange`] has something to do of its own; the session's timeout is known to the loop.
    fn next(&self) -> Option<Time>;

    /// Whether there is anything to tell figures of; what never began has none.
    fn has_begun(&self) -> bool {
        true
    }

    /// What is counted in steps.
    fn histogram(&self) -> Option<Histogram> {
        None
    }

    /// Takes note that the network says that nobody is where the session sends to.
    fn handle_unreachable(&mut self, _now: Time) {}

    /// Begins a polite end.
    fn finish(&mut self, now: Time);

    /// Whether the end has come.
    fn is_over(&self) -> bool;

    /// The next thing worth telling; takes the session's events in.
    fn poll_report(&mut self) -> Option<Report>;
}
