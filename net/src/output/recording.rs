//! Recordings: regular files, each created with the first media of a stream.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::report::Report;
use crate::spool::Spool;

/// Names that are tried for one stream before the recording fails.
const NAMES: u32 = 10_000;

/// Treatment of a file that exists before its recording begins.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Existing {
    /// The file stays as it is: the output is refused, or, if the file was created after the start, has another name.
    #[default]
    Keep,
    /// The first stream replaces the file, unless that was created after the start.
    Overwrite,
    /// Every stream is appended to the file.
    Append,
}

/// The files of the streams that one output records: `out.ts`, `out-2.ts`, `out-3.ts`.
#[derive(Debug)]
pub(super) struct Recording {
    path: PathBuf,
    existing: Existing,
    /// The file of the current stream.
    spool: Option<Spool>,
    /// Number in the name of the next file.
    next: u32,
    /// Datagrams dropped by files that are closed.
    dropped: u64,
    error: Option<io::Error>,
    notice: Option<Report>,
}

impl Recording {
    /// True if `path` is a file, present or not, rather than a pipe or a device, which are opened at once.
    pub(super) fn is_for(path: &Path) -> bool {
        path.metadata().map_or(true, |metadata| metadata.is_file() || metadata.is_dir())
    }

    /// A recording to `path`; nothing is created or changed yet.
    pub(super) fn new(path: &Path, existing: Existing) -> io::Result<Recording> {
        match (path.metadata(), existing) {
            (Ok(metadata), _) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            (Ok(_), Existing::Keep) => return Err(io::ErrorKind::AlreadyExists.into()),
            (Ok(_), _) => drop(OpenOptions::new().append(true).open(path)?),
            (Err(_), _) => {
                let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
                access(parent, Access::WRITE_OK | Access::EXEC_OK)?;
            }
        }
        let is_new = existing == Existing::Overwrite && !path.exists();
        let (path, existing) = (path.to_owned(), if is_new { Existing::Keep } else { existing });
        Ok(Recording { path, existing, spool: None, next: 1, dropped: 0, error: None, notice: None })
    }

    /// Takes media of the current stream.
    pub(super) fn put(&mut self, bytes: &[u8]) {
        if self.error.is_some() {
            return;
        }
        if self.spool.is_none() {
            match self.create() {
                Ok(file) => self.spool = Some(Spool::new(file)),
                Err(error) => self.error = Some(error),
            }
        }
        if let Some(spool) = &mut self.spool {
            spool.put(bytes);
        }
    }

