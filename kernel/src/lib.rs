//! TCP Stream in the kernel's own TCP: a congestion control that a stock Linux loads (eBPF struct_ops), without a patch and
//! without a module. Any server can then use it, also one that knows nothing of it.
//!
//! The law is `bpf/law.h`, [`thalweg_core::law::window::tcp_stream`] in integers; `bpf/tcp_stream.bpf.c` is what stands
//! between it and the kernel. [`load`] registers it under a [`Name`], [`status`] shows every connection that uses it, and
//! [`unload`] takes the name away. What is loaded is pinned below `/sys/fs/bpf/thalweg/NAME`, and outlives whoever loaded it:
//!
//! | pin | what |
//! |---|---|
//! | `settings` | the default rate and the thresholds |
//! | `ports` | playback rates of local ports |
//! | `rates` | playback rates of sockets, see `Rates` |
//! | `connections` | a line for each connection; can be read like a file |
//! | `link` | the registration itself, pinned last |
//!
//! All this is behind the feature `bpf`, which needs clang, libelf and zlib. Without it there is the same interface, and
//! everything says [`Error::NotBuilt`].

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

/// The fastest film that integers reckon with, 1 Tb/s.
pub const FASTEST: Rate = Rate::from_mbps(1_000_000);

/// What a control is loaded with. Rates are 1 bit/s to [`FASTEST`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// The playback rate of whoever has none of his own.
    pub rate: Rate,
    /// alpha and beta.
    pub thresholds: Thresholds,
    /// The playback rates of local ports.
    pub ports: Vec<(u16, Rate)>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { rate: Playback::default().rate, thresholds: Thresholds::default(), ports: Vec::new() }
    }
}

/// A control that is loaded.
#[derive(Clone, PartialEq, Debug)]
pub struct Status {
    /// What it was loaded with, ports in their order.
    pub settings: Settings,
    /// The connections that use it, in every network namespace.
    pub connections: Vec<Connection>,
}

/// What has come of a [`load`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loaded {
    /// If the default of this process's network namespace was an unloaded control of the same name: whether the new one has its
    /// place now.
    pub renewed: Option<Result<(), Error>>,
}

/// What an [`unload`] has left.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unloaded {
    /// Connections that are open and keep the law, in every network namespace.
    pub open: usize,
    /// If the default of this process's network namespace is still this control, for all connections that come: another
    /// one that it can be set to.
    pub instead: Option<String>,
}
