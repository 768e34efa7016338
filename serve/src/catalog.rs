//! The films of a folder, and the rate of each of its files. Files are named from the folder on, with `/` between.

mod scan;
mod walk;

use std::collections::HashMap;
use std::io;

use thalweg_core::units::Rate;

use self::scan::{Said, Scan};
use self::walk::Stamp;
use crate::kind::extension;
use crate::root::Root;

/// What a folder has to play.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// In the order of their names.
    pub films: Vec<Film>,
    /// Films in forms that no browser plays, in the order of their names.
    pub foreign: Vec<String>,
    /// What could not be read, and why, in the order of their names.
    pub faults: Vec<(String, String)>,
    /// Cost of the last look through the folder.
    pub work: Work,
    rates: HashMap<String, Rate>,
    /// Contents of files that may be unchanged the next time.
    known: HashMap<String, (Stamp, Said)>,
    /// Of all files and their stamps.
    digest: Option<u64>,
}

/// Cost of a look through a folder, beside its list of files.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Work {
    /// Films, playlists and manifests that were read.
    pub read: usize,
    /// Links and names of playlists and manifests that were looked up.
    pub looked_up: usize,
    /// Files whose names were compared with patterns of manifests.
    pub compared: usize,
}

/// A film that can be played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Film {
    /// Its file, or its playlist or manifest.
    pub name: String,
    /// How it is stored.
    pub form: Form,
    /// Its rate, or those of its renditions, ascending, each once; none if nobody knows.
    pub rates: Vec<Rate>,
}

/// How a film is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// One file that a browser plays itself.
    File,
    /// An HLS playlist.
    Hls,
    /// A DASH manifest.
    Dash,
}

impl Catalog {
    /// Looks through a folder for the first time.
    ///
    /// # Errors
    /// The folder itself cannot be read.
    pub fn scan(root: &Root) -> io::Result<Catalog> {
        Ok(Catalog::default().again(root)?.unwrap_or_default())
    }

    /// Looks through a folder again; none if nothing in it has changed. Only files that have changed are read.
    ///
    /// # Errors
    /// The folder itself cannot be read.
    pub fn again(&self, root: &Root) -> io::Result<Option<Catalog>> {
        let found = walk::walk(root)?;
        let digest = Some(found.digest());
        if digest == self.digest {
            return Ok(None);
        }
        let mut catalog = Scan::new(root, self, &found.files).run();
        catalog.digest = digest;
        catalog.foreign = found.files.into_keys().filter(|name| is_foreign(name)).collect();
        catalog.faults.extend(found.faults);
        catalog.faults.extend(catalog.foreign_fault());
        catalog.faults.sort();
        catalog.films.sort_by(|a, b| a.name.cmp(&b.name));
        for film in &mut catalog.films {
            film.rates.sort_unstable_by_key(|rate| rate.as_bps());
            film.rates.dedup();
        }
        Ok(Some(catalog))
    }

    /// The rate at which a file is played.
    pub fn rate(&self, file: &str) -> Option<Rate> {
        self.rates.get(file).copied()
    }

    /// One line for all that browsers do not play, however many these are.
    fn foreign_fault(&self) -> Option<(String, String)> {
        let first = self.foreign.first()?;
        let (_, extension) = first.rsplit_once('.')?;
        let more = match self.foreign.len() - 1 {
            0 => String::new(),
            more => format!(", nor {more} more like it"),
        };
        let copy = if is_old(first) { "" } else { " -c copy" };
        let remedy = format!("`ffmpeg -i film.{extension}{copy} film.mp4` makes one of it that they do");
        Some((first.clone(), format!("browsers do not play it{more}; {remedy}")))
    }
}

/// Whether a file is a film by its name, but none for browsers.
fn is_foreign(name: &str) -> bool {
    matches!(&*extension(name), "mkv" | "avi" | "flv" | "m2ts" | "mts") || is_old(name)
}

/// Whether its pictures, too, are of a kind that no browser plays, or even no MP4 can have.
fn is_old(name: &str) -> bool {
    matches!(&*extension(name), "wmv" | "mpg" | "mpeg" | "vob" | "ogv")
}

impl Form {
    /// What a file is by its name, if it is a film.
    fn of(name: &str) -> Option<Form> {
        match extension(name).as_str() {
            "mp4" | "m4v" | "m4a" | "mov" | "webm" => Some(Form::File),
            "m3u8" => Some(Form::Hls),
            "mpd" => Some(Form::Dash),
            _ => None,
        }
    }
}
