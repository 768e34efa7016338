//! Tables of a scenario's text.

use core::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::fault::Fault;

/// A table of the text, from which keys are taken one after the other.
#[derive(Clone)]
pub(super) struct Section<'a> {
    pub(super) span: Range<usize>,
    pub(super) table: DeTable<'a>,
}

impl<'a> Section<'a> {
    pub(super) fn of(value: Spanned<DeValue<'a>>) -> Result<Section<'a>, Fault> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => Ok(Section { span, table }),
            other => Err(Fault::at(&span, format!("expected a table, found {}", other.type_str()))),
        }
    }

    pub(super) fn take(&mut self, key: &str) -> Option<Spanned<DeValue<'a>>> {
        self.table.remove(key)
    }

    /// The value of `key`, which must be there.
    pub(super) fn require<T: Deserialize<'a>>(&mut self, key: &str) -> Result<T, Fault> {
        let value = self.take(key).ok_or_else(|| Fault::at(&self.span, format!("missing '{key}'")))?;
        Ok(T::deserialize(ValueDeserializer::from(value))?)
    }

    /// The value of `key`, if it is there.
    pub(super) fn optional<T: Deserialize<'a>>(&mut self, key: &str) -> Result<Option<T>, Fault> {
        let value = self.take(key).map(|value| T::deserialize(ValueDeserializer::from(value)));
        Ok(value.transpose()?)
    }

    /// The table of `key`, if it is there.
    pub(super) fn section(&mut self, key: &str) -> Result<Option<Section<'a>>, Fault> {
        self.take(key).map(Section::of).transpose()
    }

    /// The tables of the array `key`, none if it is not there.
    pub(super) fn sections(&mut self, key: &str) -> Result<Vec<Section<'a>>, Fault> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let span = value.span();
        match value.into_inner() {
            DeValue::Array(array) => array.into_iter().map(Section::of).collect(),
            other => Err(Fault::at(&span, format!("expected [[...{key}]], found {}", other.type_str()))),
        }
    }

    /// Everything that was not taken, as one value.
    pub(super) fn rest<T: Deserialize<'a>>(self) -> Result<T, Fault> {
        Ok(T::deserialize(ValueDeserializer::from(Spanned::new(self.span, DeValue::Table(self.table))))?)
    }

    /// Nothing may be left.
    pub(super) fn finish(self, expected: &str) -> Result<(), Fault> {
        match self.table.keys().next() {
            Some(key) => Err(Fault::at(&key.span(), format!("unknown '{}', expected {expected}", key.get_ref()))),
            None => Ok(()),
        }
    }

    /// What a section describes, and what it is called: its kind, unless it says otherwise.
    pub(super) fn kind_and_name(&mut self) -> Result<(Spanned<String>, String), Fault> {
        let kind: Spanned<String> = self.require("kind")?;
        let name = if self.table.contains_key("name") { self.require("name")? } else { kind.get_ref().clone() };
        Ok((kind, name))
    }
}
