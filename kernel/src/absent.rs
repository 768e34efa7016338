//! What there is without the feature `bpf`: an answer.

use crate::{Error, Name, Settings, Status};

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
