//! What a viewer would have seen: ffmpeg decodes what arrived and what was sent, frame by frame.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use thalweg_core::time::Span;
use thalweg_net::error::plain;

/// How much of the film is decoded.
pub(super) const LENGTH: Span = Span::from_secs(10);

/// The last frames of that are cut short in both.
const TAIL: Span = Span::from_millis(500);

/// How much of a film of `length` is compared.
pub(super) fn compared(length: Span) -> Span {
    LENGTH.min(length).saturating_sub(TAIL)
}

/// The frames of one run against the original's.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Picture {
    pub(super) frames: u64,
    /// Frames that never came or differ from the original in any pixel.
    pub(super) damaged: u64,
    /// Mean over the frames of the mean squared difference in luma.
    squared_error: f64,
}

impl Picture {
    /// Decodes both and compares all but the tail of the original's `length`; a frame that is missing leaves the one before it on the screen.
    pub(super) fn compare(original: &Path, received: &Path, length: Span) -> Result<Picture, String> {
        let mut original = Decoder::open(original)?;
        let mut received = Decoder::open(received)?;
        let mut ahead = received.next();
        let mut screen = Vec::new();
        let mut picture = Picture::default();
        let mut end = None;
        while let Some(pts) = original.next() {
            if pts >= *end.get_or_insert(pts + clock_ticks(compared(length))) {
                break;
            }
            while ahead.is_some_and(|next| next <= pts) {
                screen.clone_from(&received.frame);
                let came = ahead;
                ahead = received.next();
                if came == Some(pts) {
                    break;
                }
            }
            screen.resize(original.frame.len(), 0);
            picture.add(&original.frame, &screen, original.luma);
        }
        if picture.frames == 0 { Err("ffmpeg finds no video in the film".into()) } else { Ok(picture) }
    }

    fn add(&mut self, original: &[u8], shown: &[u8], luma: usize) {
        self.frames += 1;
        if original == shown {
            return;
        }
        self.damaged += 1;
        let squares = |(&a, &b): (&u8, &u8)| u64::from(a.abs_diff(b)).pow(2);
        let total: u64 = original.iter().zip(shown).take(luma).map(squares).sum();
        self.squared_error += total as f64 / luma.max(1) as f64;
    }

    /// Peak signal to noise ratio of the luma over all frames, in decibels; none if they are the same.
    pub(super) fn psnr(&self) -> Option<f64> {
        let mean = self.squared_error / self.frames.max(1) as f64;
        (mean > 0.0).then(|| 10.0 * (255.0 * 255.0 / mean).log10())
    }
}

