//! From files to videos: manifests first, since the files that they name are no videos of their own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use thalweg_core::units::{Bytes, Rate};

use super::walk::Stamp;
use super::{Catalog, Form, Video};
use crate::kind::extension;
use crate::link;
use crate::rate::dash::{self, FilePattern, Manifest};
use crate::rate::hls::{Media, Playlist};
use crate::rate::{FormatError, mp4, webm};
use crate::root::Root;

/// Limit in bytes on a playlist or manifest that is read.
const MAX_MANIFEST: u64 = 8 << 20;
/// Limit in bytes on all playlists and manifests of a folder.
const MAX_MANIFESTS: u64 = 1 << 30;
/// Limit in bytes on all names in them, which are kept until they change: three times those of as many files as are
/// scanned.
const MAX_NAMES: usize = 64 << 20;
/// Memory in bytes for a name beside its own bytes.
const NAME: usize = 64;
/// Limit on comparisons of file names with patterns, per scan.
const MAX_COMPARED: usize = 5_000_000;

/// The contents of a file when it was last read.
#[derive(Clone, Debug)]
pub(super) enum Contents {
    /// A video in a single file, at this rate.
    File(Rate),
    Dash(Arc<Manifest>),
    Hls(Arc<Playlist>),
    /// Names beyond the limit, with their number of bytes.
    TooMuch(usize),
    Invalid(FormatError),
}

