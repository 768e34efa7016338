//! From files to films: manifests first, since what they name is no film of its own.

use std::collections::{BTreeMap, HashSet};
use std::io::Read;
use std::path::Path;

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use super::walk::Stamp;
use super::{Catalog, Film, Form};
use crate::kind::extension;
use crate::link;
use crate::rate::hls::Playlist;
use crate::rate::{Wrong, dash, mp4, webm};
use crate::root::Root;

/// The longest playlist or manifest that is read.
const MAX_MANIFEST: u64 = 8 << 20;

/// A folder that is being looked through.
pub(super) struct Scan<'a> {
    root: &'a Root,
    before: &'a Catalog,
    files: &'a BTreeMap<String, Stamp>,
    catalog: Catalog,
}

impl<'a> Scan<'a> {
    pub(super) fn new(root: &'a Root, before: &'a Catalog, files: &'a BTreeMap<String, Stamp>) -> Scan<'a> {
        Scan { root, before, files, catalog: Catalog::default() }
    }

    pub(super) fn run(mut self) -> Catalog {
        for name in self.of(Form::Dash) {
            let rates = self.text(name).and_then(|text| self.manifest(name, &text));
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
        if self.files.contains_key(name) {
            let known = self.catalog.rates.entry(name.to_owned()).or_insert(rate);
            *known = Rate::from_bps(known.as_bps().max(rate.as_bps()));
        }
    }

    fn text(&self, name: &str) -> Result<String, Wrong> {
        let file = self.root.file(Path::new(name)).map_err(Wrong::unreadable)?;
        let mut text = String::new();
        match file.take(MAX_MANIFEST + 1).read_to_string(&mut text).map_err(Wrong::unreadable)? as u64 {
            0..=MAX_MANIFEST => Ok(text),
            _ => Err(Wrong::new("it is longer than 8 MiB")),
        }
    }

    fn manifest(&mut self, name: &str, text: &str) -> Result<Vec<Rate>, Wrong> {
        let representations = dash::parse(link::folder(name), text)?;
        for representation in &representations {
            for place in &representation.places {
                let start = place.start().to_owned();
                let meant = self.files.range(start.clone()..).map(|(name, _)| name.as_str());
                let meant = meant.take_while(|name| name.starts_with(&start)).filter(|name| place.is(name));
                meant.for_each(|name| self.claim(name, representation.rate));
            }
        }
        Ok(representations.iter().map(|one| one.rate).collect())
    }

    /// Playlists of renditions, then those that belong to none.
    fn playlists(&mut self) {
        let mut media = BTreeMap::new();
        let mut masters = Vec::new();
        for name in self.of(Form::Hls) {
            match self.text(name).and_then(|text| Playlist::parse(&text)) {
                Ok(Playlist::Master { renditions, others }) => masters.push((name, renditions, others)),
                Ok(Playlist::Media { length, links, bytes }) => {
                    drop(media.insert(name.to_owned(), (length, links, bytes)));
                }
                Err(wrong) => self.tell(name, Form::Hls, Err(wrong)),
            }
        }
        let mut named = HashSet::new();
        for (name, renditions, others) in masters {
            let resolve = |uri: &str| link::resolve(link::folder(name), uri);
            for (rate, uri) in &renditions {
                let Some(below) = resolve(uri) else { continue };
                self.segments(&below, media.get(&below).map(|(_, links, _)| links), *rate);
                named.insert(below);
            }
            for below in others.iter().filter_map(|uri| resolve(uri)) {
                if let Some(playlist) = media.get(&below)
                    && let Some(rate) = self.mean(&below, playlist)
                {
                    self.segments(&below, Some(&playlist.1), rate);
                }
                named.insert(below);
            }
            self.tell(name, Form::Hls, Ok(renditions.iter().map(|(rate, _)| *rate).collect()));
        }
        for (name, playlist) in media.iter().filter(|(name, _)| !named.contains(*name)) {
            let rate = self.mean(name, playlist).ok_or_else(|| Wrong::new("it names no segment that is there"));
            if let Ok(rate) = rate {
                self.segments(name, Some(&playlist.1), rate);
            }
            self.tell(name, Form::Hls, rate.map(|rate| vec![rate]));
        }
    }

    fn segments(&mut self, playlist: &str, links: Option<&Vec<String>>, rate: Rate) {
        for segment in links.into_iter().flatten().filter_map(|uri| link::resolve(link::folder(playlist), uri)) {
            self.claim(&segment, rate);
        }
    }

    /// The bytes of all segments over their time.
    fn mean(&self, name: &str, (length, links, bytes): &(Span, Vec<String>, Option<u64>)) -> Option<Rate> {
        let segments = links.iter().filter_map(|uri| link::resolve(link::folder(name), uri));
        // A playlist that names itself, say.
        let segments: HashSet<_> = segments.filter(|segment| Form::of(segment) != Some(Form::Hls)).collect();
        let whole = || segments.iter().filter_map(|segment| self.files.get(segment)).map(|stamp| stamp.len).sum();
        let rate = Rate::of(Bytes(bytes.unwrap_or_else(whole)), *length);
        (rate.as_bps() > 0).then_some(rate)
    }

    /// The rate of a file that is a film by itself.
    fn film(&mut self, name: &str) -> Result<Rate, Wrong> {
        let stamp = self.files[name];
        let rate = match self.before.known.get(name) {
            Some((known, rate)) if *known == stamp => rate.clone(),
            _ => {
                let file = self.root.file(Path::new(name));
                file.map_err(Wrong::unreadable).and_then(|mut file| match extension(name).as_str() {
                    "webm" | "mkv" => webm::rate(&mut file),
                    _ => mp4::rate(&mut file),
                })
            }
        };
        self.catalog.known.insert(name.to_owned(), (stamp, rate.clone()));
        let rate = rate?;
        self.claim(name, rate);
        Ok(rate)
    }
}
