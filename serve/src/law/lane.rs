//! The law of one connection, told what it plays.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quinn::Connection;
use rustix::net::sockopt;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;
use thalweg_kernel::{FASTEST, Name, Rates};
use thalweg_quic::TcpStream;

use super::claims::Claims;
use super::{Choice, Law};
use crate::ledger::{Ledger, While};
use crate::pace::Bucket;

/// One connection, and what it carries.
#[derive(Debug)]
pub(crate) struct Lane {
    law: Arc<Law>,
    way: Way,
    start: Instant,
    ledger: Arc<Ledger>,
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
    bucket: Option<(Bucket, While)>,
}

impl Lane {
    pub(crate) fn new(law: Arc<Law>, way: Way, ledger: Arc<Ledger>) -> Lane {
        Lane { law, way, start: Instant::now(), ledger, state: Mutex::default() }
    }

    /// From now on it plays a film of `rate`, beside those that it plays already.
    ///
    /// # Errors
    /// The kernel's law is not to be had any more; it is paced instead. The line says why.
    pub(crate) fn play(&self, rate: Rate) -> Result<(), String> {
        let mut state = self.state();
        state.claims.begin(rate);
        self.tell(&mut state)
    }

    /// A film of `rate` has ended; so long its end may still wait to be sent.
    pub(crate) fn end(&self, rate: Rate, waits: Span) {
        let until = self.now() + waits;
        self.state().claims.end(rate, until);
    }

    fn tell(&self, state: &mut State) -> Result<(), String> {
        let Some(rate) = state.claims.rate(self.now()) else { return Ok(()) };
        state.told = Some((rate, self.remote()));
        match (&self.way, &self.law.kernel, self.law.choice) {
            (_, _, Choice::System) => return Ok(()),
            (Way::Quic(connection), _, Choice::TcpStream) => {
                if let Some(control) = TcpStream::of(&*connection.congestion_state()) {
                    control.play(rate);
                }
                return Ok(());
            }
            (Way::Tcp(socket), Some((name, rates)), _) => match tell(socket, name, rates, rate) {
                Ok(()) => return Ok(()),
                Err(why) => {
                    self.pace(state, rate);
                    return Err(why);
                }
            },
            (_, _, Choice::Paced | Choice::TcpStream) => self.pace(state, rate),
        }
        Ok(())
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
            // Whoever asks for the next film is told what is wrong.
            let _ = self.tell(&mut state);
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

/// Whoever unloads the law, the connections that come then have the system's: each is looked at.
fn tell(socket: &OwnedFd, name: &Name, rates: &Rates, rate: Rate) -> Result<(), String> {
    let has = sockopt::tcp_congestion(socket).is_ok_and(|has| has == name.as_str());
    if !has && sockopt::set_tcp_congestion(socket, name.as_str()).is_err() {
        return Err(format!("this kernel has no {name} any more; films over TCP are paced by this program instead"));
    }
    let rate = Rate::from_bps(rate.as_bps().min(FASTEST.as_bps()));
    let told = rates.set(socket.as_fd(), rate);
    told.map_err(|error| format!("{error}; this film is paced by this program instead"))
}

#[cfg(test)]
mod tests;
