//! Errors of loading, inspecting and unloading a control.

use std::fmt;

use crate::Name;

/// The reason that a control could not be loaded, inspected or unloaded.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// This program was built without the feature `bpf`.
    NotBuilt,
    /// The process is not root.
    NotRoot,
    /// The kernel does not provide its types (BTF), without which no program can be adapted to it.
    NoTypes,
    /// The control is loaded already.
    Loaded(Name),
    /// Another control has this name.
    Taken(Name),
    /// No control of this name is loaded.
    NotLoaded {
        /// The name.
        name: Name,
        /// The names of other controls that are loaded.
        others: Vec<String>,
    },
    /// The system refused an operation.
    Refused {
        /// The operation.
        tried: String,
        /// The reason that the system gave.
        reason: String,
    },
}

impl Error {
    #[cfg(feature = "bpf")]
    pub(crate) fn io<T: Into<std::io::Error>>(tried: impl Into<String>) -> impl FnOnce(T) -> Error {
        |error| Error::refused(tried, &error.into())
    }

    #[cfg(feature = "bpf")]
    pub(crate) fn bpf(tried: impl Into<String>) -> impl FnOnce(libbpf_rs::Error) -> Error {
        |error| Error::refused(tried, &error)
    }

    #[cfg(feature = "bpf")]
    fn refused(tried: impl Into<String>, error: &dyn fmt::Display) -> Error {
        let text = format!("{error:#}");
        let reason = text.split(" (os error").next().unwrap_or_default().to_lowercase();
        Error::Refused { tried: tried.into(), reason }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotBuilt => f.write_str(
                "this thalweg was built without the feature `kernel`; on Debian: apt-get install clang libelf-dev \
                 zlib1g-dev make pkg-config, then cargo build --release --features kernel",
            ),
            Error::NotRoot => f.write_str("must be run as root"),
            Error::NoTypes => {
                f.write_str("this kernel has no /sys/kernel/btf/vmlinux; build it with CONFIG_DEBUG_INFO_BTF")
            }
            Error::Loaded(name) => {
                write!(f, "{name} is already loaded; unload it first: thalweg kernel unload --name {name}")
            }
            Error::Taken(name) => {
                write!(f, "another congestion control has the name {name}; choose another one with --name")
            }
            Error::NotLoaded { name, others } if others.is_empty() => write!(f, "{name} is not loaded"),
            Error::NotLoaded { name, others } => {
                write!(f, "{name} is not loaded; loaded under another name: {}", others.join(", "))
            }
            Error::Refused { tried, reason } => write!(f, "{tried}: {reason}"),
        }
    }
}

impl std::error::Error for Error {}
