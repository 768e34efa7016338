//! Attributes of a description: `a=NAME` and `a=NAME:VALUE`.

use super::Attribute;

/// Limit on attributes that are kept, of the whole and of each track.
const MAX_ATTRIBUTES: usize = 64;

/// The name and the value of an attribute.
pub(super) fn attribute(value: &str) -> (&str, Option<&str>) {
    value.split_once(':').map_or((value, None), |(name, value)| (name, Some(value.trim())))
}

/// Adds an attribute within the limit.
pub(super) fn keep(attributes: &mut Vec<Attribute>, name: &str, value: Option<&str>) -> Result<(), &'static str> {
    if attributes.len() == MAX_ATTRIBUTES {
        return Err("more than 64 attributes");
    }
    attributes.push(Attribute { name: name.to_owned(), value: value.map(str::to_owned) });
    Ok(())
}
