//! Files of single runs that an earlier campaign left in a folder, not to be taken for those of this one.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::error::{Error, FileError};

/// Removes the files of single runs, since a reader of `intervals-*.csv` would read them, too, and returns the number
/// of those that are not `written` anew. A folder without a summary is not the lab's, and is left alone.
pub(super) fn remove(folder: &Path, written: &BTreeSet<String>) -> Result<usize, Error> {
    if !folder.join("summary.csv").exists() {
        return Ok(0);
    }
    let refuse = || FileError::writing(folder);
    let mut removed = 0;
    for entry in fs::read_dir(folder).map_err(refuse())? {
        let entry = entry.map_err(refuse())?;
        let name = entry.file_name();
        if let Some(name) = name.to_str().filter(|name| is_of_one_run(name)) {
            fs::remove_file(entry.path()).map_err(FileError::writing(&entry.path()))?;
            removed += usize::from(!written.contains(name));
        }
    }
    Ok(removed)
}

/// True if a run writes files of this name: `intervals-SCHEME-SEED.csv` and the like.
fn is_of_one_run(name: &str) -> bool {
    let Some((stem, ending)) = name.rsplit_once('.') else { return false };
    let known = match stem.split_once('-') {
        Some(("intervals" | "hops", _)) => matches!(ending, "csv" | "jsonl"),
        Some(("packets", _)) => matches!(ending, "csv" | "pcap"),
        _ => false,
    };
    let seed = stem.rsplit('-').next().unwrap_or_default();
    known && !seed.is_empty() && seed.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_runs_are_recognized_by_their_names() {
        for name in [
            "intervals-1.csv",
            "intervals-live-static8-12.jsonl",
            "hops-2.csv",
            "packets-geneva-3.csv",
            "packets-4.pcap",
        ] {
            assert!(is_of_one_run(name), "{name}");
        }
        for name in
            ["intervals.csv", "intervals-all.csv", "packets-1.jsonl", "packets-1.csv.gz", "notes-1.csv", "1.csv"]
        {
            assert!(!is_of_one_run(name), "{name}");
        }
    }
}
