//! Places: the computer that this runs on, and network namespaces on it, which are removed when dropped.

use std::fs;

/// A place with its own network.
#[derive(Debug)]
pub enum Place {
    /// The network that the bench itself runs in.
    Here,
    /// A separate network namespace.
    Apart(thalweg_testbed::Namespace),
}

impl Place {
    /// Runs `work` in this place; sockets and processes that it creates remain there.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
        match self {
            Place::Here => work(),
            Place::Apart(namespace) => namespace.within(|| Ok(work())).map_err(|error| error.to_string())?,
        }
    }

    /// The bytes of the IP packets that have been routed into `device`.
    pub fn sent(&self, device: &str) -> Result<u64, String> {
        let failed = |why: &dyn std::fmt::Display| format!("no counters of {device}: {why}");
        self.within(|| {
            let text = fs::read_to_string("/proc/thread-self/net/dev").map_err(|error| failed(&error))?;
            let line = text.lines().find_map(|line| line.trim_start().strip_prefix(&format!("{device}:")));
            // Eight columns of receive counters come first.
            let bytes = line.and_then(|line| line.split_whitespace().nth(8)?.parse().ok());
            bytes.ok_or_else(|| failed(&"no such line in /proc/net/dev"))
        })
    }
}
