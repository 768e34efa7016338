//! Resolution of links in playlists and manifests. File names are relative to the served folder, with `/` between
//! parts.

use percent_encoding::percent_decode_str;

/// Limit in bytes on a name, that of Linux (`PATH_MAX`): no file has a longer one.
pub(crate) const MAX_NAME: usize = 4096;

/// The file that `link` in a file of `folder` names; none if it leads out of the served folder, or is longer than any
/// file name.
pub(crate) fn resolve(folder: &str, link: &str) -> Option<String> {
    let path = link.split(['?', '#']).next()?;
    if path.len() > MAX_NAME || path.contains("://") || path.starts_with("//") || path.starts_with("data:") {
        return None;
    }
    let path = percent_decode_str(path).decode_utf8().ok()?;
    let outer = if path.starts_with('/') { "" } else { folder };
    let mut found: Vec<&str> = Vec::new();
    for part in outer.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(found.pop()?),
            part => found.push(part),
        }
    }
    Some(found.join("/"))
}

/// The folder of a file, to which links in it are relative.
pub(crate) fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_resolve_below_the_root_or_to_nothing() {
        for (link, expected) in [
            ("c.ts", "a/b/c.ts"),
            ("../c%20d.ts?x=1#y", "a/c d.ts"),
            ("/c.ts", "c.ts"),
            ("./c//d.ts", "a/b/c/d.ts"),
            ("../../c.ts", "c.ts"),
        ] {
            assert_eq!(resolve("a/b", link).as_deref(), Some(expected), "{link}");
        }
        for link in [
            "../../../c.ts",
            "%2e%2e/../../c",
            "https://a/b.ts",
            "//a/b.ts",
            "data:,x",
            "%ff",
            &"x".repeat(MAX_NAME + 1),
        ] {
            assert_eq!(resolve("a/b", link), None, "{link}");
        }
        assert_eq!((folder("a/b/c"), folder("c")), ("a/b", ""));
    }
}
