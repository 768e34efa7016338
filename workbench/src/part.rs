//! Parts of a sweep: one run each, in a file of JSON lines.
//!
//! The name of a part is a digest of all that determines its run: the text of the scenario, the files that it names, the
//! values of its parameters, the version of its laws of one's own, the seed, the interval of its readings, and the version
//! of the lab. Its file, `NAME.jsonl`, is complete or absent: it is written beside and renamed.
//!
//! | line | content |
//! |---|---|
//! | first | `{"part":NAME,"version":..,"scenario":..,"sources":{..},"parameters":{..},"seed":..,"cpu_s":..}`; `sources` has a digest of the scenario, and of each of its laws of one's own |
//! | `{"summary":{..}}` | the line of `summary.jsonl` of `lab run --out` |
//! | `{"flow":{..}}`, `{"station":{..}}` | lines of `flows.jsonl` and `stations.jsonl` |
//! | `{"interval":{..}}`, `{"hop":{..}}` | with an interval, lines of `intervals-SEED.jsonl` and `hops-SEED.jsonl` |
//! | last | `{"end":DIGEST}`, of all lines before this one |

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::hash::Hasher as _;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use siphasher::sip128::{Hasher128, SipHasher24};
use thalweg_core::time::Span;
use thalweg_lab::scenario::{self, Blueprint};

use crate::error::{Error, FileError};

/// The version of the lab: its number, and a digest of the sources that decide results.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", env!("THALWEG_SOURCES"));

/// The ending of the files.
const ENDING: &str = "jsonl";

/// A complete part.
#[derive(Clone, PartialEq, Debug)]
pub struct Part {
    /// The name.
    pub name: String,
    /// The version of the lab that made it.
    pub version: String,
    /// The name of the scenario.
    pub scenario: String,
    /// Digests of the text of the scenario and of its laws of one's own, by names such as `law Halving`.
    pub sources: BTreeMap<String, String>,
    /// The values of the scenario's parameters.
    pub parameters: Map<String, Value>,
    /// The seed.
    pub seed: u64,
    /// The processor time of the run, in seconds.
    pub cpu_s: f64,
    /// The lines between the first and the last.
    pub lines: String,
}

/// The name of the part of a run.
pub(crate) fn name(
    blueprint: &Blueprint,
    laws: &BTreeMap<String, String>,
    seed: u64,
    interval: Option<Span>,
) -> String {
    let mut hasher = SipHasher24::new();
    // The length keeps texts apart.
    let mut text = |text: &str| {
        hasher.write_u64(text.len() as u64);
        hasher.write(text.as_bytes());
    };
    text(VERSION);
    text(blueprint.text());
    for (name, content) in blueprint.files() {
        text(name);
        text(content.as_deref().unwrap_or_default());
    }
    for parameter in blueprint.parameters() {
        text(&parameter.name);
        let value = parameter.value.to_string();
        text(&value);
        text(laws.get(&value).map_or("", String::as_str));
    }
    text(&format!("{seed} {:?}", interval.map(Span::as_nanos)));
    hex(&hasher)
}

/// The digests of the texts that determine the run of a scenario: of its own, and of those of its laws of one's own.
pub(crate) fn sources(
    scenario: &str,
    blueprint: &Blueprint,
    laws: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let files =
        blueprint.files().iter().flat_map(|(name, content)| [name.as_str(), content.as_deref().unwrap_or_default()]);
    let own = [(format!("scenario {scenario}"), digest([blueprint.text()].into_iter().chain(files)))];
    let values = blueprint.parameters().iter().map(|parameter| parameter.value.to_string());
    let law = |value: String| laws.get(&value).map(|text| (format!("law {value}"), digest([text.as_str()])));
    own.into_iter().chain(values.filter_map(law)).collect()
}

/// A digest of lines.
pub(crate) fn digest<'a>(lines: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = SipHasher24::new();
    lines.into_iter().for_each(|lines| hasher.write(lines.as_bytes()));
    hex(&hasher)
}

fn hex(hasher: &SipHasher24) -> String {
    format!("{:032x}", hasher.finish128().as_u128())
}

/// The parameters of a blueprint, as JSON.
pub fn parameters(blueprint: &Blueprint) -> Map<String, Value> {
    blueprint.parameters().iter().map(|parameter| (parameter.name.clone(), value(&parameter.value))).collect()
}

fn value(value: &scenario::Value) -> Value {
    match value {
        scenario::Value::Number(number) if number.fract() == 0.0 => (*number as i64).into(),
        scenario::Value::Number(number) => (*number).into(),
        scenario::Value::Text(text) => text.as_str().into(),
        scenario::Value::Flag(flag) => (*flag).into(),
    }
}

