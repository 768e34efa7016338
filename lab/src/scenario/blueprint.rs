//! A described experiment: parameters, hops and flows. `docs/lab.md` documents the format.

mod flow;
mod hop;
mod share;
mod stored;
mod stream;
mod tcp;
mod tunnel;

use core::ops::Range;
use std::collections::BTreeMap;
use std::path::Path as FilePath;

use serde::Deserialize;
use thalweg_core::rng::Rng;
use thalweg_core::time::Span;
use toml::Spanned;
use toml::de::DeTable;

use self::flow::AccessText;
pub(super) use self::stream::is_scheme;
pub use self::stream::schemes;
use super::fault::{Error, Fault};
use super::parameter::{self, Literals, Parameter};
use super::quantity::Quantity;
use super::section::Section;
use super::{Files, Laws, MAX_NAMED, MAX_SCENARIO, loaded};
use crate::experiment::{Experiment, Part};
use crate::network::Hop;

/// An experiment as its file and its settings describe it, for any seed.
#[derive(Clone, PartialEq, Debug)]
pub struct Blueprint {
    name: String,
    text: String,
    settings: Vec<(String, String)>,
    files: BTreeMap<String, Result<String, String>>,
    laws: Laws,
    about: String,
    parameters: Vec<Parameter>,
}

/// The content of a text for one seed.
struct Reading {
    about: String,
    parameters: Vec<Parameter>,
    experiment: Experiment,
    places: Places,
}

/// The places of an experiment's parts in its text.
struct Places {
    duration: Range<usize>,
    warmup: Range<usize>,
    groups: Vec<Range<usize>>,
    share: Range<usize>,
}

impl Places {
    fn of(&self, part: Part) -> Range<usize> {
        match part {
            Part::Duration => self.duration.clone(),
            Part::Warmup => self.warmup.clone(),
            Part::Share => self.share.clone(),
            Part::Group(nth) => self.groups.get(nth).cloned().unwrap_or_default(),
        }
    }
}

impl Blueprint {
    /// Reads a file; the files that it names are searched beside it. `settings` are names of parameters, with values
    /// that replace their defaults; `auto` stands for the default itself.
    ///
    /// # Errors
    /// Names the file, the line, and what was expected there, or what would be impossible to run.
    pub fn open(file: &FilePath, settings: &[(String, String)]) -> Result<Blueprint, Error> {
        let name = file.display().to_string();
        let text = loaded(file, MAX_SCENARIO).map_err(|why| Error::of(&name, why))?;
        let beside = file.parent().unwrap_or(FilePath::new(""));
        Blueprint::parse(&name, &text, settings, &mut |named| loaded(&beside.join(named), MAX_NAMED))
    }

    /// Parses a text; `name` names it in errors.
    ///
    /// # Errors
    /// Names the line, and what was expected there, or what would be impossible to run.
    pub fn parse(
        name: &str,
        text: &str,
        settings: &[(String, String)],
        files: &mut Files<'_>,
    ) -> Result<Blueprint, Error> {
        Blueprint::parse_with(name, text, settings, files, &Laws::default())
    }

    /// Parses a text whose flows may also have laws of one's own.
    ///
    /// # Errors
    /// Those of [`Blueprint::parse`].
    pub fn parse_with(
        name: &str,
        text: &str,
        settings: &[(String, String)],
        files: &mut Files<'_>,
        laws: &Laws,
    ) -> Result<Blueprint, Error> {
        let mut kept = BTreeMap::new();
        let mut keep = |named: &str| kept.entry(named.to_owned()).or_insert_with(|| files(named)).clone();
        let reading = read(text, settings, 0, &mut keep, laws).map_err(|fault| fault.in_file(name, text))?;
        let possible = reading.experiment.check_parts();
        possible.map_err(|(part, why)| Fault::at(&reading.places.of(part), why).in_file(name, text))?;
        let Reading { about, parameters, .. } = reading;
        let (name, text, settings, laws) = (name.to_owned(), text.to_owned(), settings.to_vec(), laws.clone());
        Ok(Blueprint { name, text, settings, files: kept, laws, about, parameters })
    }

    /// The description in its file.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The files that it names, each with its text, or the reason why it has none.
    pub fn files(&self) -> &BTreeMap<String, Result<String, String>> {
        &self.files
    }

