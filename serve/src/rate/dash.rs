//! DASH manifests (ISO/IEC 23009-1): the rates of the representations, and the files that carry them.
//!
//! A manifest is read in one pass: what an element inherits is in place before it comes, as the standard orders elements.

mod place;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;
use thalweg_core::units::Rate;

pub use self::place::Place;
use self::place::fill;
use super::Wrong;
use crate::link::{self, MAX_NAME};

/// More elements than a manifest with a line for each segment of a day has.
const MAX_ELEMENTS: usize = 400_000;
/// Elements within elements.
const MAX_DEPTH: usize = 64;
/// More representations, and more files and patterns of names, than a manifest may have in all.
const MAX_PLACES: usize = 100_000;
/// Bytes of all names of a manifest.
const MAX_NAMES: usize = 8 << 20;
/// Kinds of names that `SegmentTemplate` gives.
const TEMPLATES: [&str; 3] = ["initialization", "media", "index"];

/// Contents of a manifest.
#[derive(Clone, PartialEq, Debug)]
pub struct Manifest {
    /// The `@bandwidth` of each representation.
    pub rates: Vec<Rate>,
    /// The files of all representations, from the root of all, each with the fastest rate of those that it is part of.
    pub places: BTreeMap<Place, Rate>,
}

/// Reads the manifest of a folder.
///
/// # Errors
/// It is no manifest, a rate is missing, or it is larger than one may be here.
pub fn parse(folder: &str, text: &str) -> Result<Manifest, Wrong> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut descent = Descent::new(folder);
    loop {
        match reader.read_event().map_err(no_xml)? {
            Event::Start(start) => descent.enter(&start)?,
            Event::End(_) => descent.leave()?,
            Event::Text(text) => descent.text(&text.xml10_content()),
            Event::CData(text) => descent.text(&text.xml10_content()),
            Event::GeneralRef(reference) => descent.text(&resolved(&reference)?),
            Event::DocType(_) => return Err(no_xml("a document type is not read")),
            Event::Eof => return descent.end(),
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
}

/// Position of a pass through a manifest.
struct Descent {
    /// Values that the root inherits.
    outermost: Inherited,
    /// From the root to the element that is open.
    open: Vec<Element>,
    elements: usize,
    /// The text of the `BaseURL` that is open.
    base: Option<String>,
    /// The names of the `SegmentList` that is open, and its depth.
    list: Option<(usize, Vec<String>)>,
    found: Manifest,
    /// Names that were made, some of them twice, and the bytes of those in `found`.
    made: usize,
    bytes: usize,
}

/// An element that is open.
struct Element {
    /// Values that it hands down.
    within: Inherited,
    kind: Kind,
    /// True once it has had a `BaseURL`; further ones are alternatives (§5.6.1).
    has_base: bool,
}

enum Kind {
    Representation { id: String, rate: Rate },
    BaseUrl,
    Other,
}

/// Values that an element inherits from those around it, unless it has its own.
#[derive(Clone, Default)]
struct Inherited {
    /// None if it is elsewhere.
    base: Option<Rc<Base>>,
    templates: [Option<Rc<str>>; TEMPLATES.len()],
    list: Option<Rc<[String]>>,
}

/// Where links begin, and the file that is meant where there is none.
struct Base {
    folder: String,
    file: Option<String>,
}

impl Descent {
    fn new(folder: &str) -> Descent {
        let base = Some(Rc::new(Base { folder: folder.to_owned(), file: None }));
        let found = Manifest { rates: Vec::new(), places: BTreeMap::new() };
        let outermost = Inherited { base, ..Inherited::default() };
        Descent { outermost, open: Vec::new(), elements: 0, base: None, list: None, found, made: 0, bytes: 0 }
    }

    fn enter(&mut self, start: &BytesStart<'_>) -> Result<(), Wrong> {
        self.elements += 1;
        let name = start.local_name().into_inner();
        match (self.open.len(), self.elements) {
            (0, 1) if name != "MPD" => return Err(Wrong::new("it is no manifest: its first element is not MPD")),
            (0, 2..) => return Err(no_xml("a second root element")),
            (MAX_DEPTH, _) => return Err(Wrong::new(format!("its elements are nested deeper than {MAX_DEPTH}"))),
            (_, elements) if elements > MAX_ELEMENTS => {
                return Err(Wrong::new(format!("it has over {MAX_ELEMENTS} elements")));
            }
            _ => {}
        }
        let kind = match name {
            "Representation" => representation(start)?,
            "BaseURL" if self.open.last().is_some_and(|outer| !outer.has_base) => {
                self.base = Some(String::new());
                Kind::BaseUrl
            }
            "SegmentList" if self.list.is_none() => {
                self.list = Some((self.open.len(), Vec::new()));
                Kind::Other
            }
            "SegmentTemplate" => self.template(start)?,
            _ => Kind::Other,
        };
        if let Some((_, list)) = &mut self.list {
            list.extend(match attribute(start, "media")? {
                Some(media) => Some(media),
                None => attribute(start, "sourceURL")?,
            });
        }
        let within = self.open.last().map_or(&self.outermost, |outer| &outer.within).clone();
        self.open.push(Element { within, kind, has_base: false });
        Ok(())
    }

    fn template(&mut self, start: &BytesStart<'_>) -> Result<Kind, Wrong> {
        if let Some(outer) = self.open.last_mut() {
            for (template, name) in outer.within.templates.iter_mut().zip(TEMPLATES) {
                if let Some(value) = attribute(start, name)? {
                    *template = Some(value.into());
                }
            }
        }
        Ok(Kind::Other)
    }

    fn text(&mut self, text: &str) {
        if let Some(base) = &mut self.base
            && base.len() <= MAX_NAME
        {
            base.push_str(text);
        }
    }

    fn leave(&mut self) -> Result<(), Wrong> {
        let Some(element) = self.open.pop() else { return Ok(()) };
        if let Some((_, list)) = self.list.take_if(|(depth, _)| *depth == self.open.len())
            && let Some(outer) = self.open.last_mut()
        {
            outer.within.list = Some(list.into());
        }
        match element.kind {
            Kind::Representation { id, rate } => self.representation(&element.within, &id, rate)?,
            Kind::BaseUrl => {
                if let (Some(text), Some(outer)) = (self.base.take(), self.open.last_mut()) {
                    outer.has_base = true;
                    let base = outer.within.base.as_ref().and_then(|base| base.joined(text.trim()));
                    outer.within.base = base.map(Rc::new);
                }
            }
            Kind::Other => {}
        }
        Ok(())
    }

    fn representation(&mut self, within: &Inherited, id: &str, rate: Rate) -> Result<(), Wrong> {
        self.found.rates.push(rate);
        if self.found.rates.len() > MAX_PLACES {
            return Err(Wrong::new(format!("it has over {MAX_PLACES} representations")));
        }
        let Some(base) = &within.base else { return Ok(()) };
        let templates: Vec<_> = within.templates.iter().flatten().collect();
        let list = within.list.as_deref().unwrap_or_default();
        self.made += templates.len() + list.len();
        if self.made > MAX_PLACES {
            return Err(Wrong::new(format!("it names over {MAX_PLACES} files")));
        }
        for link in templates.iter().filter_map(|template| fill(template, id, rate)) {
            self.place(link::resolve(&base.folder, &link), rate)?;
        }
        for link in list {
            self.place(link::resolve(&base.folder, link), rate)?;
        }
        if templates.is_empty() && list.is_empty() {
            self.place(base.file.clone(), rate)?;
        }
        Ok(())
    }

    fn place(&mut self, path: Option<String>, rate: Rate) -> Result<(), Wrong> {
        let Some(path) = path else { return Ok(()) };
        let bytes = path.len();
        match self.found.places.entry(Place::new(path)) {
            Entry::Occupied(mut known) => *known.get_mut() = rate.max(*known.get()),
            Entry::Vacant(new) => {
                self.bytes += bytes;
                new.insert(rate);
            }
        }
        match self.bytes {
            0..=MAX_NAMES => Ok(()),
            _ => Err(Wrong::new("the names of its files are longer than 8 MiB together")),
        }
    }

    fn end(self) -> Result<Manifest, Wrong> {
        match (self.elements, self.open.len(), self.found.rates.len()) {
            (0, ..) => Err(no_xml("it has no element")),
            (_, 1.., _) => Err(no_xml("it is cut off")),
            (_, _, 0) => Err(Wrong::new("it has no representation")),
            _ => Ok(self.found),
        }
    }
}

impl Base {
    /// Place that a `BaseURL` in it leads to; none if that is elsewhere.
    fn joined(&self, link: &str) -> Option<Base> {
        let path = link::resolve(&self.folder, link)?;
        Some(match link.is_empty() || link.ends_with('/') {
            true => Base { folder: path, file: None },
            false => Base { folder: link::folder(&path).to_owned(), file: Some(path) },
        })
    }
}

fn representation(start: &BytesStart<'_>) -> Result<Kind, Wrong> {
    let id = attribute(start, "id")?.unwrap_or_default();
    let rate = attribute(start, "bandwidth")?.and_then(|text| text.trim().parse().ok()).filter(|&bps| bps > 0);
    let rate = rate.ok_or_else(|| Wrong::new(format!("representation '{id:.40}' has no bandwidth above zero")))?;
    Ok(Kind::Representation { id, rate: Rate::from_bps(rate) })
}

/// The value of an attribute, whatever its prefix. That names are unique is not checked: it takes quadratic time.
fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, Wrong> {
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(no_xml)?;
        if attribute.key.local_name().into_inner() == name {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(no_xml)?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

/// Character that a reference in a text stands for.
fn resolved(reference: &BytesRef<'_>) -> Result<String, Wrong> {
    if let Some(character) = reference.resolve_char_ref().map_err(no_xml)? {
        return Ok(character.to_string());
    }
    let name = reference.xml10_content();
    let known = resolve_predefined_entity(&name).map(str::to_owned);
    known.ok_or_else(|| no_xml("a reference to an entity that it does not declare"))
}

fn no_xml(why: impl std::fmt::Display) -> Wrong {
    Wrong::new(format!("it is no XML: {why}"))
}

#[cfg(test)]
mod tests;
