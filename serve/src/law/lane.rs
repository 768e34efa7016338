//! The law of one connection, told what it plays.

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
use super::{Choice, Kernel, Law, kernel};
use crate::ledger::{Ledger, While};
use crate::pace::{Bucket, faster};
use crate::places::{Busy, Occupant};
use crate::server::Event;

/// One connection, and what it carries.
#[derive(Debug)]
pub(crate) struct Lane {
    law: Arc<Law>,
    way: Way,
    start: Instant,
    ledger: Arc<Ledger>,
    occupant: Arc<Occupant>,
    state: Mutex<State>,
}

/// How a connection is told its rate.
#[derive(Debug)]
pub(crate) enum Way {
    /// By a second handle to its socket.
    Tcp(OwnedFd),
    /// By its controller.
    Quic(Connection),
}

#[derive(Default, Debug)]
struct State {
    claims: Claims,
    /// What was told last, and where the other end was then.
    told: Option<(Rate, Option<SocketAddr>)>,
    /// Where the kernel's law that it has is told its rate.
    under: Option<Arc<Rates>>,
    bucket: Option<(Bucket, While)>,
    /// Number of downloads that run.
    downloads: usize,
}

/// A download under way, until it is dropped.
#[derive(Debug)]
pub(crate) struct Download {
    lane: Arc<Lane>,
    _counted: While,
}

impl Download {
    /// From now on a connection has one: the law of films does not hold it back.
    pub(crate) fn of(lane: Arc<Lane>) -> Download {
        let counted = While::new(&lane.ledger, 1, |ledger| &ledger.downloads);
        let mut state = lane.state();
        state.downloads += 1;
        if let Way::Tcp(socket) = &lane.way {
            // One request at a time: no film waits for its bucket.
            (state.bucket, state.told) = (None, None);
            kernel::leave_to_system(socket, lane.law.kernel.as_ref());
        } else {
            lane.tell(&mut state);
        }
        drop(state);
        Download { lane, _counted: counted }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        let mut state = self.lane.state();
        state.downloads -= 1;
        if matches!(self.lane.way, Way::Quic(_)) {
            self.lane.tell(&mut state);
        }
    }
}

impl Lane {
    pub(crate) fn new(law: Arc<Law>, way: Way, ledger: Arc<Ledger>, occupant: Arc<Occupant>) -> Lane {
        Lane { law, way, start: Instant::now(), ledger, occupant, state: Mutex::default() }
    }

    /// An answer of it begins.
    pub(crate) fn busy(&self) -> Busy {
        self.occupant.busy()
    }

    /// From now on it plays a film of `rate`, beside those that it plays already. What it finds to have become of the kernel's
    /// law is to be told.
    pub(crate) fn play(&self, rate: Rate) -> Option<Event> {
        let mut state = self.state();
        state.claims.begin(rate);
        let is_tcp = matches!(self.way, Way::Tcp(_));
        let event = if is_tcp { self.law.look() } else { None };
        let is_told = self.tell(&mut state);
        let is_there = self.law.kernel.as_ref().is_some_and(Kernel::is_there);
        event.or_else(|| (is_tcp && is_there && !is_told).then(|| Event::LawLost(kernel::refused())))
    }

    /// A film of `rate` has ended; so long its end may still wait to be sent.
    pub(crate) fn end(&self, rate: Rate, waits: Span) {
        let until = self.now() + waits;
        self.state().claims.end(rate, until);
    }

    /// Whether it needs no pacing.
    fn tell(&self, state: &mut State) -> bool {
        let films = state.claims.rate(self.now());
        if state.downloads > 0
            && self.law.choice == Choice::TcpStream
            && let Way::Quic(connection) = &self.way
        {
            // Under a ceiling that no path reaches the law is that of any TCP.
            tell_quic(connection, FASTEST);
            return true;
        }
        let Some(rate) = films else { return true };
        state.told = Some((rate, self.remote()));
        let is_told = match (&self.way, &self.law.kernel, self.law.choice) {
            (_, _, Choice::System) => true,
            (Way::Quic(connection), _, Choice::TcpStream) => {
                tell_quic(connection, faster(rate));
                true
            }
            (Way::Tcp(socket), Some(kernel), _) => kernel.tell(socket, faster(rate), &mut state.under),
            (_, _, Choice::Paced | Choice::TcpStream) => false,
        };
        if is_told {
            state.bucket = None;
        } else {
            self.pace(state, rate);
        }
        is_told
    }

    fn pace(&self, state: &mut State, rate: Rate) {
        match &mut state.bucket {
            Some((bucket, _)) => bucket.play(rate, self.now()),
            None => {
                let counted = While::new(&self.ledger, 1, |ledger| &ledger.paced);
                state.bucket = Some((Bucket::new(rate, self.now()), counted));
            }
        }
    }

    /// How much of `wanted` bytes may leave now, or when to ask again.
    pub(crate) fn take(&self, wanted: u64) -> Result<u64, Instant> {
        let mut state = self.state();
        let now = self.now();
        // A film beside this one has ended, or the other end has moved and quinn has made a new controller.
        let is = state.claims.rate(now).map(|rate| (rate, self.remote()));
        if is.is_some() && is != state.told {
            self.tell(&mut state);
        }
        let Some((bucket, _)) = &mut state.bucket else { return Ok(wanted) };
        let later = |at: Time| self.start + std::time::Duration::from_nanos(at.as_nanos());
        bucket.take(wanted, now).map_err(later)
    }

    /// What was taken and did not leave.
    pub(crate) fn give_back(&self, bytes: u64) {
        if let Some((bucket, _)) = &mut self.state().bucket {
            bucket.give_back(bytes);
        }
    }

    fn remote(&self) -> Option<SocketAddr> {
        match &self.way {
            Way::Tcp(_) => None,
            Way::Quic(connection) => Some(connection.remote_address()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

fn tell_quic(connection: &Connection, rate: Rate) {
    if let Some(control) = TcpStream::of(&*connection.congestion_state()) {
        control.play(rate);
    }
}

#[cfg(test)]
mod tests;
