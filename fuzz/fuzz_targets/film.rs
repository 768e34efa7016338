//! Films, playlists and manifests, and the ranges that are asked of them: any bytes have a rate or one line that says why not.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use thalweg_serve::range::Wanted;
use thalweg_serve::rate::{dash, hls, mp4, webm};

fuzz_target!(|data: &[u8]| {
    for rate in [mp4::rate(&mut Cursor::new(data)), webm::rate(&mut Cursor::new(data))] {
        match rate {
            Ok(rate) => assert!(rate.as_bps() > 0),
            Err(wrong) => assert_eq!(wrong.to_string().lines().count(), 1),
        }
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _ = hls::Playlist::parse(text);
    if let Ok(manifest) = dash::parse("folder", text) {
        for (place, rate) in &manifest.places {
            assert!(rate.as_bps() > 0 && manifest.rates.contains(rate));
            assert!(place.is(place.start()) || !place.is_one());
        }
    }
    if let Wanted::Part(part) = Wanted::of(text, data.len() as u64) {
        assert!(part.start < part.end && part.end <= data.len() as u64);
    }
});
