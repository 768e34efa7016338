//! Indexes of a folder of videos, kept and made anew.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use proptest::prelude::*;

use super::super::coding::digested;
use super::*;
use crate::mp4::synthetic::Tables;

/// A folder with a video, `sub/a.mp4`, that is removed with this.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("thalweg-frames-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join("sub")).expect("a folder");
        fs::write(path.join("sub/a.mp4"), Tables::new().video()).expect("a file");
        Folder(path)
    }

    fn indexes(&self, keep: Option<Keep>) -> Indexes {
        Indexes::new(Arc::new(Root::open(&self.0).expect("a folder")), keep)
    }

    /// The frames of the video and the note, with indexes that no one has in memory.
    fn frames(&self, keep: &Keep) -> (Vec<Frame>, Option<String>) {
        let Found { video, note } = self.indexes(Some(keep.clone())).video("sub/a.mp4").expect("a video");
        (video.index.video.frames.clone(), note)
    }

    fn kept(&self) -> PathBuf {
        self.0.join("sub/.thalweg/a.mp4.index")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn viewers_share_an_index_until_the_video_changes() {
    let folder = Folder::new("shared");
    let indexes = folder.indexes(None);
    let first = indexes.video("sub/a.mp4").expect("a video").video;
    let second = indexes.video("sub/a.mp4").expect("a video").video;
    assert!(Arc::ptr_eq(&first, &second));
    let track = &first.index.video;
    let frames = [1, 0].map(|place: usize| (track, &track.frames[place]));
    assert_eq!(first.fetch(&frames).expect("frames"), [1, 0].map(|place: usize| Tables::new().samples[place].clone()));
    let mut other = Tables::new();
    other.stts[3] = 20;
    fs::write(folder.0.join("sub/a.mp4"), other.video()).expect("a file");
    // The old viewers get nothing of other content, and new ones a new index.
    assert!(first.fetch(&frames).is_err());
    let third = indexes.video("sub/a.mp4").expect("a video").video;
    assert_eq!((track.frames[1].decode, third.index.video.frames[1].decode), (40, 20));
    assert!(!folder.kept().exists());
    assert!(indexes.video("sub/b.mp4").is_err() && indexes.video("../a.mp4").is_err());
}

#[test]
fn frame_in_memory_is_read_without_waiting() {
    let folder = Folder::new("resident");
    let video = folder.indexes(None).video("sub/a.mp4").expect("a video").video;
    let track = &video.index.video;
    let frames = [(track, &track.frames[1])];
    match video.fetch_resident(&frames) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => println!("skipped: not on this file system"),
        read => assert_eq!(read.expect("a frame"), [Tables::new().samples[1].clone()]),
    }
    File::options().write(true).open(folder.0.join("sub/a.mp4")).and_then(|file| file.set_len(10)).expect("a file");
    assert!(video.fetch_resident(&frames).is_err());
}

#[test]
fn refused_video_is_read_again_once_it_has_changed() {
    let folder = Folder::new("refused");
    let (indexes, name) = (folder.indexes(None), "sub/b.ts");
    fs::write(folder.0.join(name), b"no video").expect("a file");
    let refusal = |indexes: &Indexes| indexes.video(name).expect_err("no video");
    let first = refusal(&indexes);
    assert!(first.is_new && indexes.refusals()[name] == first.why.to_string());
    assert_eq!(refusal(&indexes), Refusal { is_new: false, ..first });
    fs::write(folder.0.join(name), b"other bytes").expect("a file");
    assert!(refusal(&indexes).is_new);
    fs::write(folder.0.join(name), Tables::new().video()).expect("a file");
    assert!(indexes.video(name).is_ok() && indexes.refusals().is_empty());
}

