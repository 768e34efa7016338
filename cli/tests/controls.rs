//! `docs/controls.md` lists every deviation and every reading that the code admits, and every parameter of every law.

use std::fs;
use std::path::{Path, PathBuf};

use thalweg_core::law::registry::{Description, Parameters};
use thalweg_core::law::window::tcp_stream::Variant;
use thalweg_core::law::window::{self, Playback, Start};
use thalweg_core::law::{predict, rate, redundancy, schedule};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Collects the source of every tag below `folder`, such as `RFC 8083 §4.3`, with its file.
fn deviations(folder: &Path, found: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace").flatten() {
        let path = entry.path();
        if path.is_dir() {
            deviations(&path, found);
        } else if path.extension().is_some_and(|extension| ["rs", "c", "h"].iter().any(|known| extension == *known)) {
            let text = fs::read_to_string(&path).expect("a source file");
            for tag in ["// Deviation(", "// Reading("] {
                let tags = text.split(tag).skip(1);
                found.extend(tags.filter_map(|rest| Some((rest.split_once("):")?.0.to_owned(), path.clone()))));
            }
        }
    }
}

#[test]
fn every_deviation_is_listed_with_its_file() {
    let controls = fs::read_to_string(root().join("docs/controls.md")).expect("docs/controls.md");
    let rows: Vec<&str> = controls.lines().filter(|line| line.starts_with('|')).collect();
    let mut found = Vec::new();
    for folder in [
        "core/src",
        "encode/src",
        "gf/src",
        "lab/src",
        "mpegts/src",
        "net/src",
        "play/src",
        "rtsp/src",
        "kernel/src",
        "kernel/bpf",
        "quic/src",
        "serve/src",
        "tokio/src",
        "cli/src",
    ] {
        deviations(&root().join(folder), &mut found);
    }
    assert!(!found.is_empty());
    for (source, path) in found {
        let name = path.file_name().expect("a file").to_string_lossy();
        let listed = rows.iter().any(|row| row.contains(&source) && row.contains(&*name));
        assert!(listed, "docs/controls.md has no row for {source} in {}", path.display());
    }
}

/// The names of a registry's laws, without the example that tests alone have.
fn names(laws: Vec<Description>) -> impl Iterator<Item = &'static str> {
    laws.into_iter().map(|law| law.name).filter(|name| *name != "toy")
}

/// The part of a page of `docs/` from `from` to `to`.
fn part(page: &str, from: &str, to: &str) -> String {
    let text = fs::read_to_string(root().join("docs").join(page)).expect(page);
    let (_, rest) = text.split_once(from).unwrap_or_else(|| panic!("{from} in {page}"));
    rest.split(to).next().expect("text").to_owned()
}

#[test]
fn every_law_is_listed_where_it_can_be_chosen() {
    let repair = part("controls.md", "| How much do I protect?", "| What goes into the next packet?");
    for name in names(redundancy::Choice::all()) {
        assert!(repair.contains(name), "{name} among the laws of redundancy in docs/controls.md");
    }
    let predictors = part("controls.md", "| What is the next value of this series?", "\n\n");
    for name in names(predict::Choice::all()) {
        assert!(predictors.contains(&format!("`replay {name}`")), "{name} among the predictors in docs/controls.md");
    }
    let tcp = part("lab.md", "\ntcp = \"", "\n");
    for name in names(window::Choice::all()) {
        assert!(tcp.contains(name), "{name} beside tcp in docs/lab.md");
    }
    for (heading, laws) in [("### Rate laws", rate::Choice::all()), ("### Schedules", schedule::Choice::all())] {
        let text = part("tunnel.md", heading, "### ");
        for name in names(laws) {
            assert!(text.contains(&format!("`{name}")), "{name} below {heading} in docs/tunnel.md");
        }
    }
}

#[test]
fn every_parameter_is_listed_with_its_law() {
    let controls = fs::read_to_string(root().join("docs/controls.md")).expect("docs/controls.md");
    let of_repair = |name| redundancy::Choice::named(name).expect(name).description().parameters;
    for (heading, names) in [
        ("\n## GENEVA\n", of_repair("geneva")),
        ("\n## Static repair\n", of_repair("static")),
        ("\n## DP-FEC, a stand-in\n", of_repair("dp-fec")),
        ("\n## GCA\n", rate::gca::Greediness::NAMES),
        ("\n## NADA (RFC 8698)\n", rate::nada::Priority::NAMES),
        ("\n## Congestion windows\n", Start::NAMES),
        ("\n### TCP Stream\n", Playback::NAMES),
        ("\n### TCP Stream\n", Variant::NAMES),
        ("\n## Stored video: R3CP+\n", predict::rls::Parameters::NAMES),
        ("\n## Stored video: R3CP+\n", predict::ewma::Parameters::NAMES),
        ("\n## Stored video: R3CP+\n", rate::r3cp::Parameters::NAMES),
    ] {
        let (_, section) = controls.split_once(heading).expect(heading);
        let section = section.split("\n## ").next().expect("its text");
        for name in names {
            assert!(section.contains(&format!("`{name}`")), "docs/controls.md lacks {name} below {heading}");
        }
    }
}
