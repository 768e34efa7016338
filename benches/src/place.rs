//! Computers: the one that this runs on, and network namespaces on it, which are gone when their owner is.

use std::fs;

use thalweg_net::testbed;

/// A place with a network of its own.
#[derive(Debug)]
pub enum Place {
    /// The one that the bench itself is in.
    Here,
    /// Another.
    Apart(testbed::Namespace),
}

impl Place {
    /// Does `work` in it; sockets and processes that are made there stay there.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
        match self {
            Place::Here => work(),
            Place::Apart(namespace) => namespace.within(|| Ok(work())).map_err(|error| error.to_string())?,
        }
    }

    /// Bytes of the IP packets that have been routed into `device`.
    pub fn sent(&self, device: &str) -> Result<u64, String> {
        let failed = |why: &dyn std::fmt::Display| format!("no counters of {device}: {why}");
        self.within(|| {
            let text = fs::read_to_string("/proc/thread-self/net/dev").map_err(|error| failed(&error))?;
            let line = text.lines().find_map(|line| line.trim_start().strip_prefix(&format!("{device}:")));
            // Eight columns of what was received stand before it.
            let bytes = line.and_then(|line| line.split_whitespace().nth(8)?.parse().ok());
            bytes.ok_or_else(|| failed(&"no such line in /proc/net/dev"))
        })
    }
}
