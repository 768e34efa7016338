//! The interface without the feature `gstreamer`.

use std::path::Path;

use thalweg_net::signal::Stop;

use crate::Error;

/// Runs the pipeline of a file.
///
/// # Errors
/// [`Error::NotBuilt`].
pub fn run(_file: &Path, _stop: &Stop, _report: impl FnMut(&str)) -> Result<(), Error> {
    Err(Error::NotBuilt)
}
