//! The files in which indexes are kept from one start to the next.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, open, openat, renameat, unlinkat};

use super::{MAX_FRAMES, coding};
use crate::root::Root;

/// The folder beside a video, which is hidden, so that it is neither listed nor served.
const BESIDE: &str = ".thalweg";
/// The end of a file's name.
const EXTENSION: &str = "index";
/// Limit in bytes on a file: two tracks with as many frames as are indexed.
const MAX_FILE: u64 = 2 * coding::FRAME as u64 * MAX_FRAMES as u64 + (1 << 20);

/// The place of the files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Keep {
    /// Beside each video, in the folder `.thalweg`.
    Beside,
    /// In a folder of their own, with the subfolders of the videos.
    In(PathBuf),
}

impl Keep {
    /// Reads the file of a video; none if there is none.
    pub(super) fn read(&self, root: &Root, name: &str) -> io::Result<Option<Vec<u8>>> {
        let opened = self.folder(root, name, false).and_then(|folder| {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            Ok(File::from(openat(folder, file(name)?, flags, Mode::empty())?))
        });
        let file = match opened {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            opened => opened?,
        };
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() > MAX_FILE {
            return Err(io::Error::other("not a file of this size"));
        }
        let mut bytes = Vec::with_capacity(metadata.len() as usize);
        file.take(MAX_FILE).read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    /// Writes the file of a video; readers see the old one or the new one.
    pub(super) fn write(&self, root: &Root, name: &str, bytes: &[u8]) -> io::Result<()> {
        let folder = self.folder(root, name, true)?;
        let (own, new) = (file(name)?, format!("new-{}", std::process::id()));
        let _ = unlinkat(&folder, &*new, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o644);
        let written = File::from(openat(&folder, &*new, flags, mode)?)
            .write_all(bytes)
            .and_then(|()| Ok(renameat(&folder, &*new, &folder, &*own)?));
        if written.is_err() {
            let _ = unlinkat(&folder, &*new, AtFlags::empty());
        }
        written
    }

    /// The folder of a video's file.
    fn folder(&self, root: &Root, name: &str, create: bool) -> io::Result<OwnedFd> {
        let parent = Path::new(name).parent().unwrap_or(Path::new(""));
        if !parent.components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match self {
            Keep::Beside => {
                let folder = root.folder(parent)?;
                if create {
                    match mkdirat(folder.as_fd(), BESIDE, Mode::from_raw_mode(0o755)) {
                        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                }
                // A link could lead out of the videos.
                Ok(openat(folder, BESIDE, flags | OFlags::NOFOLLOW, Mode::empty())?)
            }
            Keep::In(path) => {
                let path = path.join(parent);
                if create {
                    std::fs::create_dir_all(&path)?;
                }
                Ok(open(&path, flags, Mode::empty())?)
            }
        }
    }
}

/// The name of a video's file.
fn file(name: &str) -> io::Result<String> {
    let own = Path::new(name).file_name().and_then(|own| own.to_str()).ok_or(ErrorKind::InvalidInput)?;
    Ok(format!("{own}.{EXTENSION}"))
}
