//! Keys of `tunnel`, `pipe`, `send` and `recv`.

use std::path::{Path, PathBuf};

use thalweg_core::session::secure::{Entropy, Key, KeyError};
use thalweg_net::error::Error;
use thalweg_net::report::Report;
use thalweg_net::{entropy, key_file};

use crate::failure::Failure;

/// The key of a live stream, if it has one.
#[derive(clap::Args)]
pub(crate) struct Encryption {
    /// Encrypt everything, with a key file as `thalweg keygen FILE` writes it: the same for both sides, or with --static
    /// one for each. Without this option, RTP is in the clear
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

impl Encryption {
    pub(crate) fn is_given(&self) -> bool {
        self.key_file.is_some()
    }

    /// The key, if there is one, after which no other process can read the memory of this one.
    pub(crate) fn key(&self) -> Result<Option<Key>, Failure> {
        self.key_file.as_deref().map(read).transpose()
    }

    /// The failure of a key that does not suit this side.
    pub(crate) fn wrong(&self, error: KeyError) -> Failure {
        wrong(self.key_file.as_deref().unwrap_or(Path::new("")), &error)
    }

    /// `opening` with the information whether the stream is encrypted.
    pub(crate) fn described(&self, opening: Report) -> Report {
        let text = if self.is_given() { ", encrypted" } else { "; RTP in the clear: --key-file encrypts" };
        opening.with("encryption", if self.is_given() { "key" } else { "none" }).text_with(text)
    }
}

/// Reads a key file, and guards the memory of this process.
pub(crate) fn read(file: &Path) -> Result<Key, Failure> {
    key_file::guard_memory()?;
    Ok(key_file::read(file)?)
}

/// The failure of a key that does not suit its side.
pub(crate) fn wrong(file: &Path, error: &KeyError) -> Failure {
    Failure::Failed(format!("key file {}: {error}", file.display()))
}

/// A source of keys for associations.
pub(crate) fn keys() -> Result<Entropy, Failure> {
    Ok(entropy::keys().map_err(Error::io("drawing random keys"))?)
}
