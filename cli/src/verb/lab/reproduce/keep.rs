//! A folder with what came of runs, so that an evaluation of hours need not be made in one go.

use std::fmt::Debug;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{refusal, unreadable};
use crate::Failure;

/// Where records are kept, and of what: other plans and other builds find nothing here.
pub(super) struct Keep {
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
    pub(super) fn open(folder: &Path, plan: &impl Debug) -> Result<Keep, Failure> {
        fs::create_dir_all(folder).map_err(|error| refusal(folder, &error))?;
        // Known before the first run is over, which may take a while.
        let probe = folder.join("probe.half");
        let probed = fs::write(&probe, "something");
        let _ = fs::remove_file(&probe);
        probed.map_err(|error| refusal(&probe, &error))?;
        let program = std::env::current_exe().map_err(|error| unreadable(Path::new("/proc/self/exe"), &error))?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&fs::read(&program).map_err(|error| unreadable(&program, &error))?);
        hasher.write(format!("{plan:?}").as_bytes());
        Ok(Keep { folder: folder.into(), of: format!("{:016x}", hasher.finish()) })
    }

    /// What came of a job before, if that is known.
    pub(super) fn find<R: DeserializeOwned>(&self, nth: usize, job: &impl Debug) -> Option<R> {
        let text = fs::read_to_string(self.file(nth)).ok()?;
        let kept: Kept<R> = toml::from_str(&text).ok()?;
        (kept.of == self.name(job)).then_some(kept.record)
    }

    /// Keeps what came of a job. A file is whole or not there.
    pub(super) fn store<R: Serialize>(&self, nth: usize, job: &impl Debug, record: &R) -> Result<(), String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_found_again_by_its_own_job_and_plan_alone() {
        let folder = std::env::temp_dir().join(format!("thalweg-keep-{}", std::process::id()));
        let keep = Keep::open(&folder, &"a plan").ok().expect("a folder");
        let record = vec![(0.1, vec![1_u16, 2]), (f64::NAN, Vec::new())];
        keep.store(3, &"a job", &record).expect("room");
        let found: Vec<(f64, Vec<u16>)> = keep.find(3, &"a job").expect("the record");
        assert_eq!(found[0], record[0]);
        assert!(found[1].0.is_nan());
        assert!(keep.find::<Vec<(f64, Vec<u16>)>>(3, &"another job").is_none());
        assert!(keep.find::<Vec<(f64, Vec<u16>)>>(2, &"a job").is_none());
        let other = Keep::open(&folder, &"another plan").ok().expect("a folder");
        assert!(other.find::<Vec<(f64, Vec<u16>)>>(3, &"a job").is_none());
        fs::write(folder.join("3.toml"), "of = 'cut sh").expect("room");
        assert!(keep.find::<Vec<(f64, Vec<u16>)>>(3, &"a job").is_none());
        fs::remove_dir_all(folder).expect("it is ours");
    }
}
