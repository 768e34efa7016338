//! The playback rates of sockets.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};
use thalweg_core::units::Rate;

use crate::{Error, Name, bpffs};

/// The playback rates of sockets, for a server that knows the video that each of them carries.
///
/// A rate may be set before or after a connection begins; the law adopts it within a round trip. The rate of a
/// listening socket applies to all connections that it accepts from then on. A rate is removed with its socket.
///
/// The interface in C is `kernel/include/thalweg_rates.h`.
#[derive(Debug)]
pub struct Rates {
    map: MapHandle,
    /// The folder of the pins of all controls: through it, a process without privileges still finds them.
    pins: OwnedFd,
    /// The path of the map's pin, relative to `pins`.
    pin: PathBuf,
    /// The inode number of the pin, which is unique while the pin exists.
    inode: u64,
}

impl Rates {
    /// Opens the rates of a loaded control. A server that gives up its privileges does this first.
    ///
    /// # Errors
    /// There is no such control, or this process may not reach it.
    pub fn open(name: &Name) -> Result<Rates, Error> {
        let folder = bpffs::folder(name);
        let whole = folder.join("rates");
        let tried = format!("opening {}", whole.display());
        let map = MapHandle::from_pinned_path(&whole).map_err(Error::bpf(&tried))?;
        let root = folder.parent().expect("it is below that of all controls");
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let pins = openat(CWD, root, flags, Mode::empty()).map_err(Error::io(&tried))?;
        let pin = Path::new(name.as_str()).join("rates");
        let inode = statat(&pins, &pin, AtFlags::empty()).map_err(Error::io(&tried))?.st_ino;
        Ok(Rates { map, pins, pin, inode })
    }

    /// True if these rates are of the control that is loaded now. If it was unloaded, or another one loaded since, they
    /// still reach the connections that have kept it, and no others.
    pub fn is_current(&self) -> bool {
        statat(&self.pins, &self.pin, AtFlags::empty()).is_ok_and(|found| found.st_ino == self.inode)
    }

    /// Sets the rate of a socket of this process.
    ///
    /// # Errors
    /// The descriptor is not a socket, or there is no memory for the rate.
    pub fn set(&self, socket: impl AsFd, rate: Rate) -> Result<(), Error> {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        let value = rate.as_bps().to_ne_bytes();
        self.map.update(&key, &value, MapFlags::ANY).map_err(Error::bpf("setting a playback rate"))
    }
}
