//! DASH manifests (ISO/IEC 23009-1): the representations, each with its rate and the files that carry it.

use roxmltree::{Document, Node, ParsingOptions};
use thalweg_core::units::Rate;

use super::Wrong;
use crate::link;

/// More elements than a manifest with a line for each segment of a day has.
const MAX_NODES: u32 = 400_000;
/// More files and patterns of names than a manifest may have in all.
const MAX_PLACES: usize = 100_000;
/// Stands for a number in a [`Place`]; XML has no such character.
const NUMBER: char = '\0';

/// One of the versions of a film, or of its sound.
#[derive(Clone, PartialEq, Debug)]
pub struct Representation {
    /// `@bandwidth`.
    pub rate: Rate,
    /// The files that carry it, from the root of all.
    pub places: Vec<Place>,
}

/// The name of a file, or of many that differ in numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place(String);

/// Reads the manifest of a folder.
///
/// # Errors
/// It is no manifest, or a rate is missing.
pub fn parse(folder: &str, text: &str) -> Result<Vec<Representation>, Wrong> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(text, options).map_err(|why| Wrong::new(format!("it is no XML: {why}")))?;
    let mpd = document.root_element();
    if mpd.tag_name().name() != "MPD" {
        return Err(Wrong::new("it is no manifest: its first element is not MPD"));
    }
    let mut found = Vec::new();
    let mut left = MAX_PLACES;
    for node in mpd.descendants().filter(|node| is(node, "Representation")) {
        let representation = representation(folder, node)?;
        left = left
            .checked_sub(representation.places.len())
            .ok_or_else(|| Wrong::new(format!("it names over {MAX_PLACES} files")))?;
        found.push(representation);
    }
    if found.is_empty() { Err(Wrong::new("it has no representation")) } else { Ok(found) }
}

fn representation(folder: &str, node: Node<'_, '_>) -> Result<Representation, Wrong> {
    let id = node.attribute("id").unwrap_or_default();
    let rate = node.attribute("bandwidth").and_then(|text| text.trim().parse().ok()).filter(|&bps| bps > 0);
    let rate = rate.ok_or_else(|| Wrong::new(format!("representation '{id}' has no bandwidth above zero")))?;
    // From the outermost to this one: what is further in overrides.
    let mut outer: Vec<_> = node.ancestors().filter(Node::is_element).collect();
    outer.reverse();
    let places = Base::of(folder, &outer).map_or_else(Vec::new, |base| base.places(&outer, id, rate));
    Ok(Representation { rate: Rate::from_bps(rate), places })
}

/// Where links begin, and the file that is meant where there is none.
struct Base {
    folder: String,
    file: Option<String>,
}

impl Base {
    /// What all `BaseURL` lead to together; none if that is elsewhere.
    fn of(folder: &str, outer: &[Node<'_, '_>]) -> Option<Base> {
        let mut base = Base { folder: folder.to_owned(), file: None };
        for text in outer.iter().filter_map(|node| child(*node, "BaseURL")?.text()) {
            let (text, path) = (text.trim(), link::resolve(&base.folder, text.trim())?);
            base = match text.is_empty() || text.ends_with('/') {
                true => Base { folder: path, file: None },
                false => Base { folder: link::folder(&path).to_owned(), file: Some(path) },
            };
        }
        Some(base)
    }

    fn places(&self, outer: &[Node<'_, '_>], id: &str, rate: u64) -> Vec<Place> {
        let template = |name| outer.iter().rev().find_map(|node| child(*node, "SegmentTemplate")?.attribute(name));
        let templates = ["initialization", "media", "index"].into_iter().filter_map(template);
        let mut links: Vec<_> = templates.map(|template| fill(template, id, rate)).collect();
        if let Some(list) = outer.iter().rev().find_map(|node| child(*node, "SegmentList")) {
            let named = list.descendants().filter_map(|node| node.attribute("media").or(node.attribute("sourceURL")));
            links.extend(named.take(MAX_PLACES + 1).map(str::to_owned));
        }
        let mut paths: Vec<_> = links.iter().filter_map(|link| link::resolve(&self.folder, link)).collect();
        if links.is_empty() {
            paths.extend(self.file.clone());
        }
        paths.into_iter().map(Place).collect()
    }
}

/// A template (§5.3.9.4.4) with what is known filled in.
fn fill(template: &str, id: &str, rate: u64) -> String {
    let mut filled = String::new();
    for (nth, piece) in template.split('$').enumerate() {
        match piece {
            "" if nth % 2 == 1 => filled.push('$'),
            _ if nth % 2 == 0 => filled += piece,
            "RepresentationID" => filled += id,
            "Bandwidth" => filled += &rate.to_string(),
            _ => filled.push(NUMBER),
        }
    }
    filled
}

