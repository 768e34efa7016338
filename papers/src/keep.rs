//! A folder with the results of runs, so that an evaluation of hours can be interrupted and resumed.

use std::fmt::Debug;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thalweg_workbench::FileError;
use thalweg_workbench::pool::Task;

/// The folder of the records, and the hash of their build and plan: other plans and other builds find nothing there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Keep {
    folder: PathBuf,
    of: String,
}

/// One file: TOML, which knows NaN and every digit of a float.
#[derive(Serialize, Deserialize)]
struct Kept<R> {
    /// The build, the plan and the job.
    of: String,
    record: R,
}

impl Keep {
    /// Opens a folder, which is made if there is none, for the jobs of `plan`.
    ///
    /// # Errors
    /// The folder cannot be written, or the running program not read.
    pub fn open(folder: &Path, plan: &impl Debug) -> Result<Keep, FileError> {
        fs::create_dir_all(folder).map_err(FileError::writing(folder))?;
        // An unwritable folder is refused before the first run, which may take long.
        let probe = folder.join("probe.half");
        let probed = fs::write(&probe, "something");
        let _ = fs::remove_file(&probe);
        probed.map_err(FileError::writing(&probe))?;
        let program = std::env::current_exe().map_err(FileError::reading(Path::new("/proc/self/exe")))?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&fs::read(&program).map_err(FileError::reading(&program))?);
        hasher.write(format!("{plan:?}").as_bytes());
        Ok(Keep { folder: folder.into(), of: format!("{:016x}", hasher.finish()) })
    }

    /// The record of a job that was run before, if there is one.
    pub fn find<R: DeserializeOwned>(&self, nth: usize, job: &impl Debug) -> Option<R> {
        let text = fs::read_to_string(self.file(nth)).ok()?;
        let kept: Kept<R> = toml::from_str(&text).ok()?;
        (kept.of == self.name(job)).then_some(kept.record)
    }

    /// Stores the record of a job. A file is complete or absent.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn store<R: Serialize>(&self, nth: usize, job: &impl Debug, record: &R) -> Result<(), String> {
        let kept = Kept { of: self.name(job), record };
        let text = toml::to_string(&kept).map_err(|error| error.to_string())?;
        let (file, half) = (self.file(nth), self.folder.join(format!("{nth}.half")));
        let written: io::Result<()> = fs::write(&half, text).and_then(|()| fs::rename(&half, &file));
        written.map_err(|error| format!("cannot write {}: {error}", file.display()))
    }

    fn file(&self, nth: usize) -> PathBuf {
        self.folder.join(format!("{nth}.toml"))
    }

    fn name(&self, job: &impl Debug) -> String {
        format!("{}; {job:?}", self.of)
    }
}

/// A task whose record may be stored already.
#[derive(Debug)]
pub(crate) struct Resumed<'a, Job, T: Task> {
    keep: Option<&'a Keep>,
    nth: usize,
    job: &'a Job,
    found: Option<T::Record>,
    task: T,
}

impl<'a, Job: Debug, T: Task<Record: DeserializeOwned>> Resumed<'a, Job, T> {
    /// The task of a job, which is the `nth`.
    pub(crate) fn begin(keep: Option<&'a Keep>, nth: usize, job: &'a Job, task: T) -> Resumed<'a, Job, T> {
        Resumed { keep, nth, job, found: keep.and_then(|keep| keep.find(nth, job)), task }
    }
}

impl<Job: Debug, T: Task<Record: Serialize, Error = String>> Task for Resumed<'_, Job, T> {
    type Record = T::Record;
    type Error = String;

    fn length(&self) -> u64 {
        self.task.length()
    }

    fn done(&self) -> u64 {
        if self.found.is_some() { self.length() } else { self.task.done() }
    }

    fn advance(&mut self) -> Result<(), String> {
        self.task.advance()
    }

    fn finish(self) -> Result<T::Record, String> {
        if let Some(record) = self.found {
            return Ok(record);
        }
        let record = self.task.finish()?;
        self.keep.map_or(Ok(()), |keep| keep.store(self.nth, self.job, &record))?;
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_record_is_found_by_its_own_job_and_plan_only() {
        let folder = std::env::temp_dir().join(format!("thalweg-keep-{}", std::process::id()));
        let keep = Keep::open(&folder, &"a plan").expect("a folder");
        let record = vec![(0.1, vec![1_u16, 2]), (f64::NAN, Vec::new())];
        keep.store(3, &"a job", &record).expect("room");
        let found: Vec<(f64, Vec<u16>)> = keep.find(3, &"a job").expect("the record");
        assert_eq!(found[0], record[0]);
        assert!(found[1].0.is_nan());
        assert!(keep.find::<Vec<(f64, Vec<u16>)>>(3, &"another job").is_none());
        assert!(keep.find::<Vec<(f64, Vec<u16>)>>(2, &"a job").is_none());
        let other = Keep::open(&folder, &"another plan").expect("a folder");
        assert!(other.find::<Vec<(f64, Vec<u16>)>>(3, &"a job").is_none());
        fs::write(folder.join("3.toml"), "of = 'cut sh").expect("room");
        assert!(keep.find::<Vec<(f64, Vec<u16>)>>(3, &"a job").is_none());
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