    /// The laws of one's own that its flows may have.
    pub fn laws(&self) -> &Laws {
        &self.laws
    }

    /// Its parameters, in the order of the file.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The experiment, in which every random choice derives from `seed`.
    ///
    /// # Errors
    /// Those of [`Blueprint::parse`], which detects them for all seeds.
    pub fn experiment(&self, seed: u64) -> Result<Experiment, Error> {
        let mut kept = |named: &str| self.files.get(named).cloned().unwrap_or_else(|| Err("was not read".to_owned()));
        let reading = read(&self.text, &self.settings, seed, &mut kept, &self.laws);
        reading.map(|reading| reading.experiment).map_err(|fault| fault.in_file(&self.name, &self.text))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RunText {
    duration: Spanned<Quantity<Span>>,
    warmup: Option<Spanned<Quantity<Span>>>,
}

fn read(
    text: &str,
    settings: &[(String, String)],
    seed: u64,
    files: &mut Files<'_>,
    laws: &Laws,
) -> Result<Reading, Fault> {
    let (parameters, literals) = parameters(text, settings)?;
    let mut table = DeTable::parse(text)?.into_inner();
    table.remove("parameters");
    parameter::substitute(&mut table, &literals)?;
    let mut document = Section::new(0..0, table);
    let about = document.optional("about")?.unwrap_or_default();
    let Some(run) = document.section("run")? else {
        let path = document.table.contains_key("forward");
        let why = if path { "a path for `thalweg emulate`, not an experiment: missing [run]" } else { "missing [run]" };
        return Err(Fault::at(&(0..0), why));
    };
    let RunText { duration, warmup } = run.rest()?;
    let root = Rng::new(seed).fork("scenario");
    let mut hops = Vec::new();
    for (index, section) in document.sections("hop")?.into_iter().enumerate() {
        let span = section.span.clone();
        let hop = hop::read(section, &root.fork(&format!("hop {}", index + 1)), files)?;
        if hop.cell().is_some() && hops.iter().any(|hop: &Hop| hop.cell().is_some()) {
            return Err(Fault::at(&span, "a second hop of kind 'wifi', expected one cell at most"));
        }
        hops.push(hop);
    }
    if hops.is_empty() {
        return Err(Fault::at(&(0..0), "missing [[hop]]"));
    }
    let access = document.section("access")?.map(AccessText::read).transpose()?;
    let mut flows = flow::Flows::new(&hops, access, &root, duration.get_ref().0, laws);
    let described = document.sections("flow")?;
    let share = document.section("share")?;
    let share_at = share.as_ref().map(|share| share.span.clone()).unwrap_or_default();
    let share = share.map(share::read).transpose()?.flatten();
    document.finish("about, [parameters], [run], [[hop]], [access], [share] or [[flow]]")?;
    if described.is_empty() {
        return Err(Fault::at(&(0..0), "missing [[flow]]"));
    }
    for section in described {
        flows.add(section, files)?;
    }
    let (mut groups, of_groups) = flows.into_groups();
    if share.is_some() {
        share::make_gca(&mut groups);
    }
    if groups.iter().all(|group| group.count == 0) {
        return Err(Fault::at(&(0..0), "no flow: every 'count' is 0"));
    }
    let places = Places {
        warmup: warmup.as_ref().unwrap_or(&duration).span(),
        duration: duration.span(),
        groups: of_groups,
        share: share_at,
    };
    let (duration, warmup) = (duration.into_inner().0, warmup.map_or(Span::ZERO, |warmup| warmup.into_inner().0));
    Ok(Reading { about, parameters, experiment: Experiment { hops, groups, share, duration, warmup }, places })
}

/// The parameters, and the values of all expressions, which the table borrows once they are substituted.
fn parameters(text: &str, settings: &[(String, String)]) -> Result<(Vec<Parameter>, Literals), Fault> {
    let mut table = DeTable::parse(text)?.into_inner();
    let section = table.remove("parameters").map(Section::of).transpose()?;
    let parameters = parameter::read(section, settings)?;
    let literals = parameter::literals(&table, &parameters)?;
    Ok((parameters, literals))
}
