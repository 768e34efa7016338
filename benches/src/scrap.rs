//! Temporary files, which are removed when dropped.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

use crate::job::Job;
use crate::noise;

/// A file or folder in the temporary directory, under a unique name.
#[derive(Debug)]
pub struct Scrap(PathBuf);

impl Scrap {
    /// Creates a file with this content.
    pub fn write(text: &str) -> Result<Scrap, String> {
        let scrap = Scrap::unwritten();
        fs::write(&scrap.0, text).map_err(|error| format!("cannot write {}: {error}", scrap.0.display()))?;
        Ok(scrap)
    }

    /// Creates an empty folder.
    pub fn empty_folder() -> Result<Scrap, String> {
        let scrap = Scrap::unwritten();
        fs::create_dir(&scrap.0).map_err(|error| format!("cannot create {}: {error}", scrap.0.display()))?;
        Ok(scrap)
    }

    /// Creates a key file for both ends of a tunnel.
    pub fn key(binary: &Path) -> Result<Scrap, String> {
        let scrap = Scrap::unwritten();
        let mut keygen = Command::new(binary);
        keygen.arg("keygen").arg(&scrap.0);
        Job::run(keygen)?;
        Ok(scrap)
    }

    /// Creates a folder with one file of pseudorandom bytes, cached as if read from the disk: a file that has just been
    /// written is cached in larger pieces.
    pub fn folder(name: &str, bytes: u64) -> Result<Scrap, String> {
        let scrap = Scrap::unwritten();
        let fill = || -> io::Result<()> {
            fs::create_dir(&scrap.0)?;
            let mut file = File::create(scrap.0.join(name))?;
            let piece = noise(&mut 1, 1 << 20);
            let mut left = bytes;
            while left > 0 {
                let len = left.min(piece.len() as u64);
                file.write_all(&piece[..len as usize])?;
                left -= len;
            }
            file.sync_all()?;
            // SAFETY: this call has no pointers.
            unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
            io::copy(&mut File::open(scrap.0.join(name))?, &mut io::sink()).map(|_| ())
        };
        fill().map_err(|error| format!("cannot fill {}: {error}", scrap.0.display()))?;
        Ok(scrap)
    }

    fn unwritten() -> Scrap {
        static NTH: AtomicU32 = AtomicU32::new(0);
        let name = format!("thalweg-bench-{}-{}", process::id(), NTH.fetch_add(1, Ordering::Relaxed));
        Scrap(env::temp_dir().join(name))
    }

    /// The path of the file or folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scrap {
    fn drop(&mut self) {
        // A file left in the temporary directory is harmless.
        let _ = if self.0.is_dir() { fs::remove_dir_all(&self.0) } else { fs::remove_file(&self.0) };
    }
}
