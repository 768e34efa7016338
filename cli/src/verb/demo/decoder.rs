//! The frames of a file, which ffmpeg decodes.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use thalweg_net::error::plain;

/// The pieces read ahead at most, 64 MiB: ffmpeg writes pixels, time stamps and the head of the list in any order, and
/// stops while either pipe is full, so both pipes are read all the time.
const AHEAD: usize = 1 << 10;

/// The silence after which ffmpeg has failed.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A running ffmpeg, which writes the frames of a file and, beside them, the time stamp of each.
pub(super) struct Decoder {
    process: Child,
    pixels: Pixels,
    stamps: Receiver<i64>,
    pub(super) frame: Vec<u8>,
    pub(super) size: Size,
}

/// Width and height of a frame, whose samples are a plane of luma and two of chroma, half as wide and half as high.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Size {
    pub(super) width: usize,
    pub(super) height: usize,
}

impl Size {
    /// Bytes of luma, the first ones of a frame.
    pub(super) fn luma(self) -> usize {
        self.width * self.height
    }

    fn bytes(self) -> usize {
        self.luma() + 2 * self.width.div_ceil(2) * self.height.div_ceil(2)
    }
}

impl Decoder {
    pub(super) fn open(path: &Path) -> Result<Decoder, String> {
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
        let (size_sender, size) = channel();
        let (stamp_sender, stamps) = channel();
        std::thread::spawn(move || read_list(BufReader::new(list), &size_sender, &stamp_sender));
        let (piece_sender, pieces) = sync_channel(AHEAD);
        std::thread::spawn(move || read_pieces(pixels, &piece_sender));
        let size = size.recv_timeout(TIMEOUT).unwrap_or_default();
        let pixels = Pixels { pieces, piece: Cursor::default() };
        Ok(Decoder { process, pixels, stamps, frame: vec![0; size.bytes()], size })
    }

    /// Fetches the next frame; returns its time stamp on MPEG's 90 kHz clock.
    pub(super) fn next(&mut self) -> Option<i64> {
        self.pixels.read_exact(&mut self.frame).ok()?;
        self.stamps.recv_timeout(TIMEOUT).ok()
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Bytes that another thread has read ahead.
struct Pixels {
    pieces: Receiver<Vec<u8>>,
    piece: Cursor<Vec<u8>>,
}

impl Read for Pixels {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.piece.position() == self.piece.get_ref().len() as u64 {
            let Ok(piece) = self.pieces.recv_timeout(TIMEOUT) else { return Ok(0) };
            self.piece = Cursor::new(piece);
        }
        self.piece.read(buffer)
    }
}

/// Reads until the end, or until the receiver is dropped.
fn read_pieces(mut pixels: impl Read, piece_sender: &SyncSender<Vec<u8>>) {
    loop {
        let mut piece = vec![0; 1 << 16];
        let Ok(len @ 1..) = pixels.read(&mut piece) else { break };
        piece.truncate(len);
        if piece_sender.send(piece).is_err() {
            break;
        }
    }
}

/// Reads ffmpeg's `framecrc`: the size of the frames from its head, then a line a frame.
fn read_list(list: impl BufRead, size_sender: &Sender<Size>, stamp_sender: &Sender<i64>) {
    for line in list.lines().map_while(Result::ok) {
        let is_received = if let Some(size) = line.strip_prefix("#dimensions 0: ") {
            let sides = size.split_once('x');
            let parsed = sides.and_then(|(w, h)| Some(Size { width: w.parse().ok()?, height: h.parse().ok()? }));
            parsed.is_none_or(|size| size_sender.send(size).is_ok())
        } else {
            let stamp = line.split(',').nth(2).and_then(|pts| pts.trim().parse().ok());
            stamp.is_none_or(|stamp| stamp_sender.send(stamp).is_ok())
        };
        if !is_received {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framecrc_list_yields_frame_size_and_time_stamps() {
        let list = "#tb 0: 1/90000\n#dimensions 0: 1280x720\n0, 945844, 945844, 3750, 472, 0x3e3d1ef2\nnonsense\n";
        let (size_sender, size) = channel();
        let (stamp_sender, stamps) = channel();
        read_list(list.as_bytes(), &size_sender, &stamp_sender);
        assert_eq!((size.try_recv(), stamps.try_recv()), (Ok(Size { width: 1280, height: 720 }), Ok(945_844)));
        assert!(stamps.try_recv().is_err());
    }
}
