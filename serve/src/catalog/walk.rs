//! The files of a folder and of its subfolders.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::root::Root;

/// Limit on the files of a scan.
const MAX_FILES: usize = 200_000;
/// Limit on the depth of nested folders.
const MAX_DEPTH: usize = 16;

/// The properties that show if a file has changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Stamp {
    /// The length in bytes.
    pub(super) len: u64,
    inode: u64,
    /// Times of the last modification of its content, and of the last change of content or inode: seconds and
    /// nanoseconds.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(file: &Metadata) -> Stamp {
        let (modified, changed) = ((file.mtime(), file.mtime_nsec()), (file.ctime(), file.ctime_nsec()));
        Stamp { len: file.len(), inode: file.ino(), modified, changed }
    }

    /// All of it as numbers.
    pub(super) fn words(&self) -> [u64; 6] {
        let (modified, changed) = (self.modified, self.changed);
        [self.len, self.inode, modified.0 as u64, modified.1 as u64, changed.0 as u64, changed.1 as u64]
    }
}

/// The contents of a folder.
#[derive(Default)]
pub(super) struct Found {
    pub(super) files: BTreeMap<String, Stamp>,
    pub(super) faults: Vec<(String, String)>,
}

impl Found {
    /// A digest of all contents, which changes with any of them.
    pub(super) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.files, &self.faults).hash(&mut hasher);
        hasher.finish()
    }
}

/// Lists everything except hidden files, links out of the folder and names that are not UTF-8.
pub(super) fn walk(root: &Root) -> io::Result<Found> {
    let mut found = Found::default();
    let mut folders = vec![(String::new(), 0)];
    while let Some((name, depth)) = folders.pop() {
        let entries = match fs::read_dir(root.path().join(&name)) {
            Ok(entries) => entries,
            Err(error) if name.is_empty() => return Err(error),
            Err(error) => {
                found.faults.push((name, format!("cannot be read: {error}")));
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
                found
                    .faults
                    .push((name, format!("more than {MAX_FILES} files; the rates of the remaining ones are not read")));
                return Ok(found);
            }
        }
    }
    Ok(found)
}

/// The metadata of an entry. Links to files are followed inside the root; those to folders, which could form loops, are
/// not.
fn kind(root: &Root, entry: &DirEntry, name: &str) -> Option<Metadata> {
    match entry.file_type().ok()?.is_symlink() {
        true => root.file(Path::new(name)).ok()?.metadata().ok(),
        false => entry.metadata().ok(),
    }
}
