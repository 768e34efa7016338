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
    /// The keys that were requested one by one, whether they were there or not.
    asked: Vec<&'static str>,
}

impl<'a> Section<'a> {
    pub(super) fn new(span: Range<usize>, table: DeTable<'a>) -> Section<'a> {
        Section { span, table, asked: Vec::new() }
    }

    pub(super) fn of(value: Spanned<DeValue<'a>>) -> Result<Section<'a>, Fault> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => Ok(Section::new(span, table)),
            other => Err(Fault::at(&span, format!("expected a table, found {}", other.type_str()))),
        }
    }

    pub(super) fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'a>>> {
        self.asked.push(key);
        self.table.remove(key)
    }

    /// The value of `key`, which must be there.
    pub(super) fn require<T: Deserialize<'a>>(&mut self, key: &'static str) -> Result<T, Fault> {
        let value = self.take(key).ok_or_else(|| Fault::at(&self.span, format!("missing '{key}'")))?;
        read(value)
    }

    /// The value of `key`, if it is there.
    pub(super) fn optional<T: Deserialize<'a>>(&mut self, key: &'static str) -> Result<Option<T>, Fault> {
        self.take(key).map(read).transpose()
    }

    /// The place of the value of `key`, if it is there.
    pub(super) fn span_of(&self, key: &str) -> Option<Range<usize>> {
        self.table.get(key).map(Spanned::span)
    }

    /// The table of `key`, if it is there.
    pub(super) fn section(&mut self, key: &'static str) -> Result<Option<Section<'a>>, Fault> {
        self.take(key).map(Section::of).transpose()
    }

    /// The tables of the array `key`, none if it is not there.
    pub(super) fn sections(&mut self, key: &'static str) -> Result<Vec<Section<'a>>, Fault> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let span = value.span();
        match value.into_inner() {
            DeValue::Array(array) => array.into_iter().map(Section::of).collect(),
            other => Err(Fault::at(&span, format!("expected [[...{key}]], found {}", other.type_str()))),
        }
    }

    /// Deserializes all keys that were not taken.
    pub(super) fn rest<T: Deserialize<'a>>(self) -> Result<T, Fault> {
        let Section { span, table, asked } = self;
        let keys: Vec<String> = table.keys().map(|key| key.get_ref().to_string()).collect();
        read(Spanned::new(span, DeValue::Table(table))).map_err(|fault| fault.expecting(&keys, &asked))
    }

    /// Checks that no key is left.
    pub(super) fn finish(self, expected: &str) -> Result<(), Fault> {
        match self.table.keys().next() {
            Some(key) => Err(Fault::at(&key.span(), format!("unknown '{}', expected {expected}", key.get_ref()))),
            None => Ok(()),
        }
    }

    /// The kind that a section describes, and its name: the kind, unless it has a name of its own.
    pub(super) fn kind_and_name(&mut self) -> Result<(Spanned<String>, String), Fault> {
        let kind: Spanned<String> = self.require("kind")?;
        let name = self.optional("name")?;
        let name = name.unwrap_or_else(|| kind.get_ref().clone());
        Ok((kind, name))
    }
}

/// Deserializes a value of the text. The library does not know the place of every error; the value's place replaces it.
fn read<'a, T: Deserialize<'a>>(value: Spanned<DeValue<'a>>) -> Result<T, Fault> {
    let span = value.span();
    T::deserialize(ValueDeserializer::from(value)).map_err(|error| Fault::from(error).or_at(&span))
}
