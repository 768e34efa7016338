//! Pictures that a viewer would have seen: the stream that arrived under each scheme is compared with what was sent,
//! frame by frame.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thalweg_core::time::Span;
use thalweg_net::error::plain;

use super::decoder::{Decoder, Size};

/// Part of the video that is decoded.
pub(super) const LENGTH: Span = Span::from_secs(10);

/// The end of that part that is not compared: its last frames are cut short in both streams.
const TAIL: Span = Span::from_millis(500);

/// Greatest width of a still, in pixels.
const STILL_WIDTH: usize = 640;

/// Part of a video of `length` that is compared.
pub(super) fn compared(length: Span) -> Span {
    LENGTH.min(length).saturating_sub(TAIL)
}

/// The frames of one run, compared with the original's.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Picture {
    pub(super) frames: u64,
    /// Frames that are missing or differ from the original in any pixel.
    pub(super) damaged: u64,
    /// Mean over the frames of the mean squared difference in luma.
    squared_error: f64,
}

/// Every run's picture, and the moment at which they differ most.
pub(super) struct Comparison {
    pub(super) pictures: Vec<Picture>,
    /// `None` if all runs are equal all the time.
    pub(super) moment: Option<Moment>,
}

/// One moment of the video in every run.
pub(super) struct Moment {
    /// The time since the start of the video.
    pub(super) at: Span,
    pub(super) stills: Vec<Still>,
}

/// Picture of a run at a moment.
pub(super) struct Still {
    pub(super) jpeg: Vec<u8>,
    pub(super) size: Size,
    pub(super) fidelity: Fidelity,
}

/// Difference of a frame from the original.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Fidelity {
    /// Equal in every pixel.
    Same,
    /// Different, with this mean squared difference in luma.
    Differs(f64),
}

impl Comparison {
    /// Decodes all streams, and compares all but the tail of the original's `length`.
    pub(super) fn of(original: &Path, received: &[PathBuf], length: Span) -> Result<Comparison, String> {
        let mut original = Decoder::open(original)?;
        let mut screens = received.iter().map(|path| Screen::open(path)).collect::<Result<Vec<_>, _>>()?;
        let mut pictures = vec![Picture::default(); screens.len()];
        let mut start = None;
        let mut most: Option<Shown> = None;
        while let Some(pts) = original.next() {
            let at = Span::from_micros((pts - *start.get_or_insert(pts)).max(0) as u64 * 100 / 9);
            if at >= compared(length) {
                break;
            }
            let luma = original.size.luma();
            let shown =
                |screen: &mut Screen| Fidelity::of(&original.frame, screen.show(pts, original.frame.len()), luma);
            let shown: Vec<Fidelity> = screens.iter_mut().map(shown).collect();
            pictures.iter_mut().zip(&shown).for_each(|(picture, fidelity)| picture.add(*fidelity));
            let spread = spread(&shown);
            if spread > most.as_ref().map_or(0.0, |most| most.spread) {
                let frames = screens.iter().map(|screen| screen.frame.clone()).collect();
                most = Some(Shown { at, spread, frames, fidelities: shown });
            }
        }
        if start.is_none() {
            return Err("ffmpeg finds no video in the input".into());
        }
        let moment = most.map(|most| most.stills(original.size)).transpose()?;
        Ok(Comparison { pictures, moment })
    }
}

/// Pictures of all runs at one moment.
struct Shown {
    at: Span,
    spread: f64,
    frames: Vec<Vec<u8>>,
    fidelities: Vec<Fidelity>,
}

impl Shown {
    fn stills(self, size: Size) -> Result<Moment, String> {
        let shown = self.frames.into_iter().zip(self.fidelities);
        let stills = shown.map(|(frame, fidelity)| still(frame, size, fidelity)).collect::<Result<_, _>>()?;
        Ok(Moment { at: self.at, stills })
    }
}

/// The screen of one run's viewer, on which a missing frame leaves the previous one.
struct Screen {
    decoder: Decoder,
    /// The time stamp of the decoder's frame, which is not shown yet.
    ahead: Option<i64>,
    frame: Vec<u8>,
}

impl Screen {
    fn open(path: &Path) -> Result<Screen, String> {
        let mut decoder = Decoder::open(path)?;
        let ahead = decoder.next();
        Ok(Screen { decoder, ahead, frame: Vec::new() })
    }

    /// The screen, of `len` bytes, when the original shows the frame of `pts`.
    fn show(&mut self, pts: i64, len: usize) -> &[u8] {
        while self.ahead.is_some_and(|next| next <= pts) {
            self.frame.clone_from(&self.decoder.frame);
            let shown_pts = self.ahead;
            self.ahead = self.decoder.next();
            if shown_pts == Some(pts) {
                break;
            }
        }
        self.frame.resize(len, 0);
        &self.frame
    }
}

