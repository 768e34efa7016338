//! Why it did not work.

use std::fmt;

use crate::Name;

/// Why a control could not be loaded, shown or taken away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// This program was built without the feature.
    NotBuilt,
    /// Only root may.
    NotRoot,
    /// The kernel does not tell its types, without which no program can be fitted to it.
    NoTypes,
    /// It is loaded already.
    Loaded(Name),
    /// Another control has this name.
    Taken(Name),
    /// There is nothing of this name.
    NotLoaded {
        /// The name.
        name: Name,
        /// What is loaded, under other names.
        others: Vec<String>,
    },
    /// The machine said no.
    Refused {
        /// What was being done.
        tried: String,
        /// What the machine said.
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
                "this thalweg was built without it; on Debian: apt-get install clang libelf-dev zlib1g-dev make pkg-config, \
                 then cargo build --release --features kernel",
            ),
            Error::NotRoot => f.write_str("it needs root"),
            Error::NoTypes => f.write_str("this kernel has no /sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF)"),
            Error::Loaded(name) => write!(f, "{name} is loaded already; `unload` takes it away"),
            Error::Taken(name) => write!(f, "another congestion control is called {name}"),
            Error::NotLoaded { name, others } if others.is_empty() => write!(f, "{name} is not loaded"),
            Error::NotLoaded { name, others } => {
                write!(f, "{name} is not loaded; loaded under another name: {}", others.join(", "))
            }
            Error::Refused { tried, reason } => write!(f, "{tried}: {reason}"),
        }
    }
}

impl std::error::Error for Error {}
