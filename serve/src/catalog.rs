//! The videos of a folder, and the rate of each of its files. File names are relative to the folder, with `/` between
//! parts.

pub mod frames;
mod scan;
mod walk;

use std::collections::HashMap;
use std::io;

use thalweg_core::units::Rate;

use self::scan::{Contents, Scan};
use self::walk::Stamp;
use crate::kind::extension;
use crate::root::Root;

/// The playable contents of a folder.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Videos, in the order of their names.
    pub videos: Vec<Video>,
    /// Videos in formats that no browser plays, in the order of their names.
    pub foreign: Vec<String>,
    /// Transport streams that no playlist names, in the order of their names: videos for players of RTSP.
    pub streams: Vec<String>,
    /// Names of files that could not be read and the reasons, in the order of the names.
    pub faults: Vec<(String, String)>,
    /// Cost of the last scan of the folder.
    pub work: Work,
    rates: HashMap<String, Rate>,
    /// Contents of files that may be unchanged at the next scan.
    known: HashMap<String, (Stamp, Contents)>,
    /// Digest of all files and their stamps.
    digest: Option<u64>,
}

/// Cost of a scan of a folder, apart from the list of its files.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Work {
    /// Videos, playlists and manifests that were read.
    pub read: usize,
    /// Links and names in playlists and manifests that were looked up.
    pub looked_up: usize,
    /// Files whose names were compared with patterns of manifests.
    pub compared: usize,
}

/// A video that can be played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Video {
    /// The name of its file, or of its playlist or manifest.
    pub name: String,
    /// The form in which it is stored.
    pub form: Form,
    /// Its rate, or those of its renditions, ascending, each once; empty if unknown.
    pub rates: Vec<Rate>,
}

/// The form in which a video is stored.
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
    /// Scans a folder for the first time.
    ///
    /// # Errors
    /// The folder itself cannot be read.
    pub fn scan(root: &Root) -> io::Result<Catalog> {
        Ok(Catalog::default().rescan(root)?.unwrap_or_default())
    }

    /// Scans a folder again; none if nothing in it has changed. Reads only files that have changed.
    ///
    /// # Errors
    /// The folder itself cannot be read.
    pub fn rescan(&self, root: &Root) -> io::Result<Option<Catalog>> {
        let found = walk::walk(root)?;
        let digest = Some(found.digest());
        if digest == self.digest {
            return Ok(None);
        }
        let mut catalog = Scan::new(root, self, &found.files).run();
        catalog.digest = digest;
        let is_stream = |name: &&String| extension(name) == "ts" && !catalog.rates.contains_key(*name);
        catalog.streams = found.files.keys().filter(is_stream).cloned().collect();
        catalog.foreign = found.files.into_keys().filter(|name| is_foreign(name)).collect();
        catalog.faults.extend(found.faults);
        catalog.faults.extend(catalog.foreign_fault());
        catalog.faults.sort();
        catalog.videos.sort_by(|a, b| a.name.cmp(&b.name));
        for video in &mut catalog.videos {
            video.rates.sort_unstable_by_key(|rate| rate.as_bps());
            video.rates.dedup();
        }
        Ok(Some(catalog))
    }

    /// The playback rate of a file.
    pub fn rate(&self, file: &str) -> Option<Rate> {
        self.rates.get(file).copied()
    }

    /// One fault for all videos that browsers do not play, whatever their number.
    fn foreign_fault(&self) -> Option<(String, String)> {
        let first = self.foreign.first()?;
        let (_, extension) = first.rsplit_once('.')?;
        let more = match self.foreign.len() - 1 {
            0 => String::new(),
            more => format!(", nor {more} similar ones"),
        };
        let copy = if is_old(first) { "" } else { " -c copy" };
        let remedy = format!("convert it with `ffmpeg -i video.{extension}{copy} video.mp4`");
        Some((first.clone(), format!("browsers do not play this file{more}; {remedy}")))
    }
}

/// True if a file is a video by its name, but not for browsers.
fn is_foreign(name: &str) -> bool {
    matches!(&*extension(name), "mkv" | "avi" | "flv" | "m2ts" | "mts") || is_old(name)
}

/// True if the pictures inside are also of a kind that no browser plays, or that no MP4 can contain.
fn is_old(name: &str) -> bool {
    matches!(&*extension(name), "wmv" | "mpg" | "mpeg" | "vob" | "ogv")
}

impl Form {
    /// The form of a file by its name, if it is a video.
    fn of(name: &str) -> Option<Form> {
        match extension(name).as_str() {
            "mp4" | "m4v" | "m4a" | "mov" | "webm" => Some(Form::File),
            "m3u8" => Some(Form::Hls),
            "mpd" => Some(Form::Dash),
            _ => None,
        }
    }
}