/// A scan of a folder in progress.
pub(super) struct Scan<'a> {
    root: &'a Root,
    before: &'a Catalog,
    files: &'a BTreeMap<String, Stamp>,
    catalog: Catalog,
    /// Remaining bytes for manifests, and for names in them.
    bytes_left: u64,
    name_bytes_left: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(root: &'a Root, before: &'a Catalog, files: &'a BTreeMap<String, Stamp>) -> Scan<'a> {
        let catalog = Catalog::default();
        Scan { root, before, files, catalog, bytes_left: MAX_MANIFESTS, name_bytes_left: MAX_NAMES }
    }

    pub(super) fn run(mut self) -> Catalog {
        for name in self.of(Form::Dash) {
            let rates = match self.contents(name) {
                Contents::Dash(manifest) => self.manifest(&manifest).map(|()| manifest.rates.clone()),
                other => Err(error_of(other)),
            };
            self.report(name, Form::Dash, rates);
        }
        self.playlists();
        for name in self.of(Form::File) {
            if self.catalog.rate(name).is_none() {
                let rates = self.video(name).map(|rate| vec![rate]);
                self.report(name, Form::File, rates);
            }
        }
        // For players other than browsers, so these are no videos of the page.
        for name in self.files.keys().filter(|name| extension(name) == "mkv") {
            if self.catalog.rate(name).is_none()
                && let Err(error) = self.video(name)
            {
                self.catalog.faults.push((name.to_owned(), error.to_string()));
            }
        }
        self.catalog
    }

    fn of(&self, form: Form) -> Vec<&'a str> {
        self.files.keys().filter(|name| Form::of(name) == Some(form)).map(String::as_str).collect()
    }

    /// Adds a video, and its fault if it has one. A broken file is still served: only its rate is unknown.
    fn report(&mut self, name: &str, form: Form, rates: Result<Vec<Rate>, FormatError>) {
        let rates = rates.unwrap_or_else(|error| {
            self.catalog.faults.push((name.to_owned(), error.to_string()));
            Vec::new()
        });
        self.catalog.videos.push(Video { name: name.to_owned(), form, rates });
    }

    /// Sets the rate of a file. A file that is part of several renditions must be fast enough for each.
    fn claim(&mut self, name: &str, rate: Rate) {
        self.catalog.work.looked_up += 1;
        if self.files.contains_key(name) {
            let known = self.catalog.rates.entry(name.to_owned()).or_insert(rate);
            *known = rate.max(*known);
        }
    }

    /// The rate of a video in a single file.
    fn video(&mut self, name: &str) -> Result<Rate, FormatError> {
        match self.contents(name) {
            Contents::File(rate) => {
                self.claim(name, rate);
                Ok(rate)
            }
            other => Err(error_of(other)),
        }
    }

    /// The contents of a file, which is read only if it has changed, or did not fit before.
    fn contents(&mut self, name: &str) -> Contents {
        let stamp = self.files[name];
        if !matches!(Form::of(name), None | Some(Form::File)) {
            match self.bytes_left.checked_sub(stamp.len.min(MAX_MANIFEST)) {
                Some(left) => self.bytes_left = left,
                None => {
                    return Contents::Invalid(FormatError::new(
                        "not read: the playlists and manifests before it have 1 GiB",
                    ));
                }
            }
        }
        let contents = match self.before.known.get(name) {
            Some((_, Contents::TooMuch(names))) if *names <= self.name_bytes_left => self.read(name),
            Some((known, contents)) if *known == stamp => contents.clone(),
            _ => self.read(name),
        };
        let names = contents.names();
        let contents = match self.name_bytes_left.checked_sub(names) {
            Some(left) => {
                self.name_bytes_left = left;
                contents
            }
            None => Contents::TooMuch(names),
        };
        self.catalog.known.insert(name.to_owned(), (stamp, contents.clone()));
        contents
    }

    fn read(&mut self, name: &str) -> Contents {
        self.catalog.work.read += 1;
        let read = match extension(name).as_str() {
            "mpd" => self.text(name).and_then(|text| dash::parse(link::folder(name), &text)).map(Contents::from),
            "m3u8" => self.text(name).and_then(|text| Playlist::parse(&text)).map(Contents::from),
            other => {
                let file = self.root.file(Path::new(name)).map_err(FormatError::unreadable);
                let rate = file.and_then(|mut file| match other {
                    "webm" | "mkv" => webm::rate(&mut file),
                    _ => mp4::rate(&mut file),
                });
                rate.map(Contents::File)
            }
        };
        read.unwrap_or_else(Contents::Invalid)
    }

    fn text(&self, name: &str) -> Result<String, FormatError> {
        let file = self.root.file(Path::new(name)).map_err(FormatError::unreadable)?;
        let mut text = String::new();
        match file.take(MAX_MANIFEST + 1).read_to_string(&mut text).map_err(FormatError::unreadable)? as u64 {
            0..=MAX_MANIFEST => Ok(text),
            _ => Err(FormatError::new("longer than 8 MiB")),
        }
    }

    fn manifest(&mut self, manifest: &Manifest) -> Result<(), FormatError> {
        for (pattern, rate) in &manifest.files {
            if pattern.is_one() {
                self.claim(pattern.start(), *rate);
                continue;
            }
            let mut matching = Vec::new();
            let from_start = self.files.range(pattern.start().to_owned()..).map(|(name, _)| name);
            for name in from_start.take_while(|name| name.starts_with(pattern.start())) {
                self.catalog.work.compared += 1;
                if self.catalog.work.compared > MAX_COMPARED {
                    return Err(FormatError::new(
                        "too many files begin like its patterns and those of the manifests before it",
                    ));
                }
                matching.extend(pattern.is(name).then_some(name));
            }
            matching.into_iter().for_each(|name| self.claim(name, *rate));
        }
        Ok(())
    }

    /// Handles playlists of renditions, then those that belong to none.
    fn playlists(&mut self) {
        let (mut media, mut masters) = (BTreeMap::new(), Vec::new());
        for name in self.of(Form::Hls) {
            match self.contents(name) {
                Contents::Hls(playlist) if playlist.is_master() => masters.push((name, playlist)),
                Contents::Hls(playlist) => drop(media.insert(name, playlist)),
                other => self.report(name, Form::Hls, Err(error_of(other))),
            }
        }
        // Each playlist that renditions name is processed once, whatever their number.
        let mut named: HashMap<String, Option<Rate>> = HashMap::new();
        for (name, master) in &masters {
            let Playlist::Master { renditions, others } = &**master else { continue };
            let rated = renditions.iter().map(|(rate, uri)| (Some(*rate), uri));
            for (rate, uri) in rated.chain(others.iter().map(|uri| (None, uri))) {
                self.catalog.work.looked_up += 1;
                if let Some(below) = link::resolve(link::folder(name), uri) {
                    let fastest = named.entry(below).or_default();
                    *fastest = rate.max(*fastest);
                }
            }
            self.report(name, Form::Hls, Ok(renditions.iter().map(|(rate, _)| *rate).collect()));
        }
        for (name, playlist) in media {
            let Playlist::Media(playlist) = &*playlist else { continue };
            let rate = named.get(name).copied().flatten().or_else(|| self.mean(name, playlist));
            if let Some(rate) = rate {
                self.segments(name, &playlist.links, rate);
            }
            if !named.contains_key(name) {
                let rates = rate
                    .map(|rate| vec![rate])
                    .ok_or_else(|| FormatError::new("none of the segments that it names exists"));
                self.report(name, Form::Hls, rates);
            }
        }
    }

    fn segments(&mut self, playlist: &str, links: &[String], rate: Rate) {
        for segment in links.iter().filter_map(|uri| link::resolve(link::folder(playlist), uri)) {
            self.claim(&segment, rate);
        }
    }

    /// The bytes of all segments over their duration.
    fn mean(&mut self, name: &str, Media { length, links, bytes }: &Media) -> Option<Rate> {
        self.catalog.work.looked_up += links.len();
        let segments = links.iter().filter_map(|uri| link::resolve(link::folder(name), uri));
        // For example, a playlist that names itself.
        let segments: HashSet<_> = segments.filter(|segment| Form::of(segment) != Some(Form::Hls)).collect();
        let whole = || segments.iter().filter_map(|segment| self.files.get(segment)).map(|stamp| stamp.len).sum();
        let rate = Rate::of(Bytes(bytes.unwrap_or_else(whole)), *length);
        (rate.as_bps() > 0).then_some(rate)
    }
}

/// The reason that a file is not what its name says.
fn error_of(contents: Contents) -> FormatError {
    match contents {
        Contents::Invalid(error) => error,
        _ => FormatError::new("file names in it and in the playlists and manifests before it exceed 64 MiB"),
    }
}

impl Contents {
    /// The memory that its names take, in bytes.
    fn names(&self) -> usize {
        let sum = |names: &mut dyn Iterator<Item = usize>| names.map(|len| len + NAME).sum();
        match self {
            Contents::Dash(manifest) => sum(&mut manifest.files.keys().map(FilePattern::len)) + manifest.rates.len(),
            Contents::Hls(playlist) => sum(&mut playlist.names().map(str::len)),
            Contents::TooMuch(names) => *names,
            Contents::File(_) | Contents::Invalid(_) => 0,
        }
    }
}

impl From<Manifest> for Contents {
    fn from(manifest: Manifest) -> Contents {
        Contents::Dash(Arc::new(manifest))
    }
}

impl From<Playlist> for Contents {
    fn from(playlist: Playlist) -> Contents {
        Contents::Hls(Arc::new(playlist))
    }
}
