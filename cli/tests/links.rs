//! Every relative link of the documentation leads to a file of the repository.

use std::fs;
use std::path::{Path, PathBuf};

/// The texts between `](` and `)`.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[test]
fn relative_links_point_to_existing_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let docs = fs::read_dir(root.join("docs")).expect("docs").map(|entry| entry.expect("a file").path());
    let pages: Vec<PathBuf> = docs.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    let mut followed = 0;
    for page in pages.iter().chain([&root.join("README.md"), &root.join("CHANGELOG.md")]) {
        let text = fs::read_to_string(page).expect("a page");
        for link in links(&text).filter(|link| !link.contains("://") && !link.starts_with('#')) {
            let file = link.split('#').next().unwrap_or(link);
            let target = page.parent().expect("a folder").join(file);
            assert!(target.exists(), "{} links to {link}, which is not there", page.display());
            followed += 1;
        }
    }
    assert!(followed > 5, "{followed} links");
}
