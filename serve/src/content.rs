//! A range of a file, as bytes in pieces, independent of HTTP.

use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, IoSliceMut};
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::Arc;
use std::time::SystemTime;

use hyper::body::Bytes;
use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// An open file, and its metadata when it was opened.
#[derive(Debug)]
pub struct Opened {
    file: File,
    was: Metadata,
}

impl Opened {
    /// Takes a file that was opened just now.
    ///
    /// # Errors
    /// The metadata cannot be read.
    pub fn new(file: File) -> io::Result<Opened> {
        Ok(Opened { was: file.metadata()?, file })
    }

    /// The length in bytes.
    pub fn len(&self) -> u64 {
        self.was.len()
    }

    /// True if the file is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The time of the last modification.
    pub fn modified(&self) -> io::Result<SystemTime> {
        self.was.modified()
    }

    /// A strong entity tag (RFC 9110 §8.8.3), different for another file or other content.
    pub fn tag(&self) -> String {
        let was = &self.was;
        format!("\"{:x}-{:x}-{:x}.{:x}\"", was.ino(), was.len(), was.mtime(), was.mtime_nsec())
    }

    /// True if the file was written to, truncated, replaced or removed since: its rest would not fit what has been
    /// sent.
    fn has_changed(&self) -> io::Result<bool> {
        let is = self.file.metadata()?;
        let stamp = |file: &Metadata| (file.len(), file.mtime(), file.mtime_nsec());
        Ok(stamp(&is) != stamp(&self.was) || is.nlink() == 0)
    }
}

/// The part of a file that is still to be sent.
#[derive(Clone, Debug)]
pub struct Piece {
    file: Arc<Opened>,
    rest: Range<u64>,
}

impl Piece {
    /// A range of a file.
    pub fn new(file: Arc<Opened>, range: Range<u64>) -> Piece {
        Piece { file, rest: range }
    }

    /// The number of bytes left.
    pub fn left(&self) -> u64 {
        self.rest.end.saturating_sub(self.rest.start)
    }

    /// The next bytes, at most `most`, if they can be read without waiting.
    ///
    /// # Errors
    /// The file has changed, or cannot be read.
    pub fn at_once(&mut self, most: usize) -> io::Result<Option<Bytes>> {
        let mut bytes = vec![0; self.next(most)];
        let read = {
            let mut slices = [IoSliceMut::new(&mut bytes)];
            preadv2(&self.file.file, &mut slices, self.rest.start, ReadWriteFlags::NOWAIT)
        };
        match read {
            Ok(len) if len > 0 => self.take(bytes, len).map(Some),
            // Not in memory, or not supported by the file system.
            Ok(_) | Err(Errno::AGAIN | Errno::OPNOTSUPP | Errno::INTR | Errno::NOSYS) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the next bytes, at most `most`, however long that takes.
    ///
    /// # Errors
    /// The file has changed, or cannot be read.
    pub fn wait(&mut self, most: usize) -> io::Result<Bytes> {
        let mut bytes = vec![0; self.next(most)];
        let len = loop {
            match self.file.file.read_at(&mut bytes, self.rest.start) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        self.take(bytes, len)
    }

    fn next(&self, most: usize) -> usize {
        usize::try_from(self.left()).unwrap_or(usize::MAX).min(most)
    }

    /// Checks the file after the read, so that no byte of other content is sent.
    fn take(&mut self, mut bytes: Vec<u8>, len: usize) -> io::Result<Bytes> {
        if self.file.has_changed()? || (len == 0 && self.left() > 0) {
            return Err(io::Error::other("the file changed while it was sent"));
        }
        bytes.truncate(len);
        self.rest.start += len as u64;
        Ok(bytes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    fn video(name: &str) -> (PathBuf, Arc<Opened>) {
        let path = std::env::temp_dir().join(format!("thalweg-content-{}-{name}", std::process::id()));
        fs::write(&path, [7; 1000]).expect("a file");
        let opened = Opened::new(File::open(&path).expect("a file")).expect("it is there");
        (path, Arc::new(opened))
    }

    #[test]
    fn piece_ends_at_the_end_of_its_range() {
        let (path, video) = video("end");
        let mut piece = Piece::new(video, 100..900);
        assert_eq!(piece.wait(300).expect("bytes").len(), 300);
        let next = piece.at_once(10_000).expect("bytes").unwrap_or_else(|| piece.wait(10_000).expect("bytes"));
        assert_eq!((next.len(), piece.left()), (500, 0));
        fs::remove_file(path).expect("it is there");
    }

    #[test]
    fn changed_or_removed_file_is_not_sent_further() {
        let fault = |name, path: &PathBuf| match name {
            "cut" => File::options().write(true).open(path).and_then(|file| file.set_len(500)),
            "written" => fs::write(path, [8; 1001]),
            "replaced" => {
                fs::write(path.with_extension("new"), [7; 1000])?;
                fs::rename(path.with_extension("new"), path)
            }
            _ => fs::remove_file(path),
        };
        for name in ["cut", "written", "replaced", "gone"] {
            let (path, video) = video(name);
            let tag = video.tag();
            let mut piece = Piece::new(video, 0..1000);
            assert_eq!(piece.wait(100).expect(name).len(), 100);
            fault(name, &path).expect(name);
            assert!(piece.at_once(100).is_err() || piece.wait(100).is_err(), "{name}");
            if let Ok(file) = File::open(&path) {
                assert_ne!(Opened::new(file).expect(name).tag(), tag, "{name}");
                fs::remove_file(path).expect(name);
            }
        }
    }
}
