//! DASH manifests (ISO/IEC 23009-1): the rates of the representations, and the files that carry them.
//!
//! A manifest is read in one pass: inherited values precede the elements that inherit them, as the standard orders
//! elements.

mod pattern;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::rc::Rc;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::reader::Reader;
use thalweg_core::units::Rate;

pub use self::pattern::FilePattern;
use self::pattern::fill;
use super::FormatError;
use crate::link::{self, MAX_NAME};

/// Limit on elements: more than a manifest with a line for each segment of a day has.
const MAX_ELEMENTS: usize = 400_000;
/// Limit on the nesting of elements.
const MAX_DEPTH: usize = 64;
/// Limit on representations of a manifest, and on its files and patterns of names.
const MAX_FILES: usize = 100_000;
/// Limit in bytes on all names of a manifest.
const MAX_NAMES: usize = 8 << 20;
/// Kinds of names that `SegmentTemplate` gives.
const TEMPLATES: [&str; 3] = ["initialization", "media", "index"];

/// The contents of a manifest.
#[derive(Clone, PartialEq, Debug)]
pub struct Manifest {
    /// The `@bandwidth` of each representation.
    pub rates: Vec<Rate>,
    /// The files of all representations, relative to the served folder, each with the fastest rate of those that it
    /// belongs to.
    pub files: BTreeMap<FilePattern, Rate>,
}

