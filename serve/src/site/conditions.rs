//! Conditional requests (RFC 9110 §13): the choice between the file, a range of it and neither.

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::{self, HeaderName};

use crate::content::Opened;

/// The outcome of the conditions.
#[derive(Debug)]
pub(super) enum Verdict<'a> {
    /// A condition does not hold: 412.
    Failed,
    /// The client has the file already: 304.
    Known,
    /// The whole file is to be sent.
    Whole,
    /// The range in the field `Range` is to be sent.
    Range(&'a str),
}

/// Evaluates the conditions in the order of §13.2.2.
pub(super) fn judge<'a>(fields: &'a HeaderMap, file: &Opened) -> Verdict<'a> {
    let field = |name: HeaderName| fields.get(name).and_then(|value| value.to_str().ok());
    let date = |name| field(name).and_then(|text| httpdate::parse_http_date(text).ok());
    let (tag, modified) = (file.tag(), file.modified().ok().map(whole_second));
    let holds = match (field(header::IF_MATCH), date(header::IF_UNMODIFIED_SINCE)) {
        (Some(tags), _) => lists(tags, &tag, false),
        (None, Some(date)) => modified.is_none_or(|modified| modified <= date),
        (None, None) => true,
    };
    if !holds {
        return Verdict::Failed;
    }
    let known = match (field(header::IF_NONE_MATCH), date(header::IF_MODIFIED_SINCE)) {
        (Some(tags), _) => lists(tags, &tag, true),
        (None, Some(date)) => modified.is_some_and(|modified| modified <= date),
        (None, None) => false,
    };
    if known {
        return Verdict::Known;
    }
    match (field(header::RANGE), field(header::IF_RANGE)) {
        // A date says less than the tag that came with it, so it never identifies the same file (§13.1.5).
        (Some(_), Some(condition)) if condition.trim() != tag => Verdict::Whole,
        (Some(range), _) => Verdict::Range(range),
        (None, _) => Verdict::Whole,
    }
}

/// True if a list of tags contains this one; weak ones count only if `weakly`, where single bytes do not matter
/// (§8.8.3.2).
fn lists(tags: &str, tag: &str, weakly: bool) -> bool {
    let mut tags = tags.split(',').map(str::trim);
    tags.any(|known| known == "*" || known == tag || (weakly && known.strip_prefix("W/") == Some(tag)))
}

/// Truncates a time to a whole second: dates of HTTP have no fractions.
fn whole_second(time: SystemTime) -> SystemTime {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs())
}
