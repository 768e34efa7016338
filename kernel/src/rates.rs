//! The playback rates of sockets.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, statat};
use thalweg_core::units::Rate;

use crate::{Error, Name, bpffs};

/// The playback rates of sockets, for a server that knows which film each of them carries.
///
/// A rate may be told before or after a connection begins; the law takes it up within a round trip. What is told of a
/// listening socket is true of all connections that it accepts from then on. It goes away with the socket.
///
/// In C it is `kernel/include/thalweg_rates.h`.
#[derive(Debug)]
pub struct Rates {
    map: MapHandle,
    /// Where the pins of all controls are: by this a process without privileges finds them still.
    pins: OwnedFd,
    /// The map's, from there.
    pin: PathBuf,
    /// The number of the pin, which no other has while it is there.
    inode: u64,
}

impl Rates {
    /// Opens those of a control that is loaded. A server that gives up its privileges does this first.
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

    /// Whether these are of the control that is loaded now. If it was unloaded, or another one loaded since, they still reach
    /// the connections that have kept it, and no others.
    pub fn is_current(&self) -> bool {
        statat(&self.pins, &self.pin, AtFlags::empty()).is_ok_and(|found| found.st_ino == self.inode)
    }

    /// Sets the rate of a socket of this process.
    ///
    /// # Errors
    /// It is no socket, or there is no memory for it.
    pub fn set(&self, socket: impl AsFd, rate: Rate) -> Result<(), Error> {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        let value = rate.as_bps().to_ne_bytes();
        self.map.update(&key, &value, MapFlags::ANY).map_err(Error::bpf("telling the kernel a playback rate"))
    }
}
