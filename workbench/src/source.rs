//! The sources of scenarios: files, and those that come with the binary.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use thalweg_lab::scenario::{Blueprint, Laws, MAX_NAMED, MAX_SCENARIO, load, plain};

use crate::error::{Error, FileError};

/// The text of a scenario.
#[derive(Clone, PartialEq, Debug)]
pub struct Source {
    /// Its name in messages.
    name: String,
    text: String,
    files: Named,
    laws: Laws,
    /// The texts that determine these laws, by their names.
    versions: BTreeMap<String, String>,
}

/// The files that a scenario names.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Named {
    /// Files in this folder.
    Beside(PathBuf),
    /// Files that come with Thalweg.
    BuiltIn,
    /// Files with these names and texts.
    Given(BTreeMap<String, String>),
}

/// A scenario that comes with Thalweg, under the name of its file.
macro_rules! built_in {
    ($($file:literal,)*) => {
        &[$(($file, include_str!(concat!("../../scenarios/", $file)))),*]
    };
}

/// Scenarios, by file below `scenarios/`.
pub const BUILT_IN: &[(&str, &str)] = built_in!(
    "lab/dumbbell.toml",
    "lab/parking-lot.toml",
    "lab/rivals.toml",
    "lab/md1.toml",
    "lab/trace.toml",
    "lab/scaling.toml",
    "lab/tunnel.toml",
    "lab/wifi.toml",
    "lab/ns3-dumbbell.toml",
    "lab/ns3-poisson.toml",
    "lab/ns3-wifi.toml",
    "lab/example.toml",
    "papers/gca.toml",
    "papers/geneva-s0.toml",
    "papers/geneva-s1.toml",
    "papers/geneva-s2.toml",
    "papers/geneva-s3.toml",
    "papers/fec-arq-shared.toml",
    "papers/r3cp-s1.toml",
    "papers/r3cp-s3.toml",
    "papers/r3cp-s4.toml",
    "papers/r3cp-s5.toml",
    "papers/r3cp-s6.toml",
    "papers/tcp-stream-s1.toml",
    "papers/tcp-stream-s2.toml",
    "papers/tcp-stream-pair.toml",
    "rmcat/rmcat-5.1.toml",
    "rmcat/rmcat-5.2.toml",
    "rmcat/rmcat-5.4.toml",
    "rmcat/rmcat-5.5.toml",
    "rmcat/rmcat-5.6.toml",
    "rmcat/rmcat-5.8.toml",
    "rmcat/rmcat-wifi-4.1.toml",
    "rmcat/rmcat-wifi-4.2.toml",
);

/// Files that these scenarios name.
const DATA: &[(&str, &str)] = built_in!("data/steps.trace", "data/frames.csv",);

/// The name of a built-in scenario: its file without folder and ending.
pub fn short(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".toml").unwrap_or(name)
}

/// The names of the scenarios that come with Thalweg, for messages.
pub fn known() -> String {
    BUILT_IN.iter().map(|(file, _)| short(file)).collect::<Vec<_>>().join(", ")
}

impl Source {
    /// The file of that name, or else the scenario of that name that comes with Thalweg.
    ///
    /// # Errors
    /// There is neither, or the file cannot be read.
    pub fn find(name: &str) -> Result<Source, Error> {
        let path = Path::new(name);
        // Not only files: also pipes, as of `<(...)`.
        if path.exists() && !path.is_dir() {
            let text = load(path, MAX_SCENARIO).map_err(FileError::reading(path))?;
            let files = Named::Beside(path.parent().unwrap_or(Path::new("")).to_owned());
            return Ok(Source::of(name.to_owned(), text, files));
        }
        Source::built_in(name).ok_or_else(|| {
            Error::Scenario(format!("'{name}' is neither a file nor a built-in scenario; expected one of {}", known()))
        })
    }

    /// The scenario of that name that comes with Thalweg.
    pub fn built_in(name: &str) -> Option<Source> {
        let (file, text) = BUILT_IN.iter().find(|(file, _)| short(file) == name || name.ends_with(file))?;
        Some(Source::of((*file).to_owned(), (*text).to_owned(), Named::BuiltIn))
    }

    /// The scenario with this text, and the texts of the files that it names: one that another process has read.
    pub fn given(name: String, text: String, files: BTreeMap<String, String>) -> Source {
        Source::of(name, text, Named::Given(files))
    }

    fn of(name: String, text: String, files: Named) -> Source {
        Source { name, text, files, laws: Laws::default(), versions: BTreeMap::new() }
    }

    /// The same scenario, which may name these laws of one's own. `versions` has all that determines what a law does, such as
    /// its source, by its name: it is a part of the names of those parts of a sweep whose parameters name the law.
    pub fn with_laws(self, laws: Laws, versions: BTreeMap<String, String>) -> Source {
        Source { laws, versions, ..self }
    }

    /// The versions of its laws of one's own.
    pub(crate) fn versions(&self) -> &BTreeMap<String, String> {
        &self.versions
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text of the scenario.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The experiment that the scenario describes with these settings.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the settings are at fault, otherwise [`Error::Scenario`].
    pub fn blueprint(&self, settings: &[(String, String)]) -> Result<Blueprint, Error> {
        let data = |named: &str| {
            let found = DATA.iter().find(|(file, _)| named.ends_with(file));
            found.map(|(_, text)| (*text).to_owned())
        };
        let mut files = |named: &str| match &self.files {
            // A copy of a scenario that comes with Thalweg names files that come with Thalweg, too.
            Named::Beside(beside) => load(&beside.join(named), MAX_NAMED).or_else(|error| {
                let copied =
                    data(named).filter(|_| error.kind() == ErrorKind::NotFound && named.starts_with("../data/"));
                copied.ok_or_else(|| format!("cannot be read: {}", plain(&error)))
            }),
            Named::BuiltIn => data(named).ok_or_else(|| "is not built into Thalweg".to_owned()),
            Named::Given(files) => files.get(named).cloned().ok_or_else(|| "is not given".to_owned()),
        };
        Blueprint::parse_with(&self.name, &self.text, settings, &mut files, &self.laws).map_err(|error| {
            match error.is_of_settings() {
                true => Error::Parameter(error.to_string()),
                false => Error::Scenario(error.to_string()),
            }
        })
    }
}
