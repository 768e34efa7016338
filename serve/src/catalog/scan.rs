//! From files to films: manifests first, since what they name is no film of its own.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use thalweg_core::units::{Bytes, Rate};

use super::walk::Stamp;
use super::{Catalog, Film, Form};
use crate::kind::extension;
use crate::link;
use crate::rate::dash::{self, Manifest, Place};
use crate::rate::hls::{Media, Playlist};
use crate::rate::{Wrong, mp4, webm};
use crate::root::Root;

/// The longest playlist or manifest that is read.
const MAX_MANIFEST: u64 = 8 << 20;
/// Bytes of all playlists and manifests of a folder.
const MAX_MANIFESTS: u64 = 1 << 30;
/// Bytes of all names in them, which are kept until they change: three times those of as many files as are looked at.
const MAX_NAMES: usize = 64 << 20;
/// Cost of a name beside its bytes.
const NAME: usize = 64;
/// Files whose names are compared with patterns, each time.
const MAX_COMPARED: usize = 5_000_000;

/// Contents of a file when it was read last.
#[derive(Clone, Debug)]
pub(super) enum Said {
    /// A film by itself, at this rate.
    Film(Rate),
    Dash(Arc<Manifest>),
    Hls(Arc<Playlist>),
    /// It is more than there was room for: so many bytes of names.
    TooMuch(usize),
    Wrong(Wrong),
}

/// A folder that is being looked through.
pub(super) struct Scan<'a> {
    root: &'a Root,
    before: &'a Catalog,
    files: &'a BTreeMap<String, Stamp>,
    catalog: Catalog,
    /// Bytes of manifests, and of names in them, for which there is room.
    room: u64,
    room_for_names: usize,
}

impl<'a> Scan<'a> {
    pub(super) fn new(root: &'a Root, before: &'a Catalog, files: &'a BTreeMap<String, Stamp>) -> Scan<'a> {
        let catalog = Catalog::default();
        Scan { root, before, files, catalog, room: MAX_MANIFESTS, room_for_names: MAX_NAMES }
    }

    pub(super) fn run(mut self) -> Catalog {
        for name in self.of(Form::Dash) {
            let rates = match self.said(name) {
                Said::Dash(manifest) => self.manifest(&manifest).map(|()| manifest.rates.clone()),
                other => Err(wrong(other)),
            };
            self.tell(name, Form::Dash, rates);
        }
        self.playlists();
        for name in self.of(Form::File) {
            if self.catalog.rate(name).is_none() {
                let rates = self.film(name).map(|rate| vec![rate]);
                self.tell(name, Form::File, rates);
            }
        }
        // For other players than browsers, so it is no film of the page.
        for name in self.files.keys().filter(|name| extension(name) == "mkv") {
            if self.catalog.rate(name).is_none()
                && let Err(wrong) = self.film(name)
            {
                self.catalog.faults.push((name.to_owned(), wrong.to_string()));
            }
        }
        self.catalog
    }

    fn of(&self, form: Form) -> Vec<&'a str> {
        self.files.keys().filter(|name| Form::of(name) == Some(form)).map(String::as_str).collect()
    }

    /// A film, or why it is none. A broken file is still there to be served: only its rate is not known.
    fn tell(&mut self, name: &str, form: Form, rates: Result<Vec<Rate>, Wrong>) {
        let rates = rates.unwrap_or_else(|wrong| {
            self.catalog.faults.push((name.to_owned(), wrong.to_string()));
            Vec::new()
        });
        self.catalog.films.push(Film { name: name.to_owned(), form, rates });
    }

    /// A file that is part of several renditions must be fast enough for each.
    fn claim(&mut self, name: &str, rate: Rate) {
        self.catalog.work.looked_up += 1;
        if self.files.contains_key(name) {
            let known = self.catalog.rates.entry(name.to_owned()).or_insert(rate);
            *known = rate.max(*known);
        }
    }

    /// The rate of a file that is a film by itself.
    fn film(&mut self, name: &str) -> Result<Rate, Wrong> {
        match self.said(name) {
            Said::Film(rate) => {
                self.claim(name, rate);
                Ok(rate)
            }
            other => Err(wrong(other)),
        }
    }

    /// Contents of a file, which is read only if it has changed, or did not fit before.
    fn said(&mut self, name: &str) -> Said {
        let stamp = self.files[name];
        if !matches!(Form::of(name), None | Some(Form::File)) {
            match self.room.checked_sub(stamp.len.min(MAX_MANIFEST)) {
                Some(left) => self.room = left,
                None => return Said::Wrong(Wrong::new("the playlists and manifests before it are 1 GiB together")),
            }
        }
        let said = match self.before.known.get(name) {
            Some((_, Said::TooMuch(names))) if *names <= self.room_for_names => self.read(name),
            Some((known, said)) if *known == stamp => said.clone(),
            _ => self.read(name),
        };
        let names = said.names();
        let said = match self.room_for_names.checked_sub(names) {
            Some(left) => {
                self.room_for_names = left;
                said
            }
            None => Said::TooMuch(names),
        };
        self.catalog.known.insert(name.to_owned(), (stamp, said.clone()));
        said
    }

