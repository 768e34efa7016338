//! Files that are gone when their owner is.

use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

use crate::job::Job;

/// A file in the temporary directory, under a name that nobody else has.
#[derive(Debug)]
pub struct Scrap(PathBuf);

impl Scrap {
    /// With this content.
    pub fn write(text: &str) -> Result<Scrap, String> {
        let scrap = Scrap::unwritten();
        fs::write(&scrap.0, text).map_err(|error| format!("cannot write {}: {error}", scrap.0.display()))?;
        Ok(scrap)
    }

    /// A new key, shared by both ends of a tunnel.
    pub fn key(binary: &Path) -> Result<Scrap, String> {
        let scrap = Scrap::unwritten();
        let mut keygen = Command::new(binary);
        keygen.arg("keygen").arg(&scrap.0);
        Job::run(keygen)?;
        Ok(scrap)
    }

    fn unwritten() -> Scrap {
        static NTH: AtomicU32 = AtomicU32::new(0);
        let name = format!("thalweg-bench-{}-{}", process::id(), NTH.fetch_add(1, Ordering::Relaxed));
        Scrap(env::temp_dir().join(name))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scrap {
    fn drop(&mut self) {
        // A file too many in the temporary directory harms nobody.
        let _ = fs::remove_file(&self.0);
    }
}
