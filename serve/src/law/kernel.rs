//! The kernel's law, which may come and go while videos are served.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::net::{AddressFamily, SocketType, socket, sockopt};
use thalweg_core::units::Rate;
use thalweg_kernel::{Error, FASTEST, Name, Rates};

/// The reason that the kernel's law is not available.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lack {
    /// One word for programs: `absent`, `unloaded`, `denied`, `not_built` or `refused`.
    pub word: &'static str,
    /// The reason for people.
    pub why: String,
}

/// A change of the kernel's law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// Loss or absence of the law.
    Lost(Lack),
    /// Return of the law, or its replacement by another one of its name.
    Back {
        /// The name of the law.
        name: Name,
    },
}

/// A congestion control of the kernel that takes rates.
#[derive(Debug)]
pub(crate) struct Kernel {
    name: Name,
    found: Mutex<Found>,
}

/// The state at the last look.
#[derive(Default, Debug)]
struct Found {
    /// The rates of the last law that was available.
    rates: Option<Arc<Rates>>,
    /// The reason that it is not available.
    lack: Option<Lack>,
}

impl Kernel {
    pub(crate) fn new(name: &Name) -> Kernel {
        Kernel { name: name.clone(), found: Mutex::default() }
    }

    pub(crate) fn name(&self) -> &Name {
        &self.name
    }

    /// Checks if the law is available, and returns the change since the last look.
    pub(crate) fn recheck(&self) -> Option<Change> {
        let mut found = self.found();
        let has = is_registered(&self.name);
        if has && found.lack.is_none() && found.rates.as_ref().is_some_and(|rates| rates.is_current()) {
            return None;
        }
        let change = match if has { open(&self.name) } else { Err(gone(&self.name, found.rates.is_some())) } {
            Ok(rates) => {
                *found = Found { rates: Some(Arc::new(rates)), lack: None };
                Change::Back { name: self.name.clone() }
            }
            Err(lack) if found.lack.as_ref() == Some(&lack) => return None,
            Err(lack) => {
                found.lack = Some(lack.clone());
                Change::Lost(lack)
            }
        };
        Some(change)
    }

    /// True if the law was available at the last look.
    pub(crate) fn is_available(&self) -> bool {
        self.found().lack.is_none()
    }

    /// Gives a connection the law and its rate; returns true if it has both. `under` has the rates of the law that the
    /// connection is under: it keeps that law if the name is gone, and changes to the new one if another is loaded.
    pub(crate) fn set_rate(&self, connection: &OwnedFd, rate: Rate, under: &mut Option<Arc<Rates>>) -> bool {
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

/// Gives a connection the system's congestion control or, if that is the law itself, another one that every system has.
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

const INSTEAD: &str = "videos over TCP are paced by this program instead";

fn gone(name: &Name, was_available: bool) -> Lack {
    match was_available {
        true => Lack { word: "unloaded", why: format!("this kernel no longer has {name}; {INSTEAD}") },
        false => {
            let why = format!("this kernel has no {name} (load it with `thalweg kernel load`); {INSTEAD}");
            Lack { word: "absent", why }
        }
    }
}

/// The reason for one connection, where everything else works.
pub(crate) fn refused() -> Lack {
    let why = "the kernel accepts no rate for a connection; this video is paced by this program instead";
    Lack { word: "refused", why: why.to_owned() }
}

fn open(name: &Name) -> Result<Rates, Lack> {
    Rates::open(name).map_err(|error| Lack {
        word: if error == Error::NotBuilt { "not_built" } else { "denied" },
        why: format!("the playback rates of {name} cannot be set: {error}; {INSTEAD}"),
    })
}
