//! Key files: created once, writable by their owner, readable by owner and group; and protection of processes with
//! keys.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use thalweg_core::session::secure::Key;
use zeroize::Zeroizing;

use crate::Error;

/// Limit in bytes on a key file; a real one is far shorter, however many peers it admits.
const LONGEST: u64 = 1 << 20;

/// Reads and parses a key file.
///
/// # Errors
/// The file cannot be read, its group can write it or others can access it, or it is not a key file; the message is one
/// line.
pub fn read(path: &Path) -> Result<Key, Error> {
    let tried = format!("key file {}", path.display());
    let text = open(path).and_then(|file| {
        // A growing buffer would leave copies of the key behind.
        let len = file.metadata()?.len().min(LONGEST) as usize;
        let mut text = Zeroizing::new(String::with_capacity(len + 1));
        file.take(LONGEST).read_to_string(&mut text).map(|_| text)
    });
    let text = text.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => Error::new(&tried, "not a key file: it is not text"),
        _ => Error::io(&tried)(error),
    })?;
    Key::parse(&text).map_err(|error| Error::new(&tried, error))
}

/// Writes a new key file with mode 0600.
///
/// # Errors
/// The file exists already, or cannot be written.
pub fn create(path: &Path, key: &Key) -> Result<(), Error> {
    let tried = format!("key file {}", path.display());
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let file = file.and_then(|mut file| file.write_all(key.emit().as_bytes()).and_then(|()| file.sync_all()));
    file.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::new(&tried, "already exists; it was not changed"),
        _ => Error::io(&tried)(error),
    })
}

fn open(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    let mode = file.metadata()?.mode();
    let fault = match mode {
        _ if mode & 0o004 != 0 => "readable by everyone",
        _ if mode & 0o007 != 0 => "accessible to everyone",
        _ if mode & 0o020 != 0 => "writable by its group",
        _ => return Ok(file),
    };
    // Only the mode of a regular file counts: pipes and the like have modes of their own.
    if !file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::other(format!("{fault} (mode {:04o}): run `chmod 600 {}`", mode & 0o7777, path.display())))
}

/// Keeps the memory of this process out of core dumps, and from other processes of the same user (`PR_SET_DUMPABLE`,
/// prctl(2)).
///
/// # Errors
/// The kernel refuses; one line.
pub fn guard_memory() -> Result<(), Error> {
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| Error::io("disabling core dumps")(error.into()))
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
    fn key_file_is_private_and_never_overwritten() {
        let path = folder("create").join("k");
        let key = Key::shared(&mut crate::entropy::keys().unwrap());
        create(&path, &key).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(read(&path), Ok(key.clone()));
        let other = Key::shared(&mut crate::entropy::keys().unwrap());
        let error = create(&path, &other).unwrap_err().to_string();
        assert!(error.contains("/k: already exists"), "{error}");
        assert_eq!(read(&path), Ok(key));
    }

    #[test]
    fn guarded_process_is_not_dumped() {
        guard_memory().unwrap();
        assert_eq!(rustix::process::dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }

    #[test]
    fn unusable_key_files_are_refused_in_one_line() {
        let folder = folder("wrong");
        let path = folder.join("k");
        let reported = |bytes: &[u8], mode: u32| {
            fs::write(&path, bytes).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let error = read(&path).unwrap_err().to_string();
            error.split_once("/k: ").map(|(_, reason)| reason.to_owned()).unwrap_or(error)
        };
        for (bytes, mode, words) in [
            (&b""[..], 0o600, "empty"),
            (b"thalw", 0o600, "first line"),
            (b"thalweg-key 1 sha", 0o600, "first line"),
            (b"-----BEGIN", 0o600, "`thalweg-key 1`"),
            (&[0xff; 100], 0o600, "not text"),
            (b"thalweg-key 1 shared\nsecret 0123", 0o600, "line 2 has 4 digits"),
            (b"thalweg-key 1 shared\n", 0o640, "`secret` is missing"),
        ] {
            let reported = reported(bytes, mode);
            assert!(reported.contains(words) && reported.lines().count() == 1, "{reported}");
        }
        for (mode, fault) in [
            (0o644, "readable by everyone"),
            (0o602, "accessible to everyone"),
            (0o601, "accessible to everyone"),
            (0o620, "writable by its group"),
        ] {
            let reported = reported(b"thalweg-key 1 shared\n", mode);
            let expected = format!("{fault} (mode {mode:04o}): run `chmod 600 ");
            assert!(reported.starts_with(&expected), "{reported}");
        }
        let missing = read(&folder.join("none")).unwrap_err().to_string();
        assert!(missing.ends_with("none: no such file or directory"), "{missing}");
        let directory = read(&folder).unwrap_err().to_string();
        assert!(directory.ends_with(": is a directory"), "{directory}");
    }
}
