//! Where a page goes. It is hours until it is there: what can keep it from being written is to be known before anything runs,
//! and what stood there before stays until it is whole.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::refusal;
use crate::Failure;

/// More than any page takes: a provisional one holds that much of the disk.
const ROOM: usize = 2 << 20;

/// A file that will be there in the end.
pub(super) struct Goal {
    file: PathBuf,
    place: Place,
}

enum Place {
    /// A provisional file stands beside it.
    Beside(PathBuf),
    /// It is no file that another could replace, but a pipe or a device.
    Open(File),
}

impl Goal {
    /// Puts `notice` beside `file`, in a provisional file as large as a page.
    pub(super) fn open(file: &Path, notice: &str) -> Result<Goal, Failure> {
        let there = match OpenOptions::new().append(true).open(file) {
            Ok(there) => Some(there),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(refusal(file, &error)),
        };
        // A link stays one: what it leads to is replaced.
        let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        if let Some(mut device) = there.filter(|_| !target.is_file()) {
            // Nothing is written, but a device that is full says so.
            device.write(b"").map_err(|error| refusal(file, &error))?;
            return Ok(Goal { file: file.to_owned(), place: Place::Open(device) });
        }
        let provisional = beside(&target, "provisional");
        let goal = Goal { file: target, place: Place::Beside(provisional.clone()) };
        fs::write(&provisional, format!("{notice}{}\n", " ".repeat(ROOM)))
            .map_err(|error| refusal(&provisional, &error))?;
        Ok(goal)
    }

    /// Puts the whole page where it belongs.
    pub(super) fn reach(self, page: &str) -> Result<(), Failure> {
        let to = self.file.clone();
        self.write(page, &to)
    }

    /// Puts a page that is not whole beside the one that may be there, and says where.
    pub(super) fn fall_short(self, page: &str) -> Result<PathBuf, Failure> {
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

/// Where nothing came of it, nothing is left.
impl Drop for Goal {
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

    fn open(file: &Path) -> Goal {
        Goal::open(file, "not yet").ok().expect("it can be written")
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
    fn an_earlier_page_stays_until_a_whole_one_is_there() {
        let (folder, page) = folder("stays");
        let goal = open(&page);
        assert_eq!(seen(&files(&folder)), [("page-provisional.html", "not yet"), ("page.html", "earlier")]);
        drop(goal);
        assert_eq!(seen(&files(&folder)), [("page.html", "earlier")]);
        let half = open(&page).fall_short("half").ok().expect("room");
        assert_eq!(half, page.with_file_name("page-interrupted.html"));
        assert_eq!(seen(&files(&folder)), [("page-interrupted.html", "half"), ("page.html", "earlier")]);
        assert!(open(&page).reach("whole").is_ok());
        assert_eq!(seen(&files(&folder)), [("page-interrupted.html", "half"), ("page.html", "whole")]);
        fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn a_link_stays_one_and_what_is_no_file_is_not_replaced() {
        let (folder, page) = folder("link");
        let (link, pipe) = (folder.join("link.html"), folder.join("null"));
        symlink(&page, &link).expect("a link");
        symlink("/dev/null", &pipe).expect("a link");
        assert!(open(&link).reach("whole").is_ok() && link.is_symlink());
        assert_eq!(fs::read_to_string(&page).expect("a page"), "whole");
        assert!(open(&pipe).reach("whole").is_ok() && pipe.is_symlink() && !pipe.is_file());
        fs::remove_dir_all(folder).expect("it is ours");
    }

    #[test]
    fn what_cannot_be_written_is_known_before_anything_runs() {
        let (folder, page) = folder("refused");
        for file in [Path::new("/dev/full"), &page.join("below.html"), &folder, &folder.join("no/page.html")] {
            assert!(Goal::open(file, "not yet").is_err(), "{}", file.display());
        }
        assert_eq!(seen(&files(&folder)), [("page.html", "earlier")]);
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
