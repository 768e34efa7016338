//! One end of a stream or a tunnel, as driven by the event loop.

mod in_process;
mod keys;
mod latency;
mod measure;
mod receiver;
mod sender;
mod share;
mod stdio;
mod tcp;
mod tunnel;

pub use in_process::{Ending, InProcess, Tasks};
pub use measure::{Load, MeasureEndpoint};
pub use receiver::ReceiverEndpoint;
pub use sender::{Retry, SenderEndpoint, Shed};
pub use share::{MAX_STREAMS, Plan, Planned, Plans, ShareEndpoint};
pub use stdio::StandardIo;
pub use tcp::{TcpAccept, TcpConnect};
pub use tunnel::{LocalSide, LocalStream, TunnelEndpoint};

use thalweg_core::metric::Metric;
use thalweg_core::probe::Probe;
use thalweg_core::session::Session;
use thalweg_core::time::{Span, Time};

use crate::error::Error;
use crate::figures::Figures;
use crate::histogram::Histogram;
use crate::poll::{Interests, Ready};
use crate::report::Report;

/// Time for which arriving datagrams may gather if nothing measures their spacing when they are read: a fifth of a SYN.
const REST: Span = Span::from_millis(2);
/// Time without an answer after which the user is asked to start the other end.
const NOTICE_DELAY: Span = Span::from_secs(1);

/// A session together with the source or the destination of its data.
///
/// The loop passes datagrams, timeouts and transmissions to the session itself; the rest of a turn is here.
pub trait Endpoint: Probe {
    /// The session of this endpoint.
    type Session: Session;

    /// The name of this side in metrics: `send`, `recv`, `tunnel` or `pipe`.
    const SIDE: &'static str;

    /// Every metric that [`Probe::probe`] shows.
    fn metrics() -> impl Iterator<Item = &'static Metric>;

    /// The session, for the event loop.
    fn session(&mut self) -> &mut Self::Session;

    /// Moves media between the session and its inputs or outputs; returns true if more may be waiting. `ready` holds
    /// the interests of [`Endpoint::interests`], in their order.
    ///
    /// # Errors
    /// No input or output is left.
    fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error>;

    /// Registers the descriptors to wait for.
    fn interests<'a>(&'a self, interests: &mut Interests<'a>);

    /// The time for which arriving data may gather before it is read: a wake-up costs more than to process a dozen
    /// datagrams. Datagrams that the session has scheduled are still sent on time.
    fn rest(&self) -> Span;

    /// The time at which [`Endpoint::exchange`] has work of its own; the session's timeout is known to the loop.
    fn next(&self) -> Option<Time>;

    /// True if there are figures to report; an endpoint that never began has none.
    fn has_begun(&self) -> bool {
        true
    }

    /// The histogram of this endpoint, if it has one.
    fn histogram(&self) -> Option<Histogram> {
        None
    }

    /// The values of all metrics: one set, or one per stream.
    fn figures(&self) -> Vec<Figures>
    where
        Self: Sized,
    {
        vec![Figures::read(self)]
    }

    /// Handles the network's report that the peer's address is unreachable.
    fn handle_unreachable(&mut self, _now: Time) {}

    /// Begins a graceful end.
    fn finish(&mut self, now: Time);

    /// True once the endpoint has ended.
    fn is_over(&self) -> bool;

    /// The next report; processes the session's events.
    fn poll_report(&mut self) -> Option<Report>;
}
