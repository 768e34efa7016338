//! The interface without the feature `bpf`: each call fails.

use std::convert::Infallible;
use std::os::fd::AsFd;

use thalweg_core::law::window::tcp_stream::Thresholds;
use thalweg_core::units::Rate;

use crate::{Error, Loaded, Name, Settings, Status, Unloaded};

/// The playback rates of sockets; no value of this type exists.
#[derive(Debug)]
pub struct Rates(Infallible);

impl Rates {
    /// Opens the rates of a loaded control.
    ///
    /// # Errors
    /// [`Error::NotBuilt`].
    pub fn open(_name: &Name) -> Result<Rates, Error> {
        Err(Error::NotBuilt)
    }

    /// True if these rates are of the control that is loaded now.
    pub fn is_current(&self) -> bool {
        match self.0 {}
    }

    /// Sets the rate of a socket of this process.
    ///
    /// # Errors
    /// None: no value of this type exists.
    pub fn set(&self, _socket: impl AsFd, _rate: Rate) -> Result<(), Error> {
        match self.0 {}
    }
}

/// Registers the control.
///
/// # Errors
/// [`Error::NotBuilt`].
pub fn load(_name: &Name, _settings: &Settings) -> Result<Loaded, Error> {
    Err(Error::NotBuilt)
}

/// Reads the settings of a control, and the connections that use it.
///
/// # Errors
/// [`Error::NotBuilt`].
pub fn status(_name: &Name) -> Result<Status, Error> {
    Err(Error::NotBuilt)
}

/// Unregisters the control.
///
/// # Errors
/// [`Error::NotBuilt`].
pub fn unload(_name: &Name) -> Result<Unloaded, Error> {
    Err(Error::NotBuilt)
}

/// Reads the thresholds of a loaded control.
///
/// # Errors
/// [`Error::NotBuilt`].
pub fn thresholds(_name: &Name) -> Result<Thresholds, Error> {
    Err(Error::NotBuilt)
}
