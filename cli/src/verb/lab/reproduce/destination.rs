//! The destination of a page. A page takes hours: obstacles to writing it must be known before anything runs, and the
//! file that stood there before stays until the page is complete.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::refusal;
use crate::Failure;

/// More bytes than any page has; a provisional page reserves as many on the disk.
const PROVISIONAL_SIZE: usize = 2 << 20;

/// A file that will be written at the end.
pub(super) struct Destination {
    file: PathBuf,
    place: Place,
}

enum Place {
    /// A provisional file beside the destination.
    Beside(PathBuf),
    /// A pipe or a device, which no other file can replace.
    Open(File),
}

impl Destination {
    /// Puts `notice` beside `file`, in a provisional file as large as a page.
    pub(super) fn open(file: &Path, notice: &str) -> Result<Destination, Failure> {
        let there = match OpenOptions::new().append(true).open(file) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(refusal(file, &error)),
        };
        // A symbolic link is kept: its target is replaced.
        let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        if let Some(mut device) = there.filter(|_| !target.is_file()) {
            // Nothing is written, but a full device reports an error.
            device.write(b"").map_err(|error| refusal(file, &error))?;
            return Ok(Destination { file: file.to_owned(), place: Place::Open(device) });
        }
        let provisional = beside(&target, "provisional");
        let destination = Destination { file: target, place: Place::Beside(provisional.clone()) };
        fs::write(&provisional, format!("{notice}{}\n", " ".repeat(PROVISIONAL_SIZE)))
            .map_err(|error| refusal(&provisional, &error))?;
        Ok(destination)
    }

    /// Writes the complete page to its destination.
    pub(super) fn write_complete(self, page: &str) -> Result<(), Failure> {
        let to = self.file.clone();
        self.write(page, &to)
    }

    /// Writes an incomplete page beside the destination, or to the device, and returns its path.
    pub(super) fn write_interrupted(self, page: &str) -> Result<PathBuf, Failure> {
        let to = match &self.place {
            Place::Beside(_) => beside(&self.file, "interrupted"),
            Place::Open(_) => self.file.clone(),
        };
        self.write(page, &to)?;
        Ok(to)
    }

    fn write(mut self, page: &str, to: &Path) -> Result<(), Failure> {
        let written = match &mut self.place {
            Place::Beside(provisional) => fs::write(&*provisional, page).and_then(|()| fs::rename(&*provisional, to)),
            Place::Open(device) => device.write_all(page.as_bytes()),
        };
        written.map_err(|error| refusal(to, &error))
    }
}

/// Removes the provisional file if no page was written.
impl Drop for Destination {
    fn drop(&mut self) {
        if let Place::Beside(provisional) = &self.place {
            let _ = fs::remove_file(provisional);
        }
    }
}

/// `NAME-word.EXT` for `NAME.EXT`.
fn beside(file: &Path, word: &str) -> PathBuf {
    let mut name: OsString = file.file_stem().unwrap_or_default().to_owned();
    name.push("-");
    name.push(word);
    if let Some(extension) = file.extension() {
        name.push(".");
        name.push(extension);
    }
    file.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder of its own with a page of an earlier run.
    fn folder(name: &str) -> (PathBuf, PathBuf) {
        let folder = std::env::temp_dir().join(format!("thalweg-goal-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let page = folder.join("page.html");
        fs::write(&page, "earlier").expect("room");
        (folder, page)
    }

    fn open(file: &Path) -> Destination {
        Destination::open(file, "not yet").ok().expect("it can be written")
    }

    fn files(folder: &Path) -> Vec<(String, String)> {
        let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
        let mut files: Vec<_> = files
            .map(|file| {
                let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
                (name, fs::read_to_string(file).expect("text").trim_end().to_owned())
            })
            .collect();
        files.sort();
        files
    }

    fn seen(files: &[(String, String)]) -> Vec<(&str, &str)> {
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
    }

    #[test]
    fn earlier_page_stays_until_a_complete_one_replaces_it() {
        let (folder, page) = folder("stays");
        let destination = open(&page);
        assert_eq!(seen(&files(&folder)), [("page-provisional.html", "not yet"), ("page.html", "earlier")]);
        drop(destination);
        assert_eq!(seen(&files(&folder)), [("page.html", "earlier")]);
        let half = open(&page).write_interrupted("half").ok().expect("room");
        assert_eq!(half, page.with_file_name("page-interrupted.html"));
        assert_eq!(seen(&files(&folder)), [("page-interrupted.html", "half"), ("page.html", "earlier")]);
        assert!(open(&page).write_complete("whole").is_ok());
        assert_eq!(seen(&files(&folder)), [("page-interrupted.html", "half"), ("page.html", "whole")]);
        fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn symlinks_and_special_files_are_not_replaced() {
        let (folder, page) = folder("link");
        let (link, pipe) = (folder.join("link.html"), folder.join("null"));
        symlink(&page, &link).expect("a link");
        symlink("/dev/null", &pipe).expect("a link");
        assert!(open(&link).write_complete("whole").is_ok() && link.is_symlink());
        assert_eq!(fs::read_to_string(&page).expect("a page"), "whole");
        assert!(open(&pipe).write_complete("whole").is_ok() && pipe.is_symlink() && !pipe.is_file());
        fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn unwritable_output_is_refused_at_opening() {
        let (folder, page) = folder("refused");
        for file in [Path::new("/dev/full"), &page.join("below.html"), &folder, &folder.join("no/page.html")] {
            assert!(Destination::open(file, "not yet").is_err(), "{}", file.display());
        }
        assert_eq!(seen(&files(&folder)), [("page.html", "earlier")]);
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
