//! Every relative link of the documentation leads to a file of the repository, and every anchor to a heading of its page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The texts between `](` and `)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

/// The pages of `docs/`, README and CHANGELOG.
fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let docs = fs::read_dir(root.join("docs")).expect("docs").map(|entry| entry.expect("a file").path());
    let pages = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.chain([root.join("README.md"), root.join("CHANGELOG.md")]).collect()
}

/// The anchors of a page, as GitHub makes them of its headings; a heading that occurs again gets a number.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let outside = text.split("\n```").step_by(2).flat_map(str::lines);
    for heading in outside.filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim()) {
        let kept =
            heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>();
        let slug = kept.replace(' ', "-");
        let again = (1..).map(|nth| format!("{slug}-{nth}"));
        let free = [slug.clone()].into_iter().chain(again).find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

#[test]
fn anchors_point_to_existing_headings() {
    let mut followed = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for link in links(&text).filter(|link| !link.contains("://")) {
            let Some((file, anchor)) = link.split_once('#') else { continue };
            let target = if file.is_empty() { page.clone() } else { page.with_file_name(file) };
            if target.extension().is_some_and(|extension| extension == "md") {
                let known = anchors(&fs::read_to_string(&target).expect("a page"));
                assert!(known.contains(anchor), "{} links to {link}; known are {known:?}", page.display());
                followed += 1;
            }
        }
    }
    assert!(followed > 50, "{followed} anchors");
}

#[test]
fn relative_links_point_to_existing_files() {
    let mut followed = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).expect("a page");
        for link in links(&text).filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let file = link.split('#').next().unwrap_or(link);
            let target = page.parent().expect("a folder").join(file);
            assert!(target.exists(), "{} links to {link}, which is not there", page.display());
            followed += 1;
        }
    }
    assert!(followed > 5, "{followed} links");
}