    /// Writes the taken media.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        match self.error.take() {
            Some(error) => Err(error),
            None => self.spool.as_mut().map_or(Ok(()), Spool::flush),
        }
    }

    /// Closes the file of the current stream; media that follows belongs to another stream.
    pub(super) fn end_stream(&mut self) {
        if let Some(mut spool) = self.spool.take() {
            self.error = spool.flush().err();
            self.dropped += spool.dropped();
        }
    }

    /// Datagrams dropped because the spool was full.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped + self.spool.as_ref().map_or(0, Spool::dropped)
    }

    /// The report that names a newly opened file.
    pub(super) fn poll_notice(&mut self) -> Option<Report> {
        self.notice.take()
    }

    /// Opens the file of a new stream.
    fn create(&mut self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        let first = self.next == 1;
        let (path, file) = match self.existing {
            Existing::Append => (self.path.clone(), options.append(true).create(true).open(&self.path)?),
            Existing::Overwrite if first => {
                (self.path.clone(), options.write(true).create(true).truncate(true).open(&self.path)?)
            }
            // Another program may have made a file of this name since the start.
            Existing::Keep | Existing::Overwrite => self.create_new()?,
        };
        let mut text = format!("recording to {}", path.display());
        if first && path != self.path {
            text += &format!("; {} was created by another program meanwhile and is not changed", self.path.display());
        }
        self.notice = Some(Report::new("recording", text).with("file", path.display()));
        self.next = self.next.max(2);
        Ok(file)
    }

    /// Creates the first of the numbered files that does not exist yet.
    fn create_new(&mut self) -> io::Result<(PathBuf, File)> {
        for number in self.next..self.next.saturating_add(NAMES) {
            let path = numbered(&self.path, number);
            match File::create_new(&path) {
                Ok(file) => {
                    self.next = number + 1;
                    return Ok((path, file));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

/// The name of a stream's file, such as `out-2.ts` for `out.ts`; that of the first is the path itself.
fn numbered(path: &Path, number: u32) -> PathBuf {
    if number < 2 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Directory(PathBuf);

    impl Directory {
        fn new(name: &str) -> Directory {
            let path = std::env::temp_dir().join(format!("thalweg-recording-{}-{name}", std::process::id()));
            std::fs::create_dir(&path).expect("a temporary directory");
            Directory(path)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }

        fn write(&self, name: &str, contents: &str) {
            std::fs::write(self.path(name), contents).expect("our own directory");
        }

        fn read(&self, name: &str) -> String {
            std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
        }

        fn names(&self) -> Vec<String> {
            let entries = std::fs::read_dir(&self.0).expect("our own directory").flatten();
            let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Directory {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// Records a stream, and returns the line that names its file.
    fn record(recording: &mut Recording, media: &str) -> String {
        recording.put(media.as_bytes());
        recording.flush().expect("the disk has room");
        let notice = recording.poll_notice().expect("the file's name");
        assert_eq!(recording.poll_notice(), None);
        recording.end_stream();
        notice.text
    }

    #[test]
    fn file_is_created_with_the_first_media_of_each_stream() {
        let directory = Directory::new("own");
        let mut recording = Recording::new(&directory.path("a.b.ts"), Existing::Keep).expect("a directory");
        assert_eq!(directory.names(), [""; 0]);
        assert!(record(&mut recording, "one").ends_with("/a.b.ts"));
        // A name that is taken is skipped.
        directory.write("a.b-2.ts", "not ours");
        assert!(record(&mut recording, "two").ends_with("/a.b-3.ts"));
        record(&mut recording, "three");
        assert_eq!(directory.names(), ["a.b-2.ts", "a.b-3.ts", "a.b-4.ts", "a.b.ts"]);
        let read = ["a.b.ts", "a.b-2.ts", "a.b-3.ts", "a.b-4.ts"].map(|name| directory.read(name));
        assert_eq!(read, ["one", "not ours", "two", "three"]);
    }

    #[test]
    fn file_created_meanwhile_is_kept_and_the_new_name_reported() {
        let directory = Directory::new("meanwhile");
        let open = |existing| Recording::new(&directory.path("out"), existing).expect("a directory");
        let mut recordings = [open(Existing::Keep), open(Existing::Overwrite)];
        directory.write("out", "not ours");
        for (recording, name) in recordings.iter_mut().zip(["out-2", "out-3"]) {
            let line = record(recording, name);
            assert!(line.contains(&format!("/{name}; ")) && line.contains("not changed"), "{line}");
            assert_eq!((directory.read("out"), directory.read(name)), ("not ours".into(), name.into()));
        }
    }

    #[test]
    fn existing_file_changes_only_on_request_and_with_the_first_media() {
        let directory = Directory::new("existing");
        directory.write("out.ts", "precious");
        let path = directory.path("out.ts");
        let refused = Recording::new(&path, Existing::Keep).expect_err("it exists");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);

        let mut appending = Recording::new(&path, Existing::Append).expect("it can be written");
        let mut overwriting = Recording::new(&path, Existing::Overwrite).expect("it can be written");
        assert_eq!(directory.read("out.ts"), "precious");
        record(&mut appending, ", one");
        record(&mut appending, ", two");
        assert_eq!(directory.read("out.ts"), "precious, one, two");
        record(&mut overwriting, "new");
        record(&mut overwriting, "newer");
        assert_eq!((directory.read("out.ts"), directory.read("out-2.ts")), ("new".into(), "newer".into()));
    }

    #[test]
    fn unwritable_path_is_refused_at_the_start() {
        let directory = Directory::new("nowhere");
        directory.write("file", "");
        for path in ["no/such/out.ts", "file/out.ts", "."] {
            assert!(Recording::new(&directory.path(path), Existing::Keep).is_err(), "{path}");
        }
        assert!(!Recording::is_for(Path::new("/dev/null")));
        assert!(Recording::is_for(&directory.path("file")) && Recording::is_for(&directory.path("new")));
    }
}
