//! What a network namespace, that of this process, has for connections that choose nothing, and what there is to choose from.
//!
//! The kernel keeps the control itself there, not its name: one that was unloaded stays the default, for all connections that
//! come, and another one that is loaded under the same name is not.

use std::fs;

use crate::{Error, Name};

const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// Those that a namespace may have for its default, and whoever is not root for his sockets.
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
const NAMES: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Every congestion control that is registered.
pub(crate) fn controls() -> Result<Vec<String>, Error> {
    names(NAMES)
}

/// Whether the default is called so.
pub(crate) fn is_default(name: &Name) -> bool {
    fs::read_to_string(DEFAULT).is_ok_and(|default| default.trim() == name.as_str())
}

/// Has the control that is registered under this name for the default.
pub(crate) fn make_default(name: &Name) -> Result<(), Error> {
    fs::write(DEFAULT, name.as_str()).map_err(Error::io::<std::io::Error>(format!("writing {DEFAULT}")))
}

/// What to have for the default instead: CUBIC, as Linux has by itself, where this namespace may have it; otherwise what came
/// first beside reno, which is always there.
pub(crate) fn other() -> String {
    let allowed = names(ALLOWED).unwrap_or_default();
    let is_cubic = |name: &&String| *name == "cubic";
    let is_more = |name: &&String| *name != "reno";
    allowed.iter().find(is_cubic).or_else(|| allowed.iter().find(is_more)).cloned().unwrap_or_else(|| "reno".to_owned())
}

fn names(list: &str) -> Result<Vec<String>, Error> {
    let names = fs::read_to_string(list).map_err(Error::io::<std::io::Error>(format!("reading {list}")))?;
    Ok(names.split_whitespace().map(str::to_owned).collect())
}