#[test]
fn kept_index_is_used_until_the_video_changes() {
    let folder = Folder::new("kept");
    for keep in [Keep::Beside, Keep::In(folder.0.join("cache"))] {
        let (frames, note) = folder.frames(&keep);
        assert_eq!((frames.len(), note), (5, None));
        let kept = if keep == Keep::Beside { folder.kept() } else { folder.0.join("cache/sub/a.mp4.index") };
        let bytes = fs::read(&kept).expect("a kept index");
        // It is read: one with other frames, which a test can write, results in these.
        let stamp = stamp(&File::open(folder.0.join("sub/a.mp4")).expect("a file")).expect("a stamp");
        let mut index = decode(&bytes, &stamp).expect("an index");
        assert_eq!(index.video.frames, frames);
        index.video.frames.truncate(2);
        fs::write(&kept, encode(&index, &stamp)).expect("a file");
        assert_eq!(folder.frames(&keep), (frames[..2].to_vec(), None));
        // The video is written anew: another stamp.
        fs::write(folder.0.join("sub/a.mp4"), Tables::new().video()).expect("a file");
        assert_eq!(folder.frames(&keep), (frames, None));
        assert_eq!(fs::read_dir(kept.parent().expect("a folder")).expect("a folder").count(), 1);
    }
}

#[test]
fn damaged_or_foreign_index_is_made_anew_with_a_note() {
    let folder = Folder::new("damaged");
    let (frames, _) = folder.frames(&Keep::Beside);
    let bytes = fs::read(folder.kept()).expect("a kept index");
    let changed = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        bytes
    };
    for (content, why) in [
        (changed(8, 99), "another version"),
        (changed(0, b'x'), "damaged"),
        (changed(bytes.len() - 1, 77), "damaged"),
        (bytes[..bytes.len() - 30].to_vec(), "damaged"),
        (Vec::new(), "damaged"),
    ] {
        fs::write(folder.kept(), content).expect("a file");
        let (again, note) = folder.frames(&Keep::Beside);
        let note = note.expect("a note");
        assert!(again == frames && note.contains(why) && note.lines().count() == 1, "{note}");
        assert_eq!(fs::read(folder.kept()).expect("a file"), bytes);
    }
}

#[test]
fn folder_that_cannot_be_written_is_noted_once() {
    let folder = Folder::new("full");
    // A file in the place of the folder, so that root, too, cannot write there.
    fs::write(folder.0.join("sub/.thalweg"), b"").expect("a file");
    fs::write(folder.0.join("sub/b.mp4"), Tables::new().video()).expect("a file");
    for keep in [Keep::Beside, Keep::In(folder.0.join("sub/a.mp4"))] {
        let indexes = folder.indexes(Some(keep));
        let [first, second] = ["sub/a.mp4", "sub/b.mp4"].map(|name| indexes.video(name).expect("a video").note);
        let first = first.expect("a note");
        assert!(first.contains("not a directory; name a folder for indexes with --cache"), "{first}");
        assert_eq!((first.lines().count(), second), (1, None));
    }
}

#[test]
fn link_in_the_place_of_the_folder_is_not_followed() {
    let (folder, other) = (Folder::new("link"), Folder::new("link-target"));
    symlink(&other.0, folder.0.join("sub/.thalweg")).expect("a link");
    let (frames, note) = folder.frames(&Keep::Beside);
    assert!(frames.len() == 5 && note.is_some());
    assert!(!other.0.join("a.mp4.index").exists());
}

fn stamp_of(len: u64) -> Stamp {
    let folder = Folder::new(&format!("stamp-{len}-{:?}", std::thread::current().id()));
    fs::write(folder.0.join("a"), vec![0; len as usize]).expect("a file");
    stamp(&File::open(folder.0.join("a")).expect("a file")).expect("a stamp")
}

proptest! {
    #[test]
    fn changed_bytes_give_an_index_or_a_reason(
        at in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>()
    ) {
        let video = Tables::new().video();
        let index = Index::read(&mut std::io::Cursor::new(&video)).expect("a video");
        let stamp = stamp_of(video.len() as u64);
        let mut bytes = encode(&index, &stamp);
        prop_assert_eq!(decode(&bytes, &stamp), Ok(index));
        let at = at.index(bytes.len());
        let is_same = bytes[at] == byte;
        bytes[at] = byte;
        prop_assert!(decode(&bytes, &stamp).is_ok() == is_same);
        // With a digest that hides the change.
        if let Ok(index) = decode(&digested(bytes.clone()), &stamp) {
            let inside = |frame: &Frame| frame.offset + u64::from(frame.size) <= video.len() as u64;
            prop_assert!(index.video.frames.iter().all(inside));
        }
        bytes.truncate(cut.index(bytes.len()));
        prop_assert!(decode(&bytes, &stamp).is_err());
    }
}
