//! Conditional requests (RFC 9110 §13): whether a file is to be sent, and whether only a range of it.

use std::time::{Duration, SystemTime};

use hyper::HeaderMap;
use hyper::header::{self, HeaderName};

use crate::content::Opened;

/// What comes of the conditions.
#[derive(Debug)]
pub(super) enum Verdict<'a> {
    /// One does not hold: 412.
    Failed,
    /// The client has it already: 304.
    Known,
    /// All of it is to be sent.
    Whole,
    /// What the field `Range` asks for.
    Range(&'a str),
}

/// In the order of §13.2.2.
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
        // A date says less than the tag that came with it, so it is never taken for the same file (§13.1.5).
        (Some(_), Some(condition)) if condition.trim() != tag => Verdict::Whole,
        (Some(range), _) => Verdict::Range(range),
        (None, _) => Verdict::Whole,
    }
}

/// Whether a list of tags has this one; weak ones count only where it does not matter to the byte (§8.8.3.2).
fn lists(tags: &str, tag: &str, weakly: bool) -> bool {
    let mut tags = tags.split(',').map(str::trim);
    tags.any(|known| known == "*" || known == tag || (weakly && known.strip_prefix("W/") == Some(tag)))
}

/// Dates of HTTP know no fractions.
fn whole_second(time: SystemTime) -> SystemTime {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs())
}
