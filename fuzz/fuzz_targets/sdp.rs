//! Descriptions of stored videos: one that is parsed is within its bounds, and can be written and parsed again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::wire::npt::NptRange;
use thalweg_core::wire::sdp::stored::Presentation;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = core::str::from_utf8(data) else { return };
    let _ = NptRange::parse(text);
    let Ok(parsed) = Presentation::parse(text) else { return };
    assert!(parsed.tracks.len() <= 16 && parsed.attributes.len() <= 64);
    // Not all that is parsed is kept, such as an empty list of parameter sets; the tracks are.
    if let Ok(again) = Presentation::parse(&parsed.to_string()) {
        assert_eq!(again.tracks.len(), parsed.tracks.len());
    }
});
