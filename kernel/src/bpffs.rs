//! The pins of the controls: below `/sys/fs/bpf/thalweg`, in a folder for each control.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock, statfs};
use rustix::mount::{MountFlags, mount};

use crate::{Error, Name};

const BPFFS: &str = "/sys/fs/bpf";
/// BPF_FS_MAGIC of linux/magic.h.
const MAGIC: u64 = 0xcafe_4a11;

/// The lock on all pins, held until this is dropped: two loaders at a time would remove each other's pins.
#[derive(Debug)]
pub(crate) struct Turn(#[allow(dead_code, reason = "its lock is what counts")] File);

impl Turn {
    /// Mounts the file system if it is not mounted yet, and waits for the lock.
    pub(crate) fn take() -> Result<Turn, Error> {
        let tried = format!("mounting {BPFFS}");
        let found = statfs(BPFFS).map_err(Error::io("looking for the BPF file system"))?;
        if found.f_type as u64 != MAGIC {
            mount("bpf", BPFFS, "bpf", MountFlags::empty(), c"mode=0700").map_err(Error::io(tried))?;
        }
        let root = Path::new(BPFFS).join("thalweg");
        let tried = format!("locking {}", root.display());
        fs::create_dir_all(&root).map_err(Error::io(&tried))?;
        let folder = File::open(&root).map_err(Error::io(&tried))?;
        flock(&folder, FlockOperation::LockExclusive).map_err(Error::io(&tried))?;
        Ok(Turn(folder))
    }
}

/// The names of all controls with a pinned registration, sorted.
pub(crate) fn registrations() -> Vec<String> {
    let folders = fs::read_dir(Path::new(BPFFS).join("thalweg")).into_iter().flatten().flatten();
    let pinned = folders.filter(|folder| folder.path().join("link").exists());
    let mut names: Vec<String> = pinned.filter_map(|folder| folder.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// The folder of a control.
pub(crate) fn folder(name: &Name) -> PathBuf {
    Path::new(BPFFS).join("thalweg").join(name.as_str())
}

/// A folder of pins that is removed on drop unless it is kept.
#[derive(Debug)]
pub(crate) struct Pins {
    folder: PathBuf,
    kept: bool,
}

impl Pins {
    /// Creates the folder anew: pins without a registration were left by a loader that was killed.
    pub(crate) fn make(folder: PathBuf) -> Result<Pins, Error> {
        sweep(&folder);
        fs::create_dir(&folder).map_err(Error::io(format!("creating {}", folder.display())))?;
        Ok(Pins { folder, kept: false })
    }

    /// The path of a pin.
    pub(crate) fn path(&self, pin: &str) -> PathBuf {
        self.folder.join(pin)
    }

    /// Keeps all pins.
    pub(crate) fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Pins {
    fn drop(&mut self) {
        if !self.kept {
            sweep(&self.folder);
        }
    }
}

/// Removes a folder of pins, if it exists.
pub(crate) fn sweep(folder: &Path) {
    for pin in fs::read_dir(folder).into_iter().flatten().flatten() {
        let _ = fs::remove_file(pin.path());
    }
    let _ = fs::remove_dir(folder);
}
