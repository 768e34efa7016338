//! `docs/controls.md` lists every deviation that the code admits, and every parameter of every law.

use std::fs;
use std::path::{Path, PathBuf};

use thalweg_core::law::redundancy::{dp_fec, fixed::Fixed, geneva};
use thalweg_core::law::window::tcp_stream::Variant;
use thalweg_core::law::window::{Playback, Start};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The sources of every tag below `folder`, such as `RFC 8083 §4.3`, each with its file.
fn deviations(folder: &Path, found: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(folder).expect("a folder of the workspace").flatten() {
        let path = entry.path();
        if path.is_dir() {
            deviations(&path, found);
        } else if path.extension().is_some_and(|extension| ["rs", "c", "h"].iter().any(|known| extension == *known)) {
            let text = fs::read_to_string(&path).expect("a source file");
            let tags = text.split("// Deviation(").skip(1);
            found.extend(tags.filter_map(|rest| Some((rest.split_once("):")?.0.to_owned(), path.clone()))));
        }
    }
}

#[test]
fn every_deviation_is_listed_with_its_file() {
    let controls = fs::read_to_string(root().join("docs/controls.md")).expect("docs/controls.md");
    let rows: Vec<&str> = controls.lines().filter(|line| line.starts_with('|')).collect();
    let mut found = Vec::new();
    for folder in ["core/src", "gf/src", "lab/src", "net/src", "kernel/src", "kernel/bpf", "cli/src"] {
        deviations(&root().join(folder), &mut found);
    }
    assert!(!found.is_empty());
    for (source, path) in found {
        let name = path.file_name().expect("a file").to_string_lossy();
        let listed = rows.iter().any(|row| row.contains(&source) && row.contains(&*name));
        assert!(listed, "docs/controls.md has no row for Deviation({source}) in {}", path.display());
    }
}

#[test]
fn every_parameter_is_listed_with_its_law() {
    let controls = fs::read_to_string(root().join("docs/controls.md")).expect("docs/controls.md");
    for (heading, names) in [
        ("\n## GENEVA\n", geneva::Parameters::NAMES),
        ("\n## Static repair\n", Fixed::NAMES),
        ("\n## DP-FEC, a stand-in\n", dp_fec::Parameters::NAMES),
        ("\n## Congestion windows\n", Start::NAMES),
        ("\n### TCP Stream\n", Playback::NAMES),
        ("\n### TCP Stream\n", Variant::NAMES),
    ] {
        let (_, section) = controls.split_once(heading).expect(heading);
        let section = section.split("\n## ").next().expect("its text");
        for name in names {
            assert!(section.contains(&format!("`{name}`")), "docs/controls.md does not tell of {name} below {heading}");
        }
    }
}