impl Place {
    /// Whether a file, named from the root of all, is meant.
    pub fn is(&self, file: &str) -> bool {
        let mut pieces = self.0.split(NUMBER);
        let Some(mut rest) = pieces.next().and_then(|first| file.strip_prefix(first)) else { return false };
        for piece in pieces {
            let behind = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            match behind.strip_prefix(piece) {
                Some(next) if behind.len() < rest.len() => rest = next,
                _ => return false,
            }
        }
        rest.is_empty()
    }

    /// What the names of all files begin with; all of the name, if only one is meant.
    pub fn start(&self) -> &str {
        self.0.split(NUMBER).next().unwrap_or_default()
    }
}

fn is(node: &Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name() == name
}

fn child<'a, 'input>(node: Node<'a, 'input>, name: &str) -> Option<Node<'a, 'input>> {
    node.children().find(|node| is(node, name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mpd(inner: &str) -> String {
        format!("<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\">{inner}</MPD>")
    }

    fn read(inner: &str) -> Vec<Representation> {
        parse("films", &mpd(inner)).expect(inner)
    }

    #[test]
    fn a_template_names_the_segments_of_its_representations_and_no_others() {
        let found = read(
            "<Period><AdaptationSet><SegmentTemplate initialization=\"init-$RepresentationID$.m4s\" \
             media=\"$RepresentationID$/chunk-$Number%05d$-$$.m4s\"/><Representation id=\"a\" bandwidth=\"800000\"/>\
             <Representation id=\"b\" bandwidth=\"1600000\"><SegmentTemplate media=\"$Bandwidth$_$Time$.m4s\"/>\
             </Representation></AdaptationSet></Period>",
        );
        let rates: Vec<_> = found.iter().map(|one| one.rate.as_bps()).collect();
        assert_eq!(rates, [800_000, 1_600_000]);
        let is = |nth: usize, file| found[nth].places.iter().any(|place| place.is(file));
        assert!(is(0, "films/init-a.m4s") && is(0, "films/a/chunk-00001-$.m4s"));
        assert!(is(1, "films/init-b.m4s") && is(1, "films/1600000_512.m4s"));
        for other in ["films/init-b.m4s", "films/a/chunk--$.m4s", "films/a/chunk-00001-$.m4s.bak", "a/chunk-1-$.m4s"] {
            assert!(!is(0, other), "{other}");
        }
    }

    #[test]
    fn base_urls_lead_to_files_and_lists_name_them() {
        let found = read(
            "<BaseURL>x/</BaseURL><Period><AdaptationSet><Representation id=\"a\" bandwidth=\"5\"><BaseURL>a.mp4</BaseURL>\
             <SegmentBase/></Representation><Representation id=\"b\" bandwidth=\"6\"><SegmentList>\
             <Initialization sourceURL=\"b0\"/><SegmentURL media=\"b1\"/></SegmentList></Representation>\
             <Representation id=\"c\" bandwidth=\"7\"><BaseURL>https://else.where/c.mp4</BaseURL></Representation>\
             </AdaptationSet></Period>",
        );
        let files: Vec<Vec<_>> = found.iter().map(|one| one.places.iter().map(Place::start).collect()).collect();
        assert_eq!(files, [vec!["films/x/a.mp4"], vec!["films/x/b0", "films/x/b1"], vec![]]);
    }

    #[test]
    fn what_is_wrong_is_told_in_a_line() {
        for (text, expected) in [
            ("", "it is no XML"),
            ("<a/>", "it is no manifest: its first element is not MPD"),
            (&mpd(""), "it has no representation"),
            (&mpd("<Representation id=\"a\" bandwidth=\"0\"/>"), "representation 'a' has no bandwidth above zero"),
            ("<!DOCTYPE a [<!ENTITY b \"b\">]><MPD>&b;</MPD>", "it is no XML"),
        ] {
            let told = parse("", text).expect_err(text).to_string();
            assert!(told.starts_with(expected) && told.lines().count() == 1, "{told}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_manifest_or_is_refused(
            text in r#"\PC{0,60}|(</?(MPD|Period|Representation|SegmentTemplate|BaseURL)( (id|media|bandwidth)="[$\PC]{0,9}")?/?>){0,12}"#
        ) {
            let _ = parse("a", &text);
            let _ = parse("a", &mpd(&text));
        }

        /// What a template makes of any number is what it names.
        #[test]
        fn every_number_fits_its_template(number in any::<u64>(), before in "[a-z]{0,5}", after in "[a-z.]{0,5}") {
            let place = Place(fill(&format!("{before}$Number$-$Time${after}"), "", 1));
            let file = format!("{before}{number}-{number}{after}");
            prop_assert!(place.is(&file), "{}", file);
        }
    }
}
