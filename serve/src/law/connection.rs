//! The rate control of one connection, by the videos that it carries.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quinn::Connection;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_kernel::{FASTEST, Rates};
use thalweg_quic::TcpStream;

use super::claims::Claims;
use super::{Change, Choice, Kernel, Law, kernel};
use crate::ledger::{GaugeGuard, Ledger};
use crate::pace::{Bucket, faster};
use crate::places::{Busy, Occupant};

/// One connection, and the videos that it carries.
#[derive(Debug)]
pub(crate) struct ConnectionRate {
    law: Arc<Law>,
    transport: Transport,
    start: Instant,
    ledger: Arc<Ledger>,
    occupant: Arc<Occupant>,
    state: Mutex<State>,
}

/// The means by which a connection is given its rate.
#[derive(Debug)]
pub(crate) enum Transport {
    /// A second handle to its socket.
    Tcp(OwnedFd),
    /// The connection, for its congestion controller.
    Quic(Connection),
}

#[derive(Default, Debug)]
struct State {
    claims: Claims,
    /// The rate that was set last, and the peer's address at that time.
    applied: Option<(Rate, Option<SocketAddr>)>,
    /// The rates of the kernel's law that the connection is under.
    under: Option<Arc<Rates>>,
    bucket: Option<(Bucket, GaugeGuard)>,
    /// Number of downloads in progress.
    downloads: usize,
}

/// A download in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct Download {
    control: Arc<ConnectionRate>,
    _counted: GaugeGuard,
}

impl Download {
    /// Begins a download on a connection: the law of videos does not limit it.
    pub(crate) fn of(control: Arc<ConnectionRate>) -> Download {
        let counted = GaugeGuard::new(&control.ledger, 1, |ledger| &ledger.downloads);
        let mut state = control.state();
        state.downloads += 1;
        if let Transport::Tcp(socket) = &control.transport {
            // One request at a time: no video needs the bucket now.
            (state.bucket, state.applied) = (None, None);
            kernel::leave_to_system(socket, control.law.kernel.as_ref());
        } else {
            control.apply(&mut state);
        }
        drop(state);
        Download { control, _counted: counted }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        let mut state = self.control.state();
        state.downloads -= 1;
        if matches!(self.control.transport, Transport::Quic(_)) {
            self.control.apply(&mut state);
        }
    }
}

impl ConnectionRate {
    pub(crate) fn new(
        law: Arc<Law>,
        transport: Transport,
        ledger: Arc<Ledger>,
        occupant: Arc<Occupant>,
    ) -> ConnectionRate {
        ConnectionRate { law, transport, start: Instant::now(), ledger, occupant, state: Mutex::default() }
    }

    /// Begins an answer.
    pub(crate) fn busy(&self) -> Busy {
        self.occupant.busy()
    }

    /// Begins a video of `rate`, beside those that play already. Returns a change of the kernel's law that is to be
    /// reported.
    pub(crate) fn play(&self, rate: Rate) -> Option<Change> {
        let mut state = self.state();
        state.claims.begin(rate);
        let is_tcp = matches!(self.transport, Transport::Tcp(_));
        let change = if is_tcp { self.law.recheck() } else { None };
        let is_set = self.apply(&mut state);
        let is_available = self.law.kernel.as_ref().is_some_and(Kernel::is_available);
        change.or_else(|| (is_tcp && is_available && !is_set).then(|| Change::Lost(kernel::refused())))
    }

    /// Ends a video of `rate`; its end may wait to be sent for `waits`.
    pub(crate) fn end(&self, rate: Rate, waits: Span) {
        let until = self.now() + waits;
        self.state().claims.end(rate, until);
    }

    /// Sets the rate of the connection; returns true if it needs no pacing.
    fn apply(&self, state: &mut State) -> bool {
        let videos = state.claims.rate(self.now());
        if state.downloads > 0
            && self.law.choice == Choice::TcpStream
            && let Transport::Quic(connection) = &self.transport
        {
            // Under a ceiling that no path reaches, the law is that of any TCP.
            set_quic_rate(connection, FASTEST);
            return true;
        }
        let Some(rate) = videos else { return true };
        state.applied = Some((rate, self.remote()));
        let is_set = match (&self.transport, &self.law.kernel, self.law.choice) {
            (_, _, Choice::System) => true,
            (Transport::Quic(connection), _, Choice::TcpStream) => {
                set_quic_rate(connection, faster(rate));
                true
            }
            (Transport::Tcp(socket), Some(kernel), _) => kernel.set_rate(socket, faster(rate), &mut state.under),
            (_, _, Choice::Paced | Choice::TcpStream) => false,
        };
        if is_set {
            state.bucket = None;
        } else {
            self.pace(state, rate);
        }
        is_set
    }

    fn pace(&self, state: &mut State, rate: Rate) {
        match &mut state.bucket {
            Some((bucket, _)) => bucket.play(rate, self.now()),
            None => {
                let counted = GaugeGuard::new(&self.ledger, 1, |ledger| &ledger.paced);
                state.bucket = Some((Bucket::new(rate, self.now()), counted));
            }
        }
    }

    /// The number of bytes, of `wanted`, that may be sent now; an error is the time to ask again.
    pub(crate) fn take(&self, wanted: u64) -> Result<u64, Instant> {
        let mut state = self.state();
        let now = self.now();
        // Another video has ended, or the peer has moved and quinn has made a new controller.
        let is = state.claims.rate(now).map(|rate| (rate, self.remote()));
        if is.is_some() && is != state.applied {
            self.apply(&mut state);
        }
        let Some((bucket, _)) = &mut state.bucket else { return Ok(wanted) };
        let later = |at: Time| self.start + std::time::Duration::from_nanos(at.as_nanos());
        bucket.take(wanted, now).map_err(later)
    }

    /// Gives back bytes that were taken and not sent.
    pub(crate) fn give_back(&self, bytes: u64) {
        if let Some((bucket, _)) = &mut self.state().bucket {
            bucket.give_back(bytes);
        }
    }

    fn remote(&self) -> Option<SocketAddr> {
        match &self.transport {
            Transport::Tcp(_) => None,
            Transport::Quic(connection) => Some(connection.remote_address()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

fn set_quic_rate(connection: &Connection, rate: Rate) {
    if let Some(control) = TcpStream::of(&*connection.congestion_state()) {
        control.play(rate);
    }
}

#[cfg(test)]
mod tests;