/// Parses a manifest that is in `folder`.
///
/// # Errors
/// The text is not a manifest, a rate is missing, or a limit is exceeded.
pub fn parse(folder: &str, text: &str) -> Result<Manifest, FormatError> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut parser = Parser::new(folder);
    loop {
        match reader.read_event().map_err(no_xml)? {
            Event::Start(start) => parser.enter(&start)?,
            Event::End(_) => parser.leave()?,
            Event::Text(text) => parser.text(&text.xml10_content()),
            Event::CData(text) => parser.text(&text.xml10_content()),
            Event::GeneralRef(reference) => parser.text(&resolved(&reference)?),
            Event::DocType(_) => return Err(no_xml("document types are not supported")),
            Event::Eof => return parser.end(),
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
}

/// The state of a pass through a manifest.
struct Parser {
    /// Values that the root inherits.
    outermost: Inherited,
    /// Open elements, from the root on.
    open: Vec<Element>,
    elements: usize,
    /// The text of the `BaseURL` that is open.
    base: Option<String>,
    /// The names of the `SegmentList` that is open, and its depth.
    list: Option<(usize, Vec<String>)>,
    found: Manifest,
    /// Number of generated names, some of them twice, and bytes of those in `found`.
    made: usize,
    bytes: usize,
}

/// An open element.
struct Element {
    /// Values for the elements inside it.
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

/// Values that an element inherits from the enclosing ones, unless it has its own.
#[derive(Clone, Default)]
struct Inherited {
    /// None if the base is outside the served folder.
    base: Option<Rc<Base>>,
    templates: [Option<Rc<str>>; TEMPLATES.len()],
    list: Option<Rc<[String]>>,
}

/// The folder to which links are relative, and the file that is meant if there is no link.
struct Base {
    folder: String,
    file: Option<String>,
}

impl Parser {
    fn new(folder: &str) -> Parser {
        let base = Some(Rc::new(Base { folder: folder.to_owned(), file: None }));
        let found = Manifest { rates: Vec::new(), files: BTreeMap::new() };
        let outermost = Inherited { base, ..Inherited::default() };
        Parser { outermost, open: Vec::new(), elements: 0, base: None, list: None, found, made: 0, bytes: 0 }
    }

    fn enter(&mut self, start: &BytesStart<'_>) -> Result<(), FormatError> {
        self.elements += 1;
        let name = start.local_name().into_inner();
        match (self.open.len(), self.elements) {
            (0, 1) if name != "MPD" => {
                return Err(FormatError::new("not a DASH manifest: its first element is not MPD"));
            }
            (0, 2..) => return Err(no_xml("a second root element")),
            (MAX_DEPTH, _) => return Err(FormatError::new(format!("elements nested deeper than {MAX_DEPTH}"))),
            (_, elements) if elements > MAX_ELEMENTS => {
                return Err(FormatError::new(format!("more than {MAX_ELEMENTS} elements")));
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

    fn template(&mut self, start: &BytesStart<'_>) -> Result<Kind, FormatError> {
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

    fn leave(&mut self) -> Result<(), FormatError> {
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

    fn representation(&mut self, within: &Inherited, id: &str, rate: Rate) -> Result<(), FormatError> {
        self.found.rates.push(rate);
        if self.found.rates.len() > MAX_FILES {
            return Err(FormatError::new(format!("more than {MAX_FILES} representations")));
        }
        let Some(base) = &within.base else { return Ok(()) };
        let templates: Vec<_> = within.templates.iter().flatten().collect();
        let list = within.list.as_deref().unwrap_or_default();
        self.made += templates.len() + list.len();
        if self.made > MAX_FILES {
            return Err(FormatError::new(format!("more than {MAX_FILES} file names")));
        }
        for link in templates.iter().filter_map(|template| fill(template, id, rate)) {
            self.add_file(link::resolve(&base.folder, &link), rate)?;
        }
        for link in list {
            self.add_file(link::resolve(&base.folder, link), rate)?;
        }
        if templates.is_empty() && list.is_empty() {
            self.add_file(base.file.clone(), rate)?;
        }
        Ok(())
    }

    fn add_file(&mut self, path: Option<String>, rate: Rate) -> Result<(), FormatError> {
        let Some(path) = path else { return Ok(()) };
        let bytes = path.len();
        match self.found.files.entry(FilePattern::new(path)) {
            Entry::Occupied(mut known) => *known.get_mut() = rate.max(*known.get()),
            Entry::Vacant(new) => {
                self.bytes += bytes;
                new.insert(rate);
            }
        }
        match self.bytes {
            0..=MAX_NAMES => Ok(()),
            _ => Err(FormatError::new("more than 8 MiB of file names")),
        }
    }

    fn end(self) -> Result<Manifest, FormatError> {
        match (self.elements, self.open.len(), self.found.rates.len()) {
            (0, ..) => Err(no_xml("no element")),
            (_, 1.., _) => Err(no_xml("truncated")),
            (_, _, 0) => Err(FormatError::new("no representation")),
            _ => Ok(self.found),
        }
    }
}

impl Base {
    /// The base that a `BaseURL` inside it leads to; none if that is outside the served folder.
    fn joined(&self, link: &str) -> Option<Base> {
        let path = link::resolve(&self.folder, link)?;
        Some(match link.is_empty() || link.ends_with('/') {
            true => Base { folder: path, file: None },
            false => Base { folder: link::folder(&path).to_owned(), file: Some(path) },
        })
    }
}

fn representation(start: &BytesStart<'_>) -> Result<Kind, FormatError> {
    let id = attribute(start, "id")?.unwrap_or_default();
    let rate = attribute(start, "bandwidth")?.and_then(|text| text.trim().parse().ok()).filter(|&bps| bps > 0);
    let rate =
        rate.ok_or_else(|| FormatError::new(format!("representation '{id:.40}' has no bandwidth above zero")))?;
    Ok(Kind::Representation { id, rate: Rate::from_bps(rate) })
}

/// The value of an attribute, whatever its prefix. The uniqueness of names is not checked: that takes quadratic time.
fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, FormatError> {
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(no_xml)?;
        if attribute.key.local_name().into_inner() == name {
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(no_xml)?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

/// The character that a reference in a text stands for.
fn resolved(reference: &BytesRef<'_>) -> Result<String, FormatError> {
    if let Some(character) = reference.resolve_char_ref().map_err(no_xml)? {
        return Ok(character.to_string());
    }
    let name = reference.xml10_content();
    let known = resolve_predefined_entity(&name).map(str::to_owned);
    known.ok_or_else(|| no_xml("a reference to an undeclared entity"))
}

fn no_xml(why: impl std::fmt::Display) -> FormatError {
    FormatError::new(format!("not valid XML: {why}"))
}

#[cfg(test)]
mod tests;
