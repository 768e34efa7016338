//! What there is without the feature `bpf`: an answer.

use std::convert::Infallible;
use std::os::fd::AsFd;

use thalweg_core::units::Rate;

use crate::{Error, Name, Settings, Status};

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
pub fn load(_name: &Name, _settings: &Settings) -> Result<(), Error> {
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
pub fn unload(_name: &Name) -> Result<usize, Error> {
    Err(Error::NotBuilt)
}
