//! The kernel's law, which may come and go while films are served.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::net::{AddressFamily, SocketType, socket, sockopt};
use thalweg_core::units::Rate;
use thalweg_kernel::{Error, FASTEST, Name, Rates};

/// Why the kernel's law is not to be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lack {
    /// In a word, for programs: `absent`, `unloaded`, `denied`, `not_built` or `refused`.
    pub word: &'static str,
    /// For people.
    pub why: String,
}

/// What has become of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// It is not to be had.
    Lost(Lack),
    /// It is to be had again, or another one has its name.
    Back,
}

/// A congestion control of the kernel's that is told rates.
#[derive(Debug)]
pub(crate) struct Kernel {
    name: Name,
    found: Mutex<Found>,
}

/// How it was when it was looked at last.
#[derive(Default, Debug)]
struct Found {
    /// The rates of the last one that was to be had.
    rates: Option<Arc<Rates>>,
    /// Why it is not.
    lack: Option<Lack>,
}

impl Kernel {
    pub(crate) fn new(name: &Name) -> Kernel {
        Kernel { name: name.clone(), found: Mutex::default() }
    }

    pub(crate) fn name(&self) -> &Name {
        &self.name
    }

    /// Looks whether it is there, and says what has changed since the last time.
    pub(crate) fn look(&self) -> Option<Change> {
        let mut found = self.found();
        let has = is_registered(&self.name);
        if has && found.lack.is_none() && found.rates.as_ref().is_some_and(|rates| rates.is_current()) {
            return None;
        }
        let change = match if has { open(&self.name) } else { Err(gone(&self.name, found.rates.is_some())) } {
            Ok(rates) => {
                *found = Found { rates: Some(Arc::new(rates)), lack: None };
                Change::Back
            }
            Err(lack) if found.lack.as_ref() == Some(&lack) => return None,
            Err(lack) => {
                found.lack = Some(lack.clone());
                Change::Lost(lack)
            }
        };
        Some(change)
    }

    /// Whether it was there when it was looked at last.
    pub(crate) fn is_there(&self) -> bool {
        self.found().lack.is_none()
    }

    /// Gives a connection the law and its rate; whether it has both. `under` is what belongs to the law that it has: when the
    /// name is gone it keeps that, and when another is loaded it goes over to the new one.
    pub(crate) fn tell(&self, connection: &OwnedFd, rate: Rate, under: &mut Option<Arc<Rates>>) -> bool {
        let rate = Rate::from_bps(rate.as_bps().min(FASTEST.as_bps()));
        let current = self.current();
        if current.is_some() && sockopt::set_tcp_congestion(connection, self.name.as_str()).is_ok() {
            *under = current;
        }
        under.as_ref().is_some_and(|rates| rates.set(connection.as_fd(), rate).is_ok())
    }

    fn current(&self) -> Option<Arc<Rates>> {
        let found = self.found();
        found.rates.clone().filter(|_| found.lack.is_none())
    }

    fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives a connection the system's congestion control, or where that is the law itself another that every system has.
pub(crate) fn leave_to_system(connection: &OwnedFd, law: Option<&Kernel>) {
    let default = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").unwrap_or_default();
    let law = law.map_or_else(Name::default, |kernel| kernel.name.clone());
    let others = [default.trim(), "cubic", "reno"].into_iter().filter(|name| *name != law.as_str());
    let _ = others.into_iter().find(|name| sockopt::set_tcp_congestion(connection, name).is_ok());
}

fn is_registered(name: &Name) -> bool {
    let probe = socket(AddressFamily::INET, SocketType::STREAM, None);
    probe.is_ok_and(|probe| sockopt::set_tcp_congestion(&probe, name.as_str()).is_ok())
}

const INSTEAD: &str = "films over TCP are paced by this program instead";

fn gone(name: &Name, was_there: bool) -> Lack {
    match was_there {
        true => Lack { word: "unloaded", why: format!("this kernel has no {name} any more; {INSTEAD}") },
        false => {
            let why = format!("this kernel has no {name} (`thalweg kernel load` gives it one); {INSTEAD}");
            Lack { word: "absent", why }
        }
    }
}

/// Of one connection, where all else is as it should be.
pub(crate) fn refused() -> Lack {
    let why = "the kernel takes no rate for a connection; this film is paced by this program instead";
    Lack { word: "refused", why: why.to_owned() }
}

fn open(name: &Name) -> Result<Rates, Lack> {
    Rates::open(name).map_err(|error| Lack {
        word: if error == Error::NotBuilt { "not_built" } else { "denied" },
        why: format!("{name} cannot be told how fast films are played: {error}; {INSTEAD}"),
    })
}
