//! The videos that are sent, and their comparison: as decoded frames, each by its MD5.

use std::path::Path;

use crate::peers::program::Program;
use crate::peers::stage::Stage;

/// The folder of recorded videos, beside the project.
const VIDEOS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data/video");

/// Pictures as MPEG-TS in a file.
pub(crate) struct Clip {
    pub(crate) path: String,
    /// MD5 of each decoded picture.
    pub(crate) frames: Vec<String>,
}

impl Clip {
    /// ffmpeg's moving test picture, with a tone that goes on for a second after it: ffmpeg's RTP muxer holds back up
    /// to six packets at the end of a stream.
    pub(crate) fn synthetic(stage: &Stage, seconds: u32) -> Clip {
        let path = stage.path("clip.ts");
        let (pictures, tone) = (format!("testsrc2=size=640x360:rate=25:d={seconds}"), seconds + 1);
        let sources = format!("-f lavfi -i {pictures} -f lavfi -i sine=frequency=440:d={tone}");
        let codecs = "-c:v mpeg2video -b:v 3M -g 12 -bf 2 -c:a mp2 -b:a 128k";
        let line = format!("ffmpeg -v error {sources} {codecs} -f mpegts {path}");
        Program::line(stage, "synthesis", &line).end().expect_no_complaint(|_| false);
        Clip::open(stage, path)
    }

    /// The first `seconds` of a recorded video; `None`, and a line with the reason, if the recording is missing.
    pub(crate) fn recorded(stage: &Stage, name: &str, seconds: u32) -> Option<Clip> {
        let video = Path::new(VIDEOS).join(name);
        if !video.exists() {
            println!("skipped: there is no {}", video.display());
            return None;
        }
        let path = stage.path("clip.ts");
        let line = format!("ffmpeg -v error -i {} -t {seconds} -c copy -f mpegts {path}", video.display());
        Program::line(stage, "cut", &line).end().expect_no_complaint(|_| false);
        Some(Clip::open(stage, path))
    }

    fn open(stage: &Stage, path: String) -> Clip {
        let frames = decode(stage, &path);
        assert!(frames.len() > 50, "{path} has {} frames", frames.len());
        Clip { path, frames }
    }
}

/// Decodes a file without any error message.
pub(crate) fn decode(stage: &Stage, path: &str) -> Vec<String> {
    let decoded = Program::line(stage, "decode", &decoder(path)).end();
    decoded.expect_no_complaint(|_| false);
    hashes(&decoded.output)
}

/// Decodes as much of a file as can be decoded.
pub(crate) fn decode_with_errors(stage: &Stage, path: &str) -> Vec<String> {
    hashes(&Program::line(stage, "decode", &decoder(path)).end().output)
}

/// The command line that decodes `input` and prints a hash of each picture.
pub(crate) fn decoder(input: &str) -> String {
    format!("ffmpeg -v error -i {input} -map 0:v -fps_mode passthrough -f framemd5 -")
}

/// The pictures that a [`decoder`] of a UDP address with a timeout has seen, without any error message.
pub(crate) fn seen(live: Program) -> Vec<String> {
    let live = live.end();
    // Silence for the length of its timeout is the end of the stream to ffmpeg.
    live.expect_no_complaint(|line| line.ends_with("Input/output error") || line.contains("Last message repeated"));
    hashes(&live.output)
}

/// The hashes in the output of [`decoder`].
fn hashes(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit(',').next().unwrap_or_default().trim().to_owned()).collect()
}

/// Expects the pictures of `original` one for one, but for the first `first` and the last `last`, which may be missing.
pub(crate) fn expect_frames(got: &[String], original: &[String], first: usize, last: usize) {
    let start = got.first().and_then(|frame| original.iter().position(|other| other == frame));
    let Some(start) = start.filter(|&start| start <= first) else {
        panic!("{} frames, which do not begin within the first {first} of {}", got.len(), original.len());
    };
    let expected = &original[start..];
    let different = got.iter().zip(expected).position(|(got, expected)| got != expected);
    assert_eq!(different, None, "first different frame, of {} after {start}", expected.len());
    let missing = expected.len().checked_sub(got.len()).expect("no more frames than there were");
    assert!(missing <= last, "{missing} of {} frames are missing at the end", original.len());
}
