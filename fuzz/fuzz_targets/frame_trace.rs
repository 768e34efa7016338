//! Traces of frame sizes: any text gives a video or an error, and a video can be played.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thalweg_core::time::Span;
use thalweg_core::units::Bytes;
use thalweg_lab::traffic::Source;
use thalweg_lab::traffic::video::{HEADERS, Packets, Spacing};
use thalweg_lab::traffic::video_trace::{Trace, VideoTrace};

fuzz_target!(|text: &str| {
    for frame_time in [None, Some(Span::from_millis(40))] {
        let Ok(trace) = Trace::parse(text, frame_time) else { continue };
        for spacing in [Spacing::Even, Spacing::Burst] {
            let mut source = VideoTrace::new(trace.clone(), Packets { payload: Bytes(1310), spacing });
            for _ in 0..50 {
                let now = source.next();
                assert!((HEADERS.0 + 1..=HEADERS.0 + 1310).contains(&source.emit().0));
                assert!(source.next() >= now);
            }
        }
    }
});
