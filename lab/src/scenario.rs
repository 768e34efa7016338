//! A described network: TOML in, two paths out. `docs/emulate.md` documents the format.

mod blueprint;
mod element;
mod expression;
mod fault;
mod laws;
mod parameter;
mod quantity;
mod section;
mod traffic;
mod value;
mod wifi;

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::net::IpAddr;
use std::path::Path as FilePath;

use thalweg_core::rng::Rng;
use toml::de::DeTable;

pub use self::blueprint::{Blueprint, schemes};
pub use self::fault::Error;
use self::fault::Fault;
pub use self::laws::Laws;
pub use self::parameter::Parameter;
use self::section::Section;
pub use self::value::Value;
use crate::node::wifi::Cell;
use crate::path::{Pair, Path};

/// Two paths, one per direction, ready to be driven, and the Wi-Fi cell behind them.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// The seed of every random choice of both paths.
    pub seed: u64,
    /// From the client to the server.
    pub forward: Path,
    /// From the server to the client.
    pub reverse: Path,
    /// The cell between the end of the forward path and the servers, which are at its stations.
    pub cell: Option<Cell>,
    /// The address of each of its stations, or none if the file has no addresses.
    pub addresses: Vec<IpAddr>,
}

impl From<Scenario> for Pair {
    fn from(scenario: Scenario) -> Pair {
        Pair::new(scenario.forward, scenario.reverse, scenario.cell)
    }
}

/// A loader of the files that a scenario names: returns a file's text, or the reason why there is none.
pub type Files<'a> = dyn FnMut(&str) -> Result<String, String> + 'a;

impl Scenario {
    /// Reads a scenario file; the files that it names are searched beside it. `seed` takes precedence over the file's
    /// own.
    ///
    /// # Errors
    /// Names the file, the line, and what was expected there.
    pub fn open(file: &FilePath, seed: Option<u64>) -> Result<Scenario, Error> {
        let name = file.display().to_string();
        let text = loaded(file, MAX_SCENARIO).map_err(|why| Error::of(&name, why))?;
        let beside = file.parent().unwrap_or(FilePath::new(""));
        Scenario::parse(&name, &text, seed, &mut |named| loaded(&beside.join(named), MAX_NAMED))
    }

    /// Parses the text of a scenario; `name` names it in errors.
    ///
    /// # Errors
    /// Names the line, and what was expected there.
    pub fn parse(name: &str, text: &str, seed: Option<u64>, files: &mut Files<'_>) -> Result<Scenario, Error> {
        read(text, seed, files).map_err(|fault| fault.in_file(name, text))
    }
}

/// The maximum size of a scenario file, in bytes.
pub const MAX_SCENARIO: u64 = 1 << 20;
/// The maximum size in bytes of a trace or a recording that a scenario names: ten minutes of 700 Mb/s, with a line of
/// seven bytes for each packet.
pub const MAX_NAMED: u64 = 256 << 20;

/// Reads the text of a file of at most `most` bytes.
///
/// # Errors
/// The system's reason; [`ErrorKind::FileTooLarge`] if the file is longer.
pub fn load(file: &FilePath, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(file)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("longer than {most} bytes")));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::new(ErrorKind::InvalidData, "not a text file"))
}

/// Does the same, with the reason of a failure as text.
fn loaded(file: &FilePath, most: u64) -> Result<String, String> {
    load(file, most).map_err(|error| format!("cannot be read: {}", plain(&error)))
}

/// The message of an error from the kernel, without its number.
pub fn plain(error: &io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase()
}

fn read(text: &str, seed: Option<u64>, files: &mut Files<'_>) -> Result<Scenario, Fault> {
    let document = DeTable::parse(text)?;
    let mut document = Section::new(0..0, document.into_inner());
    if document.table.contains_key("run") && !document.table.contains_key("forward") {
        return Err(Fault::at(&(0..0), "an experiment for `thalweg lab`, not a path: missing [forward]"));
    }
    let own: u64 = document.require("seed")?;
    let seed = seed.unwrap_or(own);
    let root = Rng::new(seed);
    let mut direction = |name: &'static str| {
        let table = document.take(name).ok_or_else(|| Fault::at(&(0..0), format!("missing [{name}]")))?;
        path(Section::of(table)?, &root.fork(name), files)
    };
    let (forward, reverse) = (direction("forward")?, direction("reverse")?);
    let wifi = document.section("wifi")?.map(|section| wifi::read(section, &root.fork("wifi"))).transpose()?;
    document.finish("seed, [forward], [reverse] or [wifi]")?;
    let (cell, addresses) = wifi.map_or((None, Vec::new()), |wifi| (Some(wifi.cell), wifi.addresses));
    let scenario = Scenario { seed, forward, reverse, cell, addresses };
    Ok(scenario)
}

fn path(mut direction: Section<'_>, rng: &Rng, files: &mut Files<'_>) -> Result<Path, Fault> {
    let mut path = Path::default();
    for mut section in direction.sections("element")? {
        let (kind, name) = section.kind_and_name()?;
        let span = section.span.clone();
        if path.element(&name).is_some() {
            return Err(Fault::at(&span, format!("a second element named '{name}': give one of them another 'name'")));
        }
        path = path.then(&name, element::read(&kind, section, rng.fork(&name), files)?);
    }
    for mut section in direction.sections("traffic")? {
        let (kind, name) = section.kind_and_name()?;
        let span = section.span.clone();
        let before: String = section.require("before")?;
        let (source, _) = traffic::read(&kind, section, rng.fork(&format!("traffic.{name}")), files)?;
        path = path.joined(source, &before).map_err(|_| Fault::at(&span, format!("no element is named '{before}'")))?;
    }
    direction.finish("[[...element]] or [[...traffic]]")?;
    Ok(path)
}
