//! The folder of a campaign, and the files that are to be written of each run.

use std::path::PathBuf;

use thalweg_core::time::Span;

/// The folder of a campaign.
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) interval: Option<Span>,
    pub(super) trace: bool,
    pub(super) pcap: bool,
    /// The hop that `trace` and `pcap` watch.
    pub(super) hop: usize,
}
