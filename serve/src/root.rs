//! Access to the served folder, and to nothing outside.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};

/// An open folder: a name that leads out of it, even by a symbolic link, is not found.
#[derive(Debug)]
pub struct Root {
    path: PathBuf,
    folder: OwnedFd,
}

impl Root {
    /// Opens a folder.
    ///
    /// # Errors
    /// The path is not a folder, or may not be read.
    pub fn open(path: &Path) -> io::Result<Root> {
        let folder = open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Root { path: path.to_owned(), folder })
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a folder in the folder; an empty name is itself.
    ///
    /// # Errors
    /// There is no such folder, or it may not be read.
    pub(crate) fn folder(&self, name: &Path) -> io::Result<OwnedFd> {
        let name = if name.as_os_str().is_empty() { Path::new(".") } else { name };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let inside = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        Ok(openat2(&self.folder, name, flags, Mode::empty(), inside)?)
    }

    /// Opens a file in the folder for reading.
    ///
    /// # Errors
    /// There is no such file, it is not a regular file, or may not be read.
    pub fn file(&self, name: &Path) -> io::Result<File> {
        // Opening a pipe without a writer must not block.
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
