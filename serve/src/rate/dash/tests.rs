use super::*;
use proptest::prelude::*;

fn mpd(inner: &str) -> String {
    format!("<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\">{inner}</MPD>")
}

fn read(inner: &str) -> Manifest {
    parse("films", &mpd(inner)).expect(inner)
}

/// The rate that a manifest gives a file, in bits per second.
fn rate(manifest: &Manifest, file: &str) -> Option<u64> {
    let meant = manifest.places.iter().filter(|(place, _)| place.is(file));
    meant.map(|(_, rate)| rate.as_bps()).max()
}

#[test]
fn a_template_names_the_segments_of_its_representations_and_no_others() {
    let found = read(
        "<Period><AdaptationSet><SegmentTemplate initialization=\"init-$RepresentationID$.m4s\" \
         media=\"$RepresentationID$/chunk-$Number%05d$-$$.m4s\"/><Representation id=\"a\" bandwidth=\"800000\"/>\
         <Representation id=\"b\" bandwidth=\"1600000\"><SegmentTemplate media=\"$Bandwidth$_$Time$.m4s\"/>\
         </Representation></AdaptationSet></Period>",
    );
    assert_eq!(found.rates, [800_000, 1_600_000].map(Rate::from_bps));
    for (file, bps) in [
        ("films/init-a.m4s", Some(800_000)),
        ("films/a/chunk-00001-$.m4s", Some(800_000)),
        ("films/init-b.m4s", Some(1_600_000)),
        ("films/1600000_512.m4s", Some(1_600_000)),
        ("films/a/chunk--$.m4s", None),
        ("films/a/chunk-00001-$.m4s.bak", None),
        ("films/b/chunk-00001-$.m4s", None),
        ("a/chunk-1-$.m4s", None),
    ] {
        assert_eq!(rate(&found, file), bps, "{file}");
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
    let files: Vec<_> = found.places.iter().map(|(place, rate)| (place.start(), rate.as_bps())).collect();
    assert_eq!(files, [("films/x/a.mp4", 5), ("films/x/b0", 6), ("films/x/b1", 6)]);
    assert_eq!(found.rates, [5, 6, 7].map(Rate::from_bps));
}

#[test]
fn references_stand_for_characters_and_comments_for_nothing() {
    let found = read(
        "<!-- <MPD> --><BaseURL>a&#38;b&amp;<![CDATA[c]]>/</BaseURL><x:Representation bandwidth='7'><BaseURL>d</BaseURL>\
         <BaseURL>e</BaseURL></x:Representation>",
    );
    let files: Vec<_> = found.places.keys().map(Place::start).collect();
    assert_eq!(files, ["films/a&b&c/d"]);
}

#[test]
fn a_file_that_several_representations_share_has_the_fastest_rate_and_is_named_once() {
    let representations: String = (1..=1000).map(|bps| format!("<Representation bandwidth='{bps}'/>")).collect();
    let found = read(&format!("<SegmentTemplate initialization='i' media='$Number$'/>{representations}"));
    let places: Vec<_> = found.places.iter().map(|(place, rate)| (place.is_one(), rate.as_bps())).collect();
    assert_eq!((places, found.rates.len()), (vec![(false, 1000), (true, 1000)], 1000));
}

#[test]
fn what_is_too_much_is_refused_in_a_line() {
    let many = |text: &str, times: usize| text.repeat(times);
    let one = "<Representation id='a' bandwidth='1'/>";
    let different: String = (1..=3000).map(|bps| format!("<Representation bandwidth='{bps}'/>")).collect();
    for (inner, expected) in [
        (many(one, MAX_PLACES + 1), "it has over 100000 representations"),
        (
            format!("<SegmentTemplate initialization='a' media='b'/>{}", many(one, MAX_PLACES / 2 + 1)),
            "it names over 100000 files",
        ),
        (
            format!("<SegmentList>{}</SegmentList>{}", many("<SegmentURL media='a'/>", 1000), many(one, 101)),
            "it names over 100000 files",
        ),
        (
            format!("<BaseURL>{}/</BaseURL><SegmentTemplate media='$Bandwidth$'/>{different}", many("a", 4000)),
            "the names of its files are longer than 8 MiB together",
        ),
        (many("<a/>", MAX_ELEMENTS), "it has over 400000 elements"),
        (many("<a>", MAX_DEPTH), "its elements are nested deeper than 64"),
    ] {
        assert_eq!(parse("films", &mpd(&inner)).expect_err(expected).to_string(), expected);
    }
    let id = many("a", 1 << 20);
    let wrong = parse("films", &format!("<MPD><{id}></MPD>")).expect_err("a tag that does not end").to_string();
    assert!(wrong.starts_with("it is no XML: ") && wrong.len() <= 203, "{}", wrong.len());
    let found = read(&format!("<SegmentTemplate media='{}'/>{}", many("$RepresentationID$", 1000), many(one, 10)));
    assert_eq!(found.places.len(), 1);
    let found =
        read(&format!("<SegmentTemplate media='$RepresentationID$'/><Representation id='{id}' bandwidth='1'/>"));
    assert_eq!(found.places.len(), 0);
}

#[test]
fn what_is_wrong_is_told_in_a_line() {
    for (text, expected) in [
        ("", "it is no XML"),
        ("<a/>", "it is no manifest: its first element is not MPD"),
        (&mpd(""), "it has no representation"),
        (&mpd("<Representation id=\"a\" bandwidth=\"0\"/>"), "representation 'a' has no bandwidth above zero"),
        ("<MPD>", "it is no XML: it is cut off"),
        ("<MPD></MPD><MPD/>", "it is no XML: a second root element"),
        ("<MPD>&b;</MPD>", "it is no XML: a reference to an entity"),
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

    /// A template names what it makes of any number.
    #[test]
    fn every_number_fits_its_template(number in any::<u64>(), before in "[a-z]{0,5}", after in "[a-z.]{0,5}") {
        let template = format!("{before}$Number$-$Time${after}");
        let place = Place::new(fill(&template, "", Rate::from_bps(1)).expect("a short name"));
        let file = format!("{before}{number}-{number}{after}");
        prop_assert!(place.is(&file), "{}", file);
    }
}
