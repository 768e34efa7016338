//! How fast a connection is sent to: by the kernel's law, or paced here. Never by another law without a word.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use rustix::net::{AddressFamily, SocketType, socket, sockopt};
use thalweg_core::time::Time;
use thalweg_core::units::Rate;
use thalweg_kernel::{FASTEST, Name, Rates};

use crate::ledger::{Ledger, While};
use crate::pace::Bucket;

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Choice {
    /// TCP Stream in the kernel; paced here where the kernel does not have it.
    #[default]
    TcpStream,
    /// The system's control, and what it sends is paced here.
    Paced,
    /// The system's control alone, as fast as the path bears.
    System,
}

/// The law of all connections.
#[derive(Debug)]
pub enum Law {
    /// This control of the kernel's, which is told each connection's rate.
    Kernel(Name, Rates),
    /// A bucket for each connection.
    Paced,
    /// Neither.
    System,
}

impl Law {
    /// The law that is asked for; if it is not to be had, pacing, and a line that says why.
    pub fn choose(wanted: Option<Choice>, name: &Name) -> (Law, Option<String>) {
        match wanted.unwrap_or_default() {
            Choice::Paced => (Law::Paced, None),
            Choice::System => (Law::System, None),
            Choice::TcpStream => match kernel(name) {
                Ok(rates) => (Law::Kernel(name.clone(), rates), None),
                Err(why) => (Law::Paced, Some(format!("{why}; films are paced by this program instead"))),
            },
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        match self {
            Law::Kernel(name, _) => name.as_str(),
            Law::Paced => "paced",
            Law::System => "system",
        }
    }
}

fn kernel(name: &Name) -> Result<Rates, String> {
    let probe = socket(AddressFamily::INET, SocketType::STREAM, None).map_err(|error| format!("no socket: {error}"))?;
    let lacks = |_| format!("this kernel has no {name} (`thalweg kernel load` gives it one)");
    sockopt::set_tcp_congestion(&probe, name.as_str()).map_err(lacks)?;
    Rates::open(name).map_err(|error| format!("{name} cannot be told how fast films are played: {error}"))
}

/// The law of one connection, told what it plays.
#[derive(Debug)]
pub(crate) struct Lane {
    law: Arc<Law>,
    socket: OwnedFd,
    start: Instant,
    ledger: Arc<Ledger>,
    bucket: Mutex<Option<(Bucket, While)>>,
}

impl Lane {
    /// That of a connection; `socket` is a second handle to it.
    pub(crate) fn new(law: Arc<Law>, socket: OwnedFd, ledger: Arc<Ledger>) -> Lane {
        Lane { law, socket, start: Instant::now(), ledger, bucket: Mutex::new(None) }
    }

    /// What follows is played at `rate`.
    ///
    /// # Errors
    /// The kernel's law is not to be had any more; it is paced instead. The line says why.
    pub(crate) fn play(&self, rate: Rate) -> Result<(), String> {
        let lost = match &*self.law {
            Law::System => return Ok(()),
            Law::Paced => Ok(()),
            Law::Kernel(name, rates) => match self.tell(name, rates, rate) {
                Ok(()) => return Ok(()),
                Err(why) => Err(why),
            },
        };
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *bucket {
            Some((bucket, _)) => bucket.play(rate, self.now()),
            None => {
                let counted = While::new(&self.ledger, 1, |ledger| &ledger.paced);
                *bucket = Some((Bucket::new(rate, self.now()), counted));
            }
        }
        lost
    }

    /// Whoever unloads the law, the connections that come then have the system's: each is looked at.
    fn tell(&self, name: &Name, rates: &Rates, rate: Rate) -> Result<(), String> {
        let has = sockopt::tcp_congestion(&self.socket).is_ok_and(|has| has == name.as_str());
        if !has && sockopt::set_tcp_congestion(&self.socket, name.as_str()).is_err() {
            return Err(format!("this kernel has no {name} any more; films are paced by this program instead"));
        }
        let rate = Rate::from_bps(rate.as_bps().min(FASTEST.as_bps()));
        let told = rates.set(self.socket.as_fd(), rate);
        told.map_err(|error| format!("{error}; this film is paced by this program instead"))
    }

    /// How much of `wanted` bytes may leave now, or when to ask again.
    pub(crate) fn take(&self, wanted: u64) -> Result<u64, Instant> {
        let mut bucket = self.bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((bucket, _)) = &mut *bucket else { return Ok(wanted) };
        let later = |at: Time| self.start + std::time::Duration::from_nanos(at.as_nanos());
        bucket.take(wanted, self.now()).map_err(later)
    }

    /// What was taken and did not leave.
    pub(crate) fn give_back(&self, bytes: u64) {
        if let Some((bucket, _)) = &mut *self.bucket.lock().unwrap_or_else(PoisonError::into_inner) {
            bucket.give_back(bytes);
        }
    }

    fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_said_in_one_line_and_never_replaced_by_another_control() {
        let none: Name = "no_such_law".parse().expect("a name");
        let (law, why) = Law::choose(None, &none);
        assert_eq!(law.name(), "paced");
        let expected = "this kernel has no no_such_law (`thalweg kernel load` gives it one); films are paced by this program instead";
        assert_eq!(why.as_deref(), Some(expected));
        for (choice, name) in [(Choice::Paced, "paced"), (Choice::System, "system")] {
            let (law, why) = Law::choose(Some(choice), &none);
            assert_eq!((law.name(), why), (name, None));
        }
    }
}
