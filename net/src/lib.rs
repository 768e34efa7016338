//! Thalweg on real sockets: the clock, the sockets, the files and the signals around the sessions of `thalweg-core`.

pub mod clock;
pub mod doctor;
pub mod driver;
pub mod drops;
pub mod emulate;
pub mod endpoint;
pub mod entropy;
pub mod error;
mod exec;
pub mod figures;
pub mod histogram;
pub mod in_process;
mod inherited;
pub mod input;
pub mod key_file;
pub mod media_url;
pub mod metrics;
pub mod output;
pub mod poll;
pub mod report;
pub mod reporter;
pub mod signal;
mod spool;
pub mod terminal;
pub mod tun;
pub mod udp;
pub mod watch;

/// A transport stream made for tests.
#[cfg(test)]
#[path = "../../cli/tests/common/ts.rs"]
mod ts;

pub use error::Error;

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
