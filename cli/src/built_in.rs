//! Links and media that come with Thalweg, so that its demo needs no checkout.

use std::io::Cursor;
use std::path::Path;

use thalweg_lab::scenario::{Error, Scenario};

/// Scenarios for `emulate`, by name.
const SCENARIOS: [(&str, &str); 3] = [
    ("demo", include_str!("../../scenarios/demo.toml")),
    ("gilbert", include_str!("../../scenarios/gilbert.toml")),
    ("share", include_str!("../../scenarios/share.toml")),
];

/// The name of the video.
pub(crate) const CLIP: &str = "clip";

/// The video of that name, if one comes with Thalweg.
pub(crate) fn clip(name: &Path) -> Option<Cursor<&'static [u8]>> {
    const BYTES: &[u8] = include_bytes!("../../assets/clip.ts");
    (name == Path::new(CLIP)).then(|| Cursor::new(BYTES))
}

/// The built-in scenario of this name, or else that of the file. `./demo` is a file of this folder, never a built-in.
pub(crate) fn scenario(name: &Path, seed: Option<u64>) -> Result<Scenario, Error> {
    match SCENARIOS.iter().find(|(known, _)| name == Path::new(known)) {
        Some((known, text)) => Scenario::parse(known, text, seed, &mut |_| Err("is not built into Thalweg".to_owned())),
        None => Scenario::open(name, seed),
    }
}

/// The end of an error about an unreadable scenario: where a name was meant, the names of those that come with Thalweg.
pub(crate) fn hint(name: &Path) -> String {
    let is_name = name.extension().is_none() && name.components().count() == 1;
    match is_name && !name.exists() {
        true => format!("; built-in scenarios are {}", SCENARIOS.map(|(known, _)| known).join(", ")),
        false => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_scenarios_and_clip_are_readable() {
        for (name, _) in SCENARIOS {
            assert!(scenario(Path::new(name), None).is_ok(), "{name}");
        }
        // ISO/IEC 13818-1 §2.4.3: packets of 188 bytes that begin with 0x47.
        let clip = clip(Path::new(CLIP)).expect("it comes with Thalweg").into_inner();
        assert!(clip.len().is_multiple_of(188) && clip.iter().step_by(188).all(|byte| *byte == 0x47));
        assert!(scenario(Path::new("./demo"), None).is_err(), "a file of this folder, which there is not");
    }
}
