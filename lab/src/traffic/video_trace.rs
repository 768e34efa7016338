//! A recorded video: the sizes of its frames, played again and again.
//!
//! Two formats are read, and distinguished by their first line:
//!
//! - CSV whose first line names the columns: `bytes`, and optionally `type` (`I`, `P` or `B`) and `dts_ms`, the
//!   decoding time in milliseconds. Other columns are ignored. Frames are in sending order.
//! - Temporal layers: the first line is the number of frames in a group, every other line a frame: its number, its size
//!   in bytes, and its value, which is ignored. There is neither type nor time.

use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::Source;
use super::video::{Frame, Kind, LEAST_FRAME_TIME, Packets, Player};

/// The maximum number of frames, more than any published trace has: a day at 60 frames a second is 5 million.
const MOST_FRAMES: usize = 8_000_000;

/// The maximum size of a frame, far above that of any streamed video; it bounds the burst that one line of a file can
/// cause.
const MOST_BYTES: u32 = 1 << 26;

/// A video of at least one frame with bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    frames: Vec<Frame>,
    frame_time: Span,
}

impl Trace {
    /// Reads a trace. If `frame_time` is none, it is the mean distance of `dts_ms`.
    ///
    /// # Errors
    /// Names the first line that cannot be read and what was expected there, or what the trace as a whole lacks.
    pub fn parse(text: &str, frame_time: Option<Span>) -> Result<Trace, String> {
        let first = text.lines().next().unwrap_or("").trim();
        let places = if first.parse::<u32>().is_ok() { LAYERS } else { places(first)? };
        let mut frames = Vec::new();
        let mut clock = Clock::default();
        for (index, line) in text.lines().enumerate().skip(1) {
            let refuse = |why: String| format!("line {}: {why}", index + 1);
            if frames.len() == MOST_FRAMES {
                return Err(refuse(format!("too many frames, expected at most {MOST_FRAMES}")));
            }
            frames.push(frame(line, &places, &mut clock).map_err(refuse)?);
        }
        if frames.iter().all(|frame| frame.size == Bytes(0)) {
            return Err("has no frame with bytes".into());
        }
        let frame_time = frame_time.or(clock.mean_step(frames.len())).ok_or(NO_RATE)?;
        if frame_time < LEAST_FRAME_TIME {
            return Err("has more than 1000 frames a second".into());
        }
        Ok(Trace { frames, frame_time })
    }

    /// The frames, in the order in which they are sent.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// The time of one frame.
    pub fn frame_time(&self) -> Span {
        self.frame_time
    }

    /// The mean rate of the video, without any headers.
    pub fn mean_rate(&self) -> Rate {
        let bytes = self.frames.iter().map(|frame| frame.size).sum();
        Rate::of(bytes, self.frame_time * self.frames.len() as u64)
    }
}

const NO_RATE: &str = "has no frame rate: expected two or more rows with a column 'dts_ms', or 'fps'";

/// The positions of the fields in a line.
struct Places {
    separator: char,
    bytes: usize,
    kind: Option<usize>,
    dts: Option<usize>,
}

const LAYERS: Places = Places { separator: ' ', bytes: 1, kind: None, dts: None };

fn places(header: &str) -> Result<Places, String> {
    let titles: Vec<&str> = header.split(',').map(str::trim).collect();
    let column = |name| titles.iter().position(|title| *title == name);
    let missing = || {
        let header = excerpt(header);
        format!("line 1: '{header}', expected names of columns, 'bytes' among them, or the number of frames in a group")
    };
    Ok(Places {
        separator: ',',
        bytes: column("bytes").ok_or_else(missing)?,
        kind: column("type"),
        dts: column("dts_ms"),
    })
}

/// The first and the last decoding time, in milliseconds.
#[derive(Default)]
struct Clock(Option<(f64, f64)>);

impl Clock {
    fn see(&mut self, dts: f64) -> Result<(), String> {
        let (first, last) = self.0.unwrap_or((dts, dts));
        self.0 = Some((first, dts));
        if dts < last { Err(format!("dts_ms is {dts}, expected {last} or later")) } else { Ok(()) }
    }

    fn mean_step(&self, frames: usize) -> Option<Span> {
        let (first, last) = self.0?;
        (frames > 1).then(|| Span::from_secs_f64((last - first) / 1e3 / (frames - 1) as f64))
    }
}

fn frame(line: &str, places: &Places, clock: &mut Clock) -> Result<Frame, String> {
    const DAY: f64 = 86_400_000.0;
    let field = |place: usize| {
        let text = line.split(places.separator).nth(place).map(str::trim);
        text.ok_or_else(|| format!("'{}' has no field {}", excerpt(line), place + 1))
    };
    let refuse = |text: &str, expected: &str| format!("'{}', expected {expected}", excerpt(text));
    let bytes = field(places.bytes)?;
    let size = bytes.parse().ok().filter(|size: &u32| *size <= MOST_BYTES);
    let size = size.ok_or_else(|| refuse(bytes, "a whole number of bytes up to 67108864"))?;
    let kind = places.kind.map(field).transpose()?;
    let kind = kind.map(|kind| Kind::of(kind).ok_or_else(|| refuse(kind, "a type of frame: I, P or B"))).transpose()?;
    if let Some(dts) = places.dts.map(field).transpose()? {
        let number = dts.parse().ok().filter(|millis: &f64| millis.abs() < DAY);
        clock.see(number.ok_or_else(|| refuse(dts, "a number of milliseconds below a day"))?)?;
    }
    Ok(Frame { kind, size: Bytes(size.into()) })
}

