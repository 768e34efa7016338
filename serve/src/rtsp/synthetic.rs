//! Small videos with sound, for tests of senders.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::stored::Stored;
use crate::catalog::frames::{Codec, Framing, Indexes, Track};
use crate::mp4::synthetic::Tables;
use crate::root::Root;

/// A folder that is removed with this.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("thalweg-rtsp-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    /// The video of `tables` as `a.mp4`, with pictures at `timescale`, and with AAC of 48 kHz: frames of 1024 samples, and of
    /// at most 200 bytes, whose decode times are these multiples of their duration.
    pub(super) fn stored(&self, tables: &Tables, timescale: u32, sound: Range<i64>) -> Arc<Stored> {
        fs::write(self.0.join("a.mp4"), tables.video()).expect("a file");
        let root = Arc::new(Root::open(&self.0).expect("a folder"));
        // The table of indexes has a share in the video, and must be gone for a change.
        let mut video = Indexes::new(root, None).video("a.mp4").expect("a video").video;
        let index = &mut Arc::get_mut(&mut video).expect("one owner").index;
        index.video.timescale = timescale;
        let mut frame = index.video.frames[0];
        frame.size = frame.size.min(200);
        let frames = sound.map(|nth| {
            frame.decode = 1024 * nth;
            frame
        });
        let codec = Codec::Aac { config: vec![0x11, 0x90], channels: 2 };
        let (timescale, clock, framing) = (48_000, 48_000, Framing::Plain);
        index.audio = Some(Track { codec, timescale, clock, framing, frames: frames.collect(), last: 1024 });
        Arc::new(Stored::of("a.mp4", video))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
