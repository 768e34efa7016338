//! Videos without an index, and the reasons: a malformed transport stream is not read anew for each request.

use std::collections::HashMap;

use crate::catalog::walk::Stamp;
use crate::rate::FormatError;

/// Limit on the videos that are remembered.
const MOST: usize = 1_000;

/// The videos that were refused last.
#[derive(Debug, Default)]
pub(super) struct Refused(HashMap<String, (Stamp, FormatError)>);

impl Refused {
    /// The reason for which a file was refused, if it is as it was.
    pub(super) fn reason(&self, name: &str, stamp: &Stamp) -> Option<FormatError> {
        self.0.get(name).filter(|(known, _)| known == stamp).map(|(_, why)| why.clone())
    }

    /// Remembers a reason; beyond the limit, in place of all others.
    pub(super) fn insert(&mut self, name: &str, stamp: Stamp, why: FormatError) {
        if self.0.len() >= MOST && !self.0.contains_key(name) {
            self.0.clear();
        }
        self.0.insert(name.to_owned(), (stamp, why));
    }

    /// Forgets a file that has an index now.
    pub(super) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }

    /// The reasons by name.
    pub(super) fn reasons(&self) -> HashMap<String, String> {
        self.0.iter().map(|(name, (_, why))| (name.clone(), why.to_string())).collect()
    }
}