    fn read(&mut self, name: &str) -> Said {
        self.catalog.work.read += 1;
        let read = match extension(name).as_str() {
            "mpd" => self.text(name).and_then(|text| dash::parse(link::folder(name), &text)).map(Said::from),
            "m3u8" => self.text(name).and_then(|text| Playlist::parse(&text)).map(Said::from),
            other => {
                let file = self.root.file(Path::new(name)).map_err(Wrong::unreadable);
                let rate = file.and_then(|mut file| match other {
                    "webm" | "mkv" => webm::rate(&mut file),
                    _ => mp4::rate(&mut file),
                });
                rate.map(Said::Film)
            }
        };
        read.unwrap_or_else(Said::Wrong)
    }

    fn text(&self, name: &str) -> Result<String, Wrong> {
        let file = self.root.file(Path::new(name)).map_err(Wrong::unreadable)?;
        let mut text = String::new();
        match file.take(MAX_MANIFEST + 1).read_to_string(&mut text).map_err(Wrong::unreadable)? as u64 {
            0..=MAX_MANIFEST => Ok(text),
            _ => Err(Wrong::new("it is longer than 8 MiB")),
        }
    }

    fn manifest(&mut self, manifest: &Manifest) -> Result<(), Wrong> {
        for (place, rate) in &manifest.places {
            if place.is_one() {
                self.claim(place.start(), *rate);
                continue;
            }
            let mut meant = Vec::new();
            let from_start = self.files.range(place.start().to_owned()..).map(|(name, _)| name);
            for name in from_start.take_while(|name| name.starts_with(place.start())) {
                self.catalog.work.compared += 1;
                if self.catalog.work.compared > MAX_COMPARED {
                    return Err(Wrong::new("its patterns, and those before it, begin like too many files"));
                }
                meant.extend(place.is(name).then_some(name));
            }
            meant.into_iter().for_each(|name| self.claim(name, *rate));
        }
        Ok(())
    }

    /// Playlists of renditions, then those that belong to none.
    fn playlists(&mut self) {
        let (mut media, mut masters) = (BTreeMap::new(), Vec::new());
        for name in self.of(Form::Hls) {
            match self.said(name) {
                Said::Hls(playlist) if playlist.is_master() => masters.push((name, playlist)),
                Said::Hls(playlist) => drop(media.insert(name, playlist)),
                other => self.tell(name, Form::Hls, Err(wrong(other))),
            }
        }
        // Each playlist that a rendition names is gone through once, however many do.
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
            self.tell(name, Form::Hls, Ok(renditions.iter().map(|(rate, _)| *rate).collect()));
        }
        for (name, playlist) in media {
            let Playlist::Media(playlist) = &*playlist else { continue };
            let rate = named.get(name).copied().flatten().or_else(|| self.mean(name, playlist));
            if let Some(rate) = rate {
                self.segments(name, &playlist.links, rate);
            }
            if !named.contains_key(name) {
                let rates = rate.map(|rate| vec![rate]).ok_or_else(|| Wrong::new("it names no segment that is there"));
                self.tell(name, Form::Hls, rates);
            }
        }
    }

    fn segments(&mut self, playlist: &str, links: &[String], rate: Rate) {
        for segment in links.iter().filter_map(|uri| link::resolve(link::folder(playlist), uri)) {
            self.claim(&segment, rate);
        }
    }

    /// The bytes of all segments over their time.
    fn mean(&mut self, name: &str, Media { length, links, bytes }: &Media) -> Option<Rate> {
        self.catalog.work.looked_up += links.len();
        let segments = links.iter().filter_map(|uri| link::resolve(link::folder(name), uri));
        // A playlist that names itself, say.
        let segments: HashSet<_> = segments.filter(|segment| Form::of(segment) != Some(Form::Hls)).collect();
        let whole = || segments.iter().filter_map(|segment| self.files.get(segment)).map(|stamp| stamp.len).sum();
        let rate = Rate::of(Bytes(bytes.unwrap_or_else(whole)), *length);
        (rate.as_bps() > 0).then_some(rate)
    }
}

/// Why a file is not what its name says.
fn wrong(said: Said) -> Wrong {
    match said {
        Said::Wrong(wrong) => wrong,
        _ => Wrong::new("it and the playlists and manifests before it name more files than there is room for, 64 MiB"),
    }
}

impl Said {
    /// Memory that its names take.
    fn names(&self) -> usize {
        let sum = |names: &mut dyn Iterator<Item = usize>| names.map(|len| len + NAME).sum();
        match self {
            Said::Dash(manifest) => sum(&mut manifest.places.keys().map(Place::len)) + manifest.rates.len(),
            Said::Hls(playlist) => sum(&mut playlist.names().map(str::len)),
            Said::TooMuch(names) => *names,
            Said::Film(_) | Said::Wrong(_) => 0,
        }
    }
}

impl From<Manifest> for Said {
    fn from(manifest: Manifest) -> Said {
        Said::Dash(Arc::new(manifest))
    }
}

impl From<Playlist> for Said {
    fn from(playlist: Playlist) -> Said {
        Said::Hls(Arc::new(playlist))
    }
}
