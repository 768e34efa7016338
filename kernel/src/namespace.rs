//! The default congestion control of this process's network namespace, and the controls to choose from.
//!
//! The kernel stores the control itself there, not its name: an unloaded one stays the default, for all new
//! connections, and another one that is loaded under the same name does not become it.

use std::fs;

use crate::{Error, Name};

const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";
/// Controls that a namespace may have as its default, and that processes without privileges may choose for their
/// sockets.
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";
const NAMES: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Every congestion control that is registered.
pub(crate) fn controls() -> Result<Vec<String>, Error> {
    names(NAMES)
}

/// True if the default has this name.
pub(crate) fn is_default(name: &Name) -> bool {
    fs::read_to_string(DEFAULT).is_ok_and(|default| default.trim() == name.as_str())
}

/// Makes the control that is registered under this name the default.
pub(crate) fn make_default(name: &Name) -> Result<(), Error> {
    fs::write(DEFAULT, name.as_str()).map_err(Error::io::<std::io::Error>(format!("writing {DEFAULT}")))
}

/// The control to use as the default instead: CUBIC, which is Linux's own, if this namespace permits it; otherwise the
/// first one beside reno, which is always there.
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
