//! A described network: TOML in, two paths out. `docs/emulate.md` documents the format.

mod element;
mod quantity;
mod traffic;

use core::fmt;
use core::ops::Range;
use std::path::Path as FilePath;

use serde::Deserialize;
use thalweg_core::rng::Rng;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use crate::path::Path;

/// Two paths, one each way, ready to be driven.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// What every random choice of both paths grows from.
    pub seed: u64,
    /// From the client to the server.
    pub forward: Path,
    /// From the server to the client.
    pub reverse: Path,
}

/// Why a scenario cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    file: String,
    line: Option<usize>,
    message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { file, line, message } = self;
        match line {
            Some(line) => write!(f, "{file}:{line}: {message}"),
            None => write!(f, "{file}: {message}"),
        }
    }
}

impl std::error::Error for Error {}

/// Hands out the text of a file that a scenario names, or says why it cannot.
pub type Files<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

impl Scenario {
    /// Reads a scenario file; the files that it names are looked for beside it. `seed` goes before the file's own.
    ///
    /// # Errors
    /// Names the file, the line, and what was expected there.
    pub fn open(file: &FilePath, seed: Option<u64>) -> Result<Scenario, Error> {
        let name = file.display().to_string();
        let text = load(file).map_err(|message| Error { file: name.clone(), line: None, message })?;
        let beside = file.parent().unwrap_or(FilePath::new(""));
        Scenario::parse(&name, &text, seed, &mut |named| load(&beside.join(named)))
    }

    /// Reads the text of a scenario; `name` stands for it in errors.
    ///
    /// # Errors
    /// Names the line, and what was expected there.
    pub fn parse(name: &str, text: &str, seed: Option<u64>, files: &mut Files<'_>) -> Result<Scenario, Error> {
        read(text, seed, files).map_err(|fault| Error {
            file: name.to_owned(),
            line: fault.span.map(|span| 1 + text.as_bytes().iter().take(span.start).filter(|b| **b == b'\n').count()),
            message: fault.message,
        })
    }
}

fn load(file: &FilePath) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| {
        let text = error.to_string();
        format!("cannot be read: {}", text.split(" (os error").next().unwrap_or_default().to_lowercase())
    })
}

/// An error and where in the text it lies.
struct Fault {
    span: Option<Range<usize>>,
    message: String,
}

impl Fault {
    fn at(span: &Range<usize>, message: impl Into<String>) -> Fault {
        Fault { span: Some(span.clone()), message: message.into() }
    }
}

impl From<toml::de::Error> for Fault {
    fn from(error: toml::de::Error) -> Fault {
        // The library puts what it expected on a second line.
        Fault { span: error.span(), message: error.message().trim_end().replace('\n', ", ") }
    }
}

/// A table of the text, from which keys are taken one after the other.
struct Section<'a> {
    span: Range<usize>,
    table: DeTable<'a>,
}

impl<'a> Section<'a> {
    fn of(value: Spanned<DeValue<'a>>) -> Result<Section<'a>, Fault> {
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => Ok(Section { span, table }),
            other => Err(Fault::at(&span, format!("expected a table, found {}", other.type_str()))),
        }
    }

    fn take(&mut self, key: &str) -> Option<Spanned<DeValue<'a>>> {
        self.table.remove(key)
    }

    /// The value of `key`, which must be there.
    fn require<T: Deserialize<'a>>(&mut self, key: &str) -> Result<T, Fault> {
        let value = self.take(key).ok_or_else(|| Fault::at(&self.span, format!("missing '{key}'")))?;
        Ok(T::deserialize(ValueDeserializer::from(value))?)
    }

    /// The tables of the array `key`, none if it is not there.
    fn sections(&mut self, key: &str) -> Result<Vec<Section<'a>>, Fault> {
        let Some(value) = self.take(key) else { return Ok(Vec::new()) };
        let span = value.span();
        match value.into_inner() {
            DeValue::Array(array) => array.into_iter().map(Section::of).collect(),
            other => Err(Fault::at(&span, format!("expected [[...{key}]], found {}", other.type_str()))),
        }
    }

    /// Everything that was not taken, as one value.
    fn rest<T: Deserialize<'a>>(self) -> Result<T, Fault> {
        Ok(T::deserialize(ValueDeserializer::from(Spanned::new(self.span, DeValue::Table(self.table))))?)
    }

    /// Nothing may be left.
    fn finish(self, expected: &str) -> Result<(), Fault> {
        match self.table.keys().next() {
            Some(key) => Err(Fault::at(&key.span(), format!("unknown '{}', expected {expected}", key.get_ref()))),
            None => Ok(()),
        }
    }
}

fn read(text: &str, seed: Option<u64>, files: &mut Files<'_>) -> Result<Scenario, Fault> {
    let document = DeTable::parse(text)?;
    let mut document = Section { span: 0..0, table: document.into_inner() };
    let own: u64 = document.require("seed")?;
    let seed = seed.unwrap_or(own);
    let root = Rng::new(seed);
    let mut direction = |name: &str| {
        let table = document.take(name).ok_or_else(|| Fault::at(&(0..0), format!("missing [{name}]")))?;
        path(Section::of(table)?, &root.fork(name), files)
    };
    let scenario = Scenario { seed, forward: direction("forward")?, reverse: direction("reverse")? };
    document.finish("seed, [forward] or [reverse]")?;
    Ok(scenario)
}

fn path(mut direction: Section<'_>, rng: &Rng, files: &mut Files<'_>) -> Result<Path, Fault> {
    let mut path = Path::default();
    for mut section in direction.sections("element")? {
        let (kind, name) = kind_and_name(&mut section)?;
        let span = section.span.clone();
        if path.element(&name).is_some() {
            return Err(Fault::at(&span, format!("a second element named '{name}': give one of them another 'name'")));
        }
        path = path.then(&name, element::read(&kind, section, rng.fork(&name), files)?);
    }
    for mut section in direction.sections("traffic")? {
        let (kind, name) = kind_and_name(&mut section)?;
        let span = section.span.clone();
        let before: String = section.require("before")?;
        let source = traffic::read(&kind, section, rng.fork(&format!("traffic.{name}")), files)?;
        path = path.joined(source, &before).map_err(|_| Fault::at(&span, format!("no element is named '{before}'")))?;
    }
    direction.finish("[[...element]] or [[...traffic]]")?;
    Ok(path)
}

/// What a section describes, and what it is called: its kind, unless it says otherwise.
fn kind_and_name(section: &mut Section<'_>) -> Result<(Spanned<String>, String), Fault> {
    let kind: Spanned<String> = section.require("kind")?;
    let name = if section.table.contains_key("name") { section.require("name")? } else { kind.get_ref().clone() };
    Ok((kind, name))
}