/// Whether ffmpeg is there.
pub(super) fn is_possible() -> bool {
    let version = Command::new("ffmpeg").arg("-version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Pieces that may wait, 64 MiB of them: ffmpeg writes pixels, stamps and the head of the list in whatever order it
/// likes and stops while either pipe is full, so both are read all the time.
const AHEAD: usize = 1 << 10;

/// An ffmpeg that says nothing for so long has failed.
const PATIENCE: Duration = Duration::from_secs(10);

/// ffmpeg, which gives the frames of a file and beside them the time stamp of each.
struct Decoder {
    process: Child,
    pixels: Pixels,
    stamps: Receiver<i64>,
    frame: Vec<u8>,
    /// How many bytes of the frame, its first ones, are luma.
    luma: usize,
}

impl Decoder {
    fn open(path: &Path) -> Result<Decoder, String> {
        let mut command = Command::new("ffmpeg");
        // Without the offset ffmpeg moves a stream that starts near zero.
        command.args(["-nostdin", "-v", "quiet", "-copyts", "-itsoffset", "10", "-i"]).arg(path);
        let every_frame = ["-map", "0:v:0", "-fps_mode", "passthrough", "-enc_time_base", "1:90000"];
        command.args(every_frame).args(["-pix_fmt", "yuv420p", "-f", "rawvideo", "pipe:1"]);
        command.args(every_frame).args(["-c:v", "wrapped_avframe", "-flush_packets", "1", "-f", "framecrc", "pipe:2"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("cannot start ffmpeg: {}", plain(&error)))?;
        let (Some(pixels), Some(list)) = (process.stdout.take(), process.stderr.take()) else {
            return Err("cannot read from ffmpeg".into());
        };
        let (tell_size, size) = channel();
        let (tell, stamps) = channel();
        std::thread::spawn(move || read_list(BufReader::new(list), &tell_size, &tell));
        let (give, pieces) = sync_channel(AHEAD);
        std::thread::spawn(move || read_pieces(pixels, &give));
        let (width, height) = size.recv_timeout(PATIENCE).unwrap_or((0, 0));
        let luma = width * height;
        let frame = vec![0; luma + 2 * width.div_ceil(2) * height.div_ceil(2)];
        Ok(Decoder { process, pixels: Pixels { pieces, piece: Cursor::default() }, stamps, frame, luma })
    }

    /// Fetches the next frame; its time stamp on MPEG's 90 kHz clock.
    fn next(&mut self) -> Option<i64> {
        self.pixels.read_exact(&mut self.frame).ok()?;
        self.stamps.recv_timeout(PATIENCE).ok()
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What another thread has read ahead.
struct Pixels {
    pieces: Receiver<Vec<u8>>,
    piece: Cursor<Vec<u8>>,
}

impl Read for Pixels {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.position() == self.piece.get_ref().len() as u64 {
            let Ok(piece) = self.pieces.recv_timeout(PATIENCE) else { return Ok(0) };
            self.piece = Cursor::new(piece);
        }
        self.piece.read(buffer)
    }
}

/// Reads until there is no more, or nobody wants it.
fn read_pieces(mut pixels: impl Read, give: &SyncSender<Vec<u8>>) {
    loop {
        let mut piece = vec![0; 1 << 16];
        let Ok(len @ 1..) = pixels.read(&mut piece) else { break };
        piece.truncate(len);
        if give.send(piece).is_err() {
            break;
        }
    }
}

/// Reads ffmpeg's `framecrc`: the size of the frames from its head, then a line a frame.
fn read_list(list: impl BufRead, tell_size: &Sender<(usize, usize)>, tell: &Sender<i64>) {
    for line in list.lines().map_while(Result::ok) {
        let told = if let Some(size) = line.strip_prefix("#dimensions 0: ") {
            let parsed = size.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
            parsed.is_none_or(|size| tell_size.send(size).is_ok())
        } else {
            let stamp = line.split(',').nth(2).and_then(|pts| pts.trim().parse().ok());
            stamp.is_none_or(|stamp| tell.send(stamp).is_ok())
        };
        if !told {
            break;
        }
    }
}

fn clock_ticks(span: Span) -> i64 {
    (span.as_micros() * 9 / 100) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_one_step_everywhere_is_48_db() {
        // 20 log10(255), as every textbook has it.
        let mut picture = Picture::default();
        picture.add(&[10; 6], &[11; 6], 4);
        assert!((picture.psnr().expect("they differ") - 48.13).abs() < 0.01);
        assert_eq!((picture.frames, picture.damaged), (1, 1));
    }

    #[test]
    fn frames_that_are_the_same_have_no_ratio() {
        let mut picture = Picture::default();
        picture.add(&[10; 6], &[10; 6], 4);
        assert_eq!((picture.psnr(), picture.damaged), (None, 0));
    }

    #[test]
    fn the_list_of_frames_is_read() {
        let list = "#tb 0: 1/90000\n#dimensions 0: 1280x720\n0, 945844, 945844, 3750, 472, 0x3e3d1ef2\nnonsense\n";
        let (tell_size, size) = channel();
        let (tell, stamps) = channel();
        read_list(list.as_bytes(), &tell_size, &tell);
        assert_eq!((size.try_recv(), stamps.try_recv()), (Ok((1280, 720)), Ok(945_844)));
        assert!(stamps.try_recv().is_err());
    }
}
