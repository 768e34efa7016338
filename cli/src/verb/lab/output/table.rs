//! Files that are written as runs end.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use thalweg_net::error::plain;

use crate::failure::Failure;
use crate::verb::lab::failed;

/// A file that is being written.
pub(super) struct Table {
    pub(super) path: PathBuf,
    writer: BufWriter<File>,
}

impl Table {
    pub(super) fn create(path: PathBuf, header: impl AsRef<[u8]>) -> Result<Table, Failure> {
        let file = File::create(&path).map_err(|error| refusal(&path, &error))?;
        let mut table = Table { path, writer: BufWriter::with_capacity(1 << 16, file) };
        table.write(header)?;
        table.flush()?;
        Ok(table)
    }

    pub(super) fn write(&mut self, text: impl AsRef<[u8]>) -> Result<(), Failure> {
        self.writer.write_all(text.as_ref()).map_err(|error| refusal(&self.path, &error))
    }

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.writer.flush().map_err(|error| refusal(&self.path, &error))
    }
}

pub(super) fn refusal(path: &Path, error: &io::Error) -> Failure {
    failed(format!("cannot write {}: {}", path.display(), plain(error)))
}
