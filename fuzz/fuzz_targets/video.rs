//! Videos, playlists and manifests, and range requests: any bytes give a rate or an error of one line.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use thalweg_serve::range::Wanted;
use thalweg_serve::rate::{dash, hls, mp4, webm};

fuzz_target!(|data: &[u8]| {
    for rate in [mp4::rate(&mut Cursor::new(data)), webm::rate(&mut Cursor::new(data))] {
        match rate {
            Ok(rate) => assert!(rate.as_bps() > 0),
            Err(error) => assert_eq!(error.to_string().lines().count(), 1),
        }
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = hls::Playlist::parse(text);
    if let Ok(manifest) = dash::parse("folder", text) {
        for (pattern, rate) in &manifest.files {
            assert!(rate.as_bps() > 0 && manifest.rates.contains(rate));
            assert!(pattern.is(pattern.start()) || !pattern.is_one());
        }
    }
    if let Wanted::Part(part) = Wanted::of(text, data.len() as u64) {
        assert!(part.start < part.end && part.end <= data.len() as u64);
    }
});
