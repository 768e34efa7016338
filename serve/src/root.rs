//! The folder that is served, and nothing else.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};

/// A folder that is open: what leads out of it, also by a symbolic link, is not found.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    folder: OwnedFd,
}

impl Root {
    /// Opens a folder.
    ///
    /// # Errors
    /// It is no folder, or may not be read.
    pub fn open(path: &Path) -> io::Result<Root> {
        let folder = open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Root { path: path.to_owned(), folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file in it, to be read.
    ///
    /// # Errors
    /// There is no such file, it is no file, or may not be read.
    pub fn file(&self, name: &Path) -> io::Result<File> {
        // A pipe that nobody writes to must not hold up who opens it.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let inside = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let file = match openat2(&self.folder, name, flags, Mode::empty(), inside) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::XDEV) => return Err(ErrorKind::NotFound.into()),
            Err(error) => return Err(error.into()),
        };
        if file.metadata()?.is_file() { Ok(file) } else { Err(ErrorKind::NotFound.into()) }
    }
}
