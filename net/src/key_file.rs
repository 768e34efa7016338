//! Key files: made once, written by their owner alone, read by it and its group; and processes that hold what is in them.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use thalweg_core::session::secure::Key;
use zeroize::Zeroizing;

use crate::Error;

/// A key file is far shorter, however many peers it lets in.
const LONGEST: u64 = 1 << 20;

/// Reads a key file.
///
/// # Errors
/// It cannot be read, its group can write it or others can reach it, or it is no key file; one line.
pub fn read(path: &Path) -> Result<Key, Error> {
    let tried = format!("key file {}", path.display());
    let text = open(path).and_then(|file| {
        // What grows leaves copies behind.
        let len = file.metadata()?.len().min(LONGEST) as usize;
        let mut text = Zeroizing::new(String::with_capacity(len + 1));
        file.take(LONGEST).read_to_string(&mut text).map(|_| text)
    });
    let text = text.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Error::new(&tried, "no key file: it is no text"),
        _ => Error::io(&tried)(error),
    })?;
    Key::parse(&text).map_err(|error| Error::new(&tried, error))
}

/// Writes a new key file with mode 0600.
///
/// # Errors
/// There is such a file already, or it cannot be written.
pub fn create(path: &Path, key: &Key) -> Result<(), Error> {
    let tried = format!("key file {}", path.display());
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let file = file.and_then(|mut file| file.write_all(key.emit().as_bytes()).and_then(|()| file.sync_all()));
    file.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::new(&tried, "there is one already, and it is kept"),
        _ => Error::io(&tried)(error),
    })
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    let mode = file.metadata()?.mode();
    let fault = match mode {
        _ if mode & 0o004 != 0 => "everybody can read it",
        _ if mode & 0o007 != 0 => "everybody has rights to it",
        _ if mode & 0o020 != 0 => "its group can write it",
        _ => return Ok(file),
    };
    // Pipes and the like have modes of their own.
    if !file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::other(format!("{fault} (mode {:04o}): run `chmod 600 {}`", mode & 0o7777, path.display())))
}

/// Keeps the memory of this process out of core dumps, and from other processes of the same user (`PR_SET_DUMPABLE`, prctl(2)).
///
/// # Errors
/// The kernel refuses; one line.
pub fn guard_memory() -> Result<(), Error> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| Error::io("keeping keys out of core dumps")(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("thalweg-key-file-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir(&path).unwrap();
        path
    }

    #[test]
    fn a_key_file_is_its_owners_alone_and_never_overwritten() {
        let path = folder("create").join("k");
        let key = Key::shared(&mut crate::entropy::keys().unwrap());
        create(&path, &key).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read(&path), Ok(key.clone()));
        let other = Key::shared(&mut crate::entropy::keys().unwrap());
        let error = create(&path, &other).unwrap_err().to_string();
        assert!(error.ends_with("k: there is one already, and it is kept"), "{error}");
        assert_eq!(read(&path), Ok(key));
    }

    #[test]
    fn a_process_that_holds_keys_is_not_dumped() {
        guard_memory().unwrap();
        assert_eq!(rustix::process::dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }

    #[test]
    fn what_cannot_be_used_is_one_clear_line() {
        let folder = folder("wrong");
        let path = folder.join("k");
        let told = |bytes: &[u8], mode: u32| {
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = read(&path).unwrap_err().to_string();
            error.split_once("/k: ").map(|(_, reason)| reason.to_owned()).unwrap_or(error)
        };
        assert_eq!(told(b"", 0o600), "it is empty");
        assert_eq!(told(b"thalw", 0o600), "it ends within its first line: cut short?");
        assert_eq!(told(b"thalweg-key 1 sha", 0o600), "it ends within its first line: cut short?");
        assert_eq!(told(b"-----BEGIN", 0o600), "no key file: it does not begin with `thalweg-key 1`");
        assert_eq!(told(&[0xff; 100], 0o600), "no key file: it is no text");
        assert_eq!(
            told(b"thalweg-key 1 shared\nsecret 0123", 0o600),
            "line 2 has 4 digits and should have 64: cut short?"
        );
        let open = told(b"thalweg-key 1 shared\n", 0o644);
        assert!(open.starts_with("everybody can read it (mode 0644): run `chmod 600 "), "{open}");
        for (mode, fault) in
            [(0o602, "everybody has rights"), (0o601, "everybody has rights"), (0o620, "its group can")]
        {
            let told = told(b"thalweg-key 1 shared\n", mode);
            assert!(told.starts_with(fault) && told.contains(&format!("(mode {mode:04o})")), "{told}");
        }
        assert_eq!(told(b"thalweg-key 1 shared\n", 0o640), "there is no `secret`: cut short?");
        let missing = read(&folder.join("none")).unwrap_err().to_string();
        assert!(missing.ends_with("none: no such file or directory"), "{missing}");
        let directory = read(&folder).unwrap_err().to_string();
        assert!(directory.ends_with(": is a directory"), "{directory}");
    }
}