impl Fidelity {
    /// Compares frames whose first `luma` bytes are luma.
    fn of(original: &[u8], shown: &[u8], luma: usize) -> Fidelity {
        if original == shown {
            return Fidelity::Same;
        }
        let squares = |(&a, &b): (&u8, &u8)| u64::from(a.abs_diff(b)).pow(2);
        let total: u64 = original.iter().zip(shown).take(luma).map(squares).sum();
        Fidelity::Differs(total as f64 / luma.max(1) as f64)
    }

    fn squared_error(self) -> f64 {
        match self {
            Fidelity::Same => 0.0,
            Fidelity::Differs(mean) => mean,
        }
    }

    /// Peak signal to noise ratio of the luma, in decibels; none if it is the same.
    pub(super) fn psnr(self) -> Option<f64> {
        psnr(self.squared_error())
    }
}

impl Picture {
    fn add(&mut self, fidelity: Fidelity) {
        self.damaged += u64::from(fidelity != Fidelity::Same);
        self.frames += 1;
        self.squared_error += (fidelity.squared_error() - self.squared_error) / self.frames as f64;
    }

    /// Peak signal to noise ratio of the luma over all frames, in decibels; none if they are the same.
    pub(super) fn psnr(&self) -> Option<f64> {
        psnr(self.squared_error)
    }
}

fn psnr(squared_error: f64) -> Option<f64> {
    (squared_error > 0.0).then(|| 10.0 * (255.0 * 255.0 / squared_error).log10())
}

/// Distance of the worst run from the best one.
fn spread(shown: &[Fidelity]) -> f64 {
    let errors = || shown.iter().map(|fidelity| fidelity.squared_error());
    errors().fold(0.0, f64::max) - errors().fold(f64::INFINITY, f64::min)
}

/// A frame as a JPEG small enough for a page.
fn still(frame: Vec<u8>, size: Size, fidelity: Fidelity) -> Result<Still, String> {
    let width = size.width.min(STILL_WIDTH);
    let small = Size { width, height: (size.height * width / size.width.max(1)).max(1) };
    let mut command = Command::new("ffmpeg");
    command.args(["-nostdin", "-v", "quiet", "-f", "rawvideo", "-pix_fmt", "yuv420p"]);
    command.args(["-video_size", &format!("{}x{}", size.width, size.height), "-i", "pipe:0"]);
    command.args(["-vf", &format!("scale={}:{}", small.width, small.height), "-frames:v", "1", "-q:v", "5"]);
    command.args(["-pix_fmt", "yuvj420p", "-f", "mjpeg", "pipe:1"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut process = command.spawn().map_err(|error| format!("cannot start ffmpeg: {}", plain(&error)))?;
    let stdin = process.stdin.take();
    // ffmpeg may stop reading while its output is not read.
    let writing = std::thread::spawn(move || stdin.is_some_and(|mut stdin| stdin.write_all(&frame).is_ok()));
    let output = process.wait_with_output().map_err(|error| format!("cannot read from ffmpeg: {}", plain(&error)))?;
    let written = writing.join().unwrap_or(false);
    if !written || !output.status.success() || output.stdout.is_empty() {
        return Err("ffmpeg cannot encode a frame as JPEG".into());
    }
    Ok(Still { jpeg: output.stdout, size: small, fidelity })
}

/// True if ffmpeg is installed.
pub(super) fn is_possible() -> bool {
    let version = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn psnr_of_a_one_step_error_is_48_db() {
        // 20 log10(255), as every textbook has it.
        let fidelity = Fidelity::of(&[10; 6], &[11; 6], 4);
        assert!((fidelity.psnr().expect("they differ") - 48.13).abs() < 0.01);
        let mut picture = Picture::default();
        picture.add(fidelity);
        assert!((picture.psnr().expect("they differ") - 48.13).abs() < 0.01);
        // Half the error is 3 dB more.
        picture.add(Fidelity::Same);
        assert!((picture.psnr().expect("they differ") - 51.14).abs() < 0.01);
        assert_eq!((picture.frames, picture.damaged), (2, 1));
    }

    #[test]
    fn identical_frames_have_no_psnr() {
        let mut picture = Picture::default();
        picture.add(Fidelity::of(&[10; 6], &[10; 6], 4));
        assert_eq!((picture.psnr(), picture.damaged), (None, 0));
    }

    #[test]
    fn spread_is_largest_where_runs_differ_not_where_all_are_bad() {
        let differs = Fidelity::Differs;
        assert!(spread(&[differs(90.0), differs(20.0), differs(40.0)]) > spread(&[differs(500.0), differs(450.0)]));
        assert_eq!(spread(&[differs(7.0), Fidelity::Same]), 7.0);
        assert_eq!((spread(&[Fidelity::Same; 3]), spread(&[differs(7.0); 2])), (0.0, 0.0));
    }
}