/// The file of a part.
fn file(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension(ENDING)
}

/// Prepares a folder for parts.
pub(crate) fn prepare(folder: &Path) -> Result<(), FileError> {
    fs::create_dir_all(folder).map_err(FileError::writing(folder))?;
    // An unwritable folder is refused before the first run, which may take long.
    let probe = half(folder, "probe");
    let probed = fs::write(&probe, "something");
    let _ = fs::remove_file(&probe);
    probed.map_err(FileError::writing(&probe))
}

/// The file that a part is written to before it is complete; each process has its own.
fn half(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.{}.half", std::process::id()))
}

/// The names of the files in a folder.
fn names(folder: &Path) -> Result<Vec<String>, FileError> {
    let entries = fs::read_dir(folder).map_err(FileError::reading(folder))?;
    let name = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names = entries.map(name).collect::<io::Result<Vec<_>>>().map_err(FileError::reading(folder))?;
    names.sort();
    Ok(names)
}

/// Removes what killed processes have left of parts that are complete now.
pub(crate) fn clean(folder: &Path, is_complete: impl Fn(&str) -> bool) -> Result<(), FileError> {
    for left in names(folder)?.iter().filter(|name| name.ends_with(".half")) {
        if left.split('.').next().is_some_and(&is_complete) {
            let left = folder.join(left);
            fs::remove_file(&left).map_err(FileError::writing(&left))?;
        }
    }
    Ok(())
}

impl Part {
    /// The text of the file.
    pub fn text(&self) -> String {
        let Part { name, version, scenario, sources, parameters, seed, cpu_s, lines } = self;
        let first = json!({
            "part": name,
            "version": version,
            "scenario": scenario,
            "sources": sources,
            "parameters": parameters,
            "seed": seed,
            "cpu_s": cpu_s,
        });
        let mut text = format!("{first}\n{lines}");
        let end = json!({ "end": digest([text.as_str()]) });
        let _ = writeln!(text, "{end}");
        text
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn store(&self, folder: &Path) -> Result<(), Error> {
        let text = self.text();
        let (half, file) = (half(folder, &self.name), file(folder, &self.name));
        fs::write(&half, text).and_then(|()| fs::rename(&half, &file)).map_err(|error| {
            let _ = fs::remove_file(&half);
            FileError::writing(&file)(error).into()
        })
    }

    /// The part of this name; none if there is no such file, or if it is damaged.
    pub(crate) fn find(folder: &Path, name: &str) -> Option<Part> {
        let text = fs::read_to_string(file(folder, name)).ok()?;
        Part::parse(&text).filter(|part| part.name == name)
    }

    /// The part whose file has this text; none if it is damaged.
    pub fn parse(text: &str) -> Option<Part> {
        let (before, last) = text.split_at(text.strip_suffix('\n')?.rfind('\n')? + 1);
        let (first, lines) = before.split_once('\n')?;
        let last: Value = serde_json::from_str(last).ok()?;
        let first: Value = serde_json::from_str(first).ok()?;
        let text = |key: &str| first[key].as_str().map(str::to_owned);
        let part = Part {
            name: text("part")?,
            version: text("version")?,
            scenario: text("scenario")?,
            sources: serde_json::from_value(first["sources"].clone()).ok()?,
            parameters: first["parameters"].as_object()?.clone(),
            seed: first["seed"].as_u64()?,
            cpu_s: first["cpu_s"].as_f64()?,
            lines: lines.to_owned(),
        };
        (last["end"] == digest([before]).as_str()).then_some(part)
    }

    /// The objects of one kind of line, such as `summary`.
    pub fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = Map<String, Value>> + 'a {
        let objects = self.lines.lines().filter_map(|line| serde_json::from_str::<Map<String, Value>>(line).ok());
        objects
            .filter_map(move |mut line| if let Some(Value::Object(it)) = line.remove(kind) { Some(it) } else { None })
    }
}

