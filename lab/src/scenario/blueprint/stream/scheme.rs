//! The names of schemes.

use thalweg_core::law::ParameterError;
use thalweg_core::law::redundancy::Choice;
use thalweg_core::law::registry::{self, Scope};

/// True if `name` is a scheme without laws of one's own, or looks like one: `static9999` has more repair than a scheme may.
pub(in crate::scenario) fn is_scheme(name: &str) -> bool {
    let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    let counted = ["static", "cbr"].iter().any(|base| name.strip_prefix(base).is_some_and(is_number));
    counted || ["udp", "tfrc"].contains(&name) || session(name).is_some() || Choice::named(name).is_some()
}

/// The law of a live session: `live` is GENEVA's, `live-LAW` any other.
pub(super) fn session(name: &str) -> Option<&str> {
    name.strip_prefix("live").and_then(|rest| if rest.is_empty() { Some("geneva") } else { rest.strip_prefix('-') })
}

/// The law of redundancy of this name; `staticN` is `static:N`.
pub(super) fn choice(name: &str) -> Result<Choice, ParameterError> {
    match name.strip_prefix("static").and_then(repair) {
        Some(repair) => format!("static:{repair}").parse(),
        None => name.parse(),
    }
}

/// The values of `scheme`, as errors and help list them.
pub fn schemes() -> String {
    let laws = registry::forms(Choice::all().into_iter().filter(|law| law.scope != Scope::Sessions));
    let live = registry::forms(Choice::anywhere());
    format!(
        "{laws}; tfrc, udp, cbr or cbrN (the constant rate of staticN on the wire); live or live-LAW (the sessions of send \
         and recv; LAW is {live}); staticN is static:N, N repair packets a block"
    )
}

/// The maximum number of repair packets, more than a block of any published scheme has.
const MOST_REPAIR: u32 = 1_000;

/// The number of repair packets of `staticN` and `cbrN`.
pub(super) fn repair(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|repair| *repair <= MOST_REPAIR)
}
