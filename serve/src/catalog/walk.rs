//! The files of a folder and of those in it.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::root::Root;

/// Films and segments of films that are looked at.
const MAX_FILES: usize = 200_000;
/// Folders in folders.
const MAX_DEPTH: usize = 16;

/// What tells whether a file has changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Stamp {
    /// In bytes.
    pub(super) len: u64,
    inode: u64,
    /// When its content was last modified, and its content or its inode changed: seconds and nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(file: &Metadata) -> Stamp {
        let (modified, changed) = ((file.mtime(), file.mtime_nsec()), (file.ctime(), file.ctime_nsec()));
        Stamp { len: file.len(), inode: file.ino(), modified, changed }
    }
}

/// What is in a folder.
#[derive(Default)]
pub(super) struct Found {
    pub(super) files: BTreeMap<String, Stamp>,
    pub(super) faults: Vec<(String, String)>,
}

impl Found {
    /// A digest of all of it: another one as soon as anything has changed.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.files, &self.faults).hash(&mut hasher);
        hasher.finish()
    }
}

/// Everything but what is hidden, leads out of the folder, or has no name in UTF-8.
pub(super) fn walk(root: &Root) -> io::Result<Found> {
    let mut found = Found::default();
    let mut folders = vec![(String::new(), 0)];
    while let Some((name, depth)) = folders.pop() {
        let entries = match fs::read_dir(root.path().join(&name)) {
            Ok(entries) => entries,
            Err(error) if name.is_empty() => return Err(error),
            Err(error) => {
                found.faults.push((name, format!("it cannot be read: {error}")));
                continue;
            }
        };
        for entry in entries.filter_map(Result::ok) {
            let Some(own) = entry.file_name().to_str().filter(|own| !own.starts_with('.')).map(str::to_owned) else {
                continue;
            };
            let below = if name.is_empty() { own } else { format!("{name}/{own}") };
            match kind(root, &entry, &below) {
                Some(metadata) if metadata.is_dir() && depth < MAX_DEPTH => folders.push((below, depth + 1)),
                Some(metadata) if metadata.is_file() => {
                    found.files.insert(below, Stamp::of(&metadata));
                }
                _ => {}
            }
            if found.files.len() == MAX_FILES {
                found.faults.push((name, format!("over {MAX_FILES} files; what is left of them has no rate")));
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// What an entry is. Links to files are followed inside the root; those to folders could go round in circles.
fn kind(root: &Root, entry: &DirEntry, name: &str) -> Option<Metadata> {
    match entry.file_type().ok()?.is_symlink() {
        true => root.file(Path::new(name)).ok()?.metadata().ok(),
        false => entry.metadata().ok(),
    }
}
