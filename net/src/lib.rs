//! Thalweg on real sockets: the only clock, the only sockets, the only signals.

pub mod clock;
pub mod doctor;
pub mod driver;
pub mod drops;
pub mod emulate;
pub mod endpoint;
pub mod entropy;
pub mod error;
pub mod figures;
mod inherited;
pub mod input;
pub mod key_file;
pub mod memory;
pub mod metrics;
pub mod output;
pub mod poll;
pub mod report;
pub mod reporter;
pub mod signal;
mod spool;
pub mod station;
pub mod terminal;
pub mod testbed;
pub mod tun;
pub mod udp;
pub mod watch;

pub use error::Error;
