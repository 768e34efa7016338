//! Files that are written as runs end.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use crate::error::{Error, FileError};

/// A file that is being written.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) path: PathBuf,
    writer: BufWriter<File>,
}

impl Table {
    pub(super) fn create(path: PathBuf, header: impl AsRef<[u8]>) -> Result<Table, Error> {
        let file = File::create(&path).map_err(FileError::writing(&path))?;
        let mut table = Table { path, writer: BufWriter::with_capacity(1 << 16, file) };
        table.write(header)?;
        table.flush()?;
        Ok(table)
    }

    pub(super) fn write(&mut self, text: impl AsRef<[u8]>) -> Result<(), Error> {
        Ok(self.writer.write_all(text.as_ref()).map_err(FileError::writing(&self.path))?)
    }

    pub(super) fn flush(&mut self) -> Result<(), Error> {
        Ok(self.writer.flush().map_err(FileError::writing(&self.path))?)
    }
}