/// The start of a text, short enough for a message.
fn excerpt(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Plays a trace from its first frame on, again and again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VideoTrace {
    video: Video,
    player: Player,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Video {
    frames: Vec<Frame>,
    next: usize,
}

impl Video {
    fn draw(&mut self) -> Frame {
        let frame = self.frames[self.next];
        self.next = (self.next + 1) % self.frames.len();
        frame
    }
}

impl VideoTrace {
    /// A source whose first frame starts at time zero.
    pub fn new(trace: Trace, packets: Packets) -> VideoTrace {
        let mut video = Video { frames: trace.frames, next: 0 };
        let player = Player::new(packets, trace.frame_time, Time::ZERO, || video.draw());
        VideoTrace { video, player }
    }
}

impl Source for VideoTrace {
    fn next(&self) -> Time {
        self.player.next()
    }

    fn emit(&mut self) -> Bytes {
        self.player.emit(|| self.video.draw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::video::{HEADERS, Spacing};

    const VIDEO: &str = "frame,type,dts_ms,bytes\n0,I,0,2500\n1,B,40,0\n2,B,80,10\n3,P,120,1300\n";
    const VIDEO_RATE: Rate = Rate::from_bps(3_810 * 8 * 1_000 / 160);

    #[test]
    fn a_video_that_is_played_has_the_frames_of_its_file() {
        let trace = Trace::parse(VIDEO, None).expect("a video");
        assert_eq!((trace.frame_time(), trace.mean_rate()), (Span::from_millis(40), VIDEO_RATE));
        let kinds: Vec<Option<Kind>> = trace.frames().iter().map(|frame| frame.kind).collect();
        assert_eq!(kinds, [Kind::I, Kind::B, Kind::B, Kind::P].map(Some));
        for spacing in [Spacing::Even, Spacing::Burst] {
            let mut source = VideoTrace::new(trace.clone(), Packets { payload: Bytes(1000), spacing });
            // Three rounds of four frames of 40 ms.
            let mut frames = [0; 12];
            while let Some(frame) = frames.get_mut((source.next().as_nanos() / 40_000_000) as usize) {
                *frame += source.emit().0 - HEADERS.0;
            }
            assert_eq!(frames, [2500, 0, 10, 1300, 2500, 0, 10, 1300, 2500, 0, 10, 1300]);
        }
    }

    #[test]
    fn temporal_layers_have_sizes_and_no_clock() {
        let trace = Trace::parse("2\n0 8910 11.045\n1 12942 13.934\n", Some(Span::from_millis(50))).expect("layers");
        let frame = |bytes| Frame { kind: None, size: Bytes(bytes) };
        assert_eq!(trace.frames(), [frame(8_910), frame(12_942)]);
        assert_eq!(trace.mean_rate(), Rate::from_bps(21_852 * 8 * 10));
        assert_eq!(Trace::parse("2\n0 8910 11.045\n", None), Err(NO_RATE.into()));
    }

    #[test]
    fn a_given_rate_goes_before_the_files_own() {
        let trace = Trace::parse(VIDEO, Some(Span::from_millis(20))).expect("a video");
        assert_eq!(trace.mean_rate().as_bps(), 2 * VIDEO_RATE.as_bps());
    }

    #[test]
    fn a_bad_trace_is_refused_by_its_line_and_says_what_was_expected() {
        let header = "line 1: '', expected names of columns, 'bytes' among them, or the number of frames in a group";
        for (text, why) in [
            ("", header),
            ("bytes\n", "has no frame with bytes"),
            ("dts_ms,bytes\n0,0\n40,0\n", "has no frame with bytes"),
            ("bytes\n5\nx\n", "line 3: 'x', expected a whole number of bytes up to 67108864"),
            ("bytes\n-5\n", "line 2: '-5', expected a whole number of bytes up to 67108864"),
            ("bytes\n67108865\n", "line 2: '67108865', expected a whole number of bytes up to 67108864"),
            ("type,bytes\nI,5\nD,6\n", "line 3: 'D', expected a type of frame: I, P or B"),
            ("type,bytes\nI\n", "line 2: 'I' has no field 2"),
            ("dts_ms,bytes\nnan,5\n", "line 2: 'nan', expected a number of milliseconds below a day"),
            ("dts_ms,bytes\n40,5\n0,5\n", "line 3: dts_ms is 0, expected 40 or later"),
            ("dts_ms,bytes\n0,5\n0.5,5\n", "has more than 1000 frames a second"),
            ("dts_ms,bytes\n0,5\n", NO_RATE),
            ("8\n0 12\n1\n", "line 3: '1' has no field 2"),
        ] {
            assert_eq!(Trace::parse(text, None).expect_err(text), why);
        }
    }
}
