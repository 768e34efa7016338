//! What there is without the feature `bpf`: an answer.

use std::convert::Infallible;
use std::os::fd::AsFd;

use thalweg_core::law::window::tcp_stream::Thresholds;
use thalweg_core::units::Rate;

use crate::{Error, Loaded, Name, Settings, Status, Unloaded};

/// The playback rates of sockets: there are none.
#[derive(Debug)]
pub struct Rates(Infallible);

impl Rates {
    /// Opens those of a control that is loaded.
    ///
    /// # Errors
    /// [`Error::NotBuilt`].
    pub fn open(_name: &Name) -> Result<Rates, Error> {
        Err(Error::NotBuilt)
    }

    /// Whether these are of the control that is loaded now.
    pub fn is_current(&self) -> bool {
        match self.0 {}
    }

    /// Sets the rate of a socket of this process.
    ///
    /// # Errors
    /// None: there is nothing to set it of.
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

/// Looks at the control.
///
/// # Errors
/// [`Error::NotBuilt`].
pub fn status(_name: &Name) -> Result<Status, Error> {
    Err(Error::NotBuilt)
}

/// Takes the control away.
///
/// # Errors
/// [`Error::NotBuilt`].
pub fn unload(_name: &Name) -> Result<Unloaded, Error> {
    Err(Error::NotBuilt)
}

/// The thresholds of a control that is loaded.
///
/// # Errors
/// [`Error::NotBuilt`].
pub fn thresholds(_name: &Name) -> Result<Thresholds, Error> {
    Err(Error::NotBuilt)
}
