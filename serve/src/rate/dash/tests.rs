use super::*;
use proptest::prelude::*;

fn mpd(inner: &str) -> String {
    format!("<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\">{inner}</MPD>")
}

fn read(inner: &str) -> Manifest {
    parse("videos", &mpd(inner)).expect(inner)
}

/// The rate of a file according to a manifest, in bits per second.
fn rate(manifest: &Manifest, file: &str) -> Option<u64> {
    let matching = manifest.files.iter().filter(|(pattern, _)| pattern.is(file));
    matching.map(|(_, rate)| rate.as_bps()).max()
}

#[test]
fn segment_template_matches_only_segments_of_its_representations() {
    let found = read(
        "<Period><AdaptationSet><SegmentTemplate initialization=\"init-$RepresentationID$.m4s\" \
         media=\"$RepresentationID$/chunk-$Number%05d$-$$.m4s\"/><Representation id=\"a\" bandwidth=\"800000\"/>\
         <Representation id=\"b\" bandwidth=\"1600000\"><SegmentTemplate media=\"$Bandwidth$_$Time$.m4s\"/>\
         </Representation></AdaptationSet></Period>",
    );
    assert_eq!(found.rates, [800_000, 1_600_000].map(Rate::from_bps));
    for (file, bps) in [
        ("videos/init-a.m4s", Some(800_000)),
        ("videos/a/chunk-00001-$.m4s", Some(800_000)),
        ("videos/init-b.m4s", Some(1_600_000)),
        ("videos/1600000_512.m4s", Some(1_600_000)),
        ("videos/a/chunk--$.m4s", None),
        ("videos/a/chunk-00001-$.m4s.bak", None),
        ("videos/b/chunk-00001-$.m4s", None),
        ("a/chunk-1-$.m4s", None),
    ] {
        assert_eq!(rate(&found, file), bps, "{file}");
    }
}

#[test]
fn base_urls_and_segment_lists_resolve_to_files() {
    let found = read(
        "<BaseURL>x/</BaseURL><Period><AdaptationSet><Representation id=\"a\" bandwidth=\"5\"><BaseURL>a.mp4</BaseURL>\
         <SegmentBase/></Representation><Representation id=\"b\" bandwidth=\"6\"><SegmentList>\
         <Initialization sourceURL=\"b0\"/><SegmentURL media=\"b1\"/></SegmentList></Representation>\
         <Representation id=\"c\" bandwidth=\"7\"><BaseURL>https://else.where/c.mp4</BaseURL></Representation>\
         </AdaptationSet></Period>",
    );
    let files: Vec<_> = found.files.iter().map(|(pattern, rate)| (pattern.start(), rate.as_bps())).collect();
    assert_eq!(files, [("videos/x/a.mp4", 5), ("videos/x/b0", 6), ("videos/x/b1", 6)]);
    assert_eq!(found.rates, [5, 6, 7].map(Rate::from_bps));
}

#[test]
fn references_are_resolved_and_comments_ignored() {
    let found = read(
        "<!-- <MPD> --><BaseURL>a&#38;b&amp;<![CDATA[c]]>/</BaseURL><x:Representation bandwidth='7'><BaseURL>d</BaseURL>\
         <BaseURL>e</BaseURL></x:Representation>",
    );
    let files: Vec<_> = found.files.keys().map(FilePattern::start).collect();
    assert_eq!(files, ["videos/a&b&c/d"]);
}

#[test]
fn shared_file_is_listed_once_with_its_fastest_rate() {
    let representations: String = (1..=1000).map(|bps| format!("<Representation bandwidth='{bps}'/>")).collect();
    let found = read(&format!("<SegmentTemplate initialization='i' media='$Number$'/>{representations}"));
    let files: Vec<_> = found.files.iter().map(|(pattern, rate)| (pattern.is_one(), rate.as_bps())).collect();
    assert_eq!((files, found.rates.len()), (vec![(false, 1000), (true, 1000)], 1000));
}

#[test]
fn manifests_beyond_a_limit_are_refused_in_one_line() {
    let many = |text: &str, times: usize| text.repeat(times);
    let one = "<Representation id='a' bandwidth='1'/>";
    let different: String = (1..=3000).map(|bps| format!("<Representation bandwidth='{bps}'/>")).collect();
    for (inner, expected) in [
        (many(one, MAX_FILES + 1), "100000 representations"),
        (
            format!("<SegmentTemplate initialization='a' media='b'/>{}", many(one, MAX_FILES / 2 + 1)),
            "100000 file names",
        ),
        (
            format!("<SegmentList>{}</SegmentList>{}", many("<SegmentURL media='a'/>", 1000), many(one, 101)),
            "100000 file names",
        ),
        (format!("<BaseURL>{}/</BaseURL><SegmentTemplate media='$Bandwidth$'/>{different}", many("a", 4000)), "8 MiB"),
        (many("<a/>", MAX_ELEMENTS), "400000 elements"),
        (many("<a>", MAX_DEPTH), "deeper than 64"),
    ] {
        let refusal = parse("videos", &mpd(&inner)).expect_err(expected).to_string();
        assert!(refusal.contains(expected) && refusal.lines().count() == 1, "{refusal}");
    }
    let id = many("a", 1 << 20);
    let error = parse("videos", &format!("<MPD><{id}></MPD>")).expect_err("a tag that does not end").to_string();
    assert!(error.starts_with("not valid XML: ") && error.len() <= 203, "{}", error.len());
    let found = read(&format!("<SegmentTemplate media='{}'/>{}", many("$RepresentationID$", 1000), many(one, 10)));
    assert_eq!(found.files.len(), 1);
    let found =
        read(&format!("<SegmentTemplate media='$RepresentationID$'/><Representation id='{id}' bandwidth='1'/>"));
    assert_eq!(found.files.len(), 0);
}

#[test]
fn invalid_manifests_are_refused_in_one_line() {
    for (text, expected) in [
        ("", "XML: "),
        ("<a/>", "not MPD"),
        (&mpd(""), "no representation"),
        (&mpd("<Representation id=\"a\" bandwidth=\"0\"/>"), "representation 'a'"),
        ("<MPD>", "XML: truncated"),
        ("<MPD></MPD><MPD/>", "XML: a second root"),
        ("<MPD>&b;</MPD>", "XML: a reference"),
        ("<!DOCTYPE a [<!ENTITY b \"b\">]><MPD>&b;</MPD>", "XML: "),
    ] {
        let refusal = parse("", text).expect_err(text).to_string();
        assert!(refusal.contains(expected) && refusal.lines().count() == 1, "{refusal}");
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

    /// A template matches the names that it makes of any number.
    #[test]
    fn template_matches_names_with_any_number(number in any::<u64>(), before in "[a-z]{0,5}", after in "[a-z.]{0,5}") {
        let template = format!("{before}$Number$-$Time${after}");
        let pattern = FilePattern::new(fill(&template, "", Rate::from_bps(1)).expect("a short name"));
        let file = format!("{before}{number}-{number}{after}");
        prop_assert!(pattern.is(&file), "{}", file);
    }
}
