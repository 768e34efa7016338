//! The index of an MP4: any bytes give frames inside the file or an error of one line.
#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use thalweg_serve::catalog::frames::Index;

fuzz_target!(|data: &[u8]| {
    match Index::read(&mut Cursor::new(data)) {
        Ok(index) => {
            for track in [Some(&index.video), index.audio.as_ref()].into_iter().flatten() {
                assert!(!track.frames.is_empty() && track.frames.len() <= data.len() / 4);
                assert!(track.frames.is_sorted_by_key(|frame| frame.decode));
                for frame in &track.frames {
                    assert!(frame.offset + u64::from(frame.size) <= data.len() as u64);
                    assert!(frame.display() >= frame.decode);
                }
                let _ = (track.length(), track.rate());
                assert!(track.random_access(track.length()) < track.frames.len());
            }
        }
        Err(error) => assert_eq!(error.to_string().lines().count(), 1),
    }
});