/// All parts of a folder, in the order of their names.
///
/// # Errors
/// The folder or a part cannot be read, a part is damaged, or the parts are of several versions of the lab, of a scenario or
/// of a law of one's own.
pub fn load(folder: &Path) -> Result<Vec<Part>, Error> {
    let mut parts: Vec<Part> = Vec::new();
    let mut sources: BTreeMap<String, (String, String)> = BTreeMap::new();
    for file in names(folder)? {
        let Some(name) = file.strip_suffix(".jsonl") else { continue };
        let path = folder.join(&file);
        let text = fs::read_to_string(&path).map_err(FileError::reading(&path))?;
        let damaged = || Error::Part(format!("{} is damaged; remove it and run the sweep again", path.display()));
        let part = Part::parse(&text).filter(|part| part.name == name).ok_or_else(damaged)?;
        if let Some(first) = parts.first().filter(|first| first.version != part.version) {
            let why = format!(
                "{} has parts of two versions of the lab, {} and {}; remove those of one",
                folder.display(),
                first.version,
                part.version
            );
            return Err(Error::Part(why));
        }
        for (source, digest) in &part.sources {
            let (first, of) = sources.entry(source.clone()).or_insert_with(|| (digest.clone(), part.name.clone()));
            if first != digest {
                let why = format!(
                    "{} has parts of two versions of the {source}, as {of}.{ENDING} and {}.{ENDING}; keep each in a folder of its own",
                    folder.display(),
                    part.name
                );
                return Err(Error::Part(why));
            }
        }
        parts.push(part);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(lines: &str) -> Part {
        Part {
            name: "0123".to_owned(),
            version: VERSION.to_owned(),
            scenario: "dumbbell".to_owned(),
            sources: BTreeMap::from([("scenario dumbbell".to_owned(), "12".to_owned())]),
            parameters: Map::from_iter([("rtt_ms".to_owned(), 40.into())]),
            seed: u64::MAX,
            cpu_s: 0.25,
            lines: lines.to_owned(),
        }
    }

    /// A folder of a test's own, which is removed at its end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let folder = Folder(std::env::temp_dir().join(format!("thalweg-part-{name}-{}", std::process::id())));
            prepare(&folder.0).expect("a folder");
            folder
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_stored_part_is_found_whole_and_a_damaged_one_is_named() {
        let folder = Folder::new("stored");
        for lines in ["", "{\"summary\":{\"seed\":1}}\n", "{\"flow\":{\"a\":null}}\n{\"flow\":{\"a\":2}}\n"] {
            part(lines).store(&folder.0).expect("space");
            assert_eq!(Part::find(&folder.0, "0123"), Some(part(lines)));
            assert_eq!(load(&folder.0).expect("one version"), [part(lines)]);
        }
        let text = fs::read_to_string(file(&folder.0, "0123")).expect("stored");
        let cut = text.lines().map(|line| format!("{line}\n")).collect::<Vec<_>>();
        for damaged in
            [&text[..text.len() / 2], &cut[..cut.len() - 1].concat(), &text.replace("\"a\":2", "\"a\":3"), ""]
        {
            fs::write(file(&folder.0, "0123"), damaged).expect("space");
            assert_eq!(Part::find(&folder.0, "0123"), None, "{damaged}");
            let why = load(&folder.0).expect_err("damaged").to_string();
            assert!(why.contains("0123.jsonl is damaged") && !why.contains('\n'), "{why}");
        }
    }

    #[test]
    fn parts_of_two_versions_are_refused_and_both_are_named() {
        let folder = Folder::new("versions");
        part("").store(&folder.0).expect("space");
        let other = Part { name: "4567".to_owned(), version: "0.0.9+abc".to_owned(), ..part("") };
        other.store(&folder.0).expect("space");
        let why = load(&folder.0).expect_err("two versions").to_string();
        assert!(why.contains(VERSION) && why.contains("0.0.9+abc"), "{why}");
    }

    /// An edited law has the name of the one before, so that a table of both would mix them.
    #[test]
    fn parts_of_two_versions_of_a_law_are_refused_and_both_are_named() {
        let folder = Folder::new("laws");
        let of = |name: &str, law: &str, digest: &str| {
            let mut part = Part { name: name.to_owned(), ..part("") };
            part.sources.insert(law.to_owned(), digest.to_owned());
            part.store(&folder.0).expect("space");
        };
        of("0123", "law Halving", "1");
        of("0124", "law Target", "2");
        assert_eq!(load(&folder.0).expect("different laws").len(), 2);
        of("0125", "law Halving", "3");
        let why = load(&folder.0).expect_err("two versions").to_string();
        assert!(why.contains("two versions of the law Halving, as 0123.jsonl and 0125.jsonl"), "{why}");
        assert!(!why.contains('\n'), "{why}");
    }

    #[test]
    fn halves_of_complete_parts_are_removed() {
        let folder = Folder::new("halves");
        for name in ["0123.7.half", "4567.7.half"] {
            fs::write(folder.0.join(name), "cut sh").expect("space");
        }
        clean(&folder.0, |name| name == "0123").expect("it is ours");
        assert_eq!(names(&folder.0).expect("a folder"), ["4567.7.half"]);
    }
}
