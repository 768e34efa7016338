//! Writes to standard output.

use std::io::{self, Write};
use std::path::Path;

use thalweg_workbench::FileError;

/// Writes `text`. Returns true if the pipe is still open: a closed one is no error, as in `thalweg lab run ... | head`.
pub(crate) fn write(text: &str) -> Result<bool, FileError> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(FileError::writing(Path::new("standard output"))(error)),
    }
}
