//! TCP Stream in the kernel's own TCP: a congestion control that a stock Linux loads (eBPF struct_ops), without a patch
//! and without a module. Any server can then use it, even one without support for it.
//!
//! The law is `bpf/law.h`, [`thalweg_core::law::window::tcp_stream`] in integers; `bpf/tcp_stream.bpf.c` connects it to
//! the kernel. [`load`] registers it under a [`Name`], [`status`] shows every connection that uses it, and [`unload`]
//! removes the name. A loaded control is pinned below `/sys/fs/bpf/thalweg/NAME`, and outlives the process that loaded
//! it:
//!
//! | pin | what |
//! |---|---|
//! | `settings` | the default rate and the thresholds |
//! | `ports` | playback rates of local ports |
//! | `rates` | playback rates of sockets, see `Rates` |
//! | `connections` | a line for each connection; can be read like a file |
//! | `link` | the registration itself, pinned last |
//!
//! All this needs the feature `bpf`, which needs clang, libelf and zlib. Without it the interface is the same, and
//! every call fails with [`Error::NotBuilt`].

mod connection;
mod error;
mod name;

#[cfg(feature = "bpf")]
mod bpffs;
#[cfg(feature = "bpf")]
mod control;
#[cfg(not(feature = "bpf"))]
#[path = "absent.rs"]
mod control;
#[cfg(feature = "bpf")]
mod namespace;
#[cfg(feature = "bpf")]
mod rates;

pub use connection::Connection;
#[cfg(not(feature = "bpf"))]
pub use control::Rates;
pub use control::{load, status, thresholds, unload};
pub use error::Error;
pub use name::Name;
#[cfg(feature = "bpf")]
pub use rates::Rates;
use thalweg_core::law::window::Playback;
use thalweg_core::law::window::tcp_stream::Thresholds;
pub use thalweg_core::units::Rate;

/// The fastest playback rate in the range of the integers, 1 Tb/s.
pub const FASTEST: Rate = Rate::from_mbps(1_000_000);

/// The settings of a control. Rates are 1 bit/s to [`FASTEST`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The playback rate of connections without one of their own.
    pub rate: Rate,
    /// The thresholds alpha and beta.
    pub thresholds: Thresholds,
    /// The playback rates of local ports.
    pub ports: Vec<(u16, Rate)>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { rate: Playback::default().rate, thresholds: Thresholds::default(), ports: Vec::new() }
    }
}

/// The state of a loaded control.
#[derive(Clone, PartialEq, Debug)]
pub struct Status {
    /// Its settings, ports in ascending order.
    pub settings: Settings,
    /// The connections that use it, in every network namespace.
    pub connections: Vec<Connection>,
}

/// The outcome of a [`load`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// The outcome of making the control the default again; none unless the default of this process's network namespace
    /// was an unloaded control of the same name.
    pub renewed: Option<Result<(), Error>>,
}

/// The state after an [`unload`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unloaded {
    /// Open connections that keep the law, in every network namespace.
    pub open: usize,
    /// Another control that the default can be set to; none unless this control is still the default of this process's
    /// network namespace, for all new connections.
    pub instead: Option<String>,
}

/// The example of README.md, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
