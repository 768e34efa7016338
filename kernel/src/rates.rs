//! The playback rates of sockets.

use std::os::fd::{AsFd, AsRawFd};

use libbpf_rs::{MapCore, MapFlags, MapHandle};
use thalweg_core::units::Rate;

use crate::{Error, Name, bpffs};

/// The playback rates of sockets, for a server that knows which film each of them carries.
///
/// A rate may be told before or after a connection begins; the law takes it up within a round trip. What is told of a
/// listening socket is true of all connections that it accepts from then on. It goes away with the socket.
///
/// In C it is `kernel/include/thalweg_rates.h`.
#[derive(Debug)]
pub struct Rates(MapHandle);

impl Rates {
    /// Opens those of a control that is loaded. A server that gives up its privileges does this first.
    ///
    /// # Errors
    /// There is no such control, or this process may not reach it.
    pub fn open(name: &Name) -> Result<Rates, Error> {
        let pin = bpffs::folder(name).join("rates");
        MapHandle::from_pinned_path(&pin).map(Rates).map_err(Error::bpf(format!("opening {}", pin.display())))
    }

    /// Sets the rate of a socket of this process.
    ///
    /// # Errors
    /// It is no socket, or there is no memory for it.
    pub fn set(&self, socket: impl AsFd, rate: Rate) -> Result<(), Error> {
        let key = socket.as_fd().as_raw_fd().to_ne_bytes();
        let value = rate.as_bps().to_ne_bytes();
        self.0.update(&key, &value, MapFlags::ANY).map_err(Error::bpf("telling the kernel a playback rate"))
    }
}
