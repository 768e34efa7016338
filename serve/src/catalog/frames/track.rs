//! A track: its codec, its clock, and its frames.

use thalweg_core::time::Span;
use thalweg_core::units::{Bytes, Rate};

use super::Frame;

/// A track of a video.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Track {
    /// The codec, with the parameters that a session description needs.
    pub codec: Codec,
    /// Ticks a second of the times of frames.
    pub timescale: u32,
    /// The clock rate of RTP timestamps in hertz.
    pub clock: u32,
    /// The form of a frame in the file.
    pub framing: Framing,
    /// The frames in decoding order, whose decode times never decrease.
    pub frames: Vec<Frame>,
    /// The duration of the last frame in ticks.
    pub last: u32,
}

/// A codec.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Codec {
    /// H.264, with its sequence and picture parameter sets as NAL units, without start codes or lengths.
    H264 {
        /// Sequence parameter sets; at least one.
        sps: Vec<Vec<u8>>,
        /// Picture parameter sets; at least one.
        pps: Vec<Vec<u8>>,
    },
    /// MPEG-1 or MPEG-2 video, which contains its parameters.
    MpegVideo,
    /// AAC, with its AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1).
    Aac {
        /// The AudioSpecificConfig.
        config: Vec<u8>,
        /// The number of channels; zero if the config defines them by elements.
        channels: u8,
    },
    /// MPEG-1 or MPEG-2 audio of any layer, which contains its parameters.
    MpegAudio,
}

/// The form of a frame in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// One block of bytes.
    Plain,
    /// NAL units, each preceded by its length in this number of bytes, 1 to 4.
    Lengths(u8),
    /// NAL units, each preceded by a start code (ITU-T H.264 Annex B), in the payload of the transport stream packets of
    /// this PID.
    StartCodes(u16),
    /// One block of bytes in the payload of the transport stream packets of this PID.
    Stream(u16),
}

impl Codec {
    /// The usual name.
    pub fn name(&self) -> &'static str {
        match self {
            Codec::H264 { .. } => "H.264",
            Codec::MpegVideo => "MPEG-1/2 video",
            Codec::Aac { .. } => "AAC",
            Codec::MpegAudio => "MPEG audio",
        }
    }
}

impl Track {
    /// The time of `ticks`, which is zero if they are negative.
    pub fn time(&self, ticks: i64) -> Span {
        Span::from_nanos(u64::try_from(self.nanos(ticks.max(0))).unwrap_or(u64::MAX))
    }

    /// The time of `ticks` in nanoseconds, which is negative if they are.
    pub(crate) fn nanos(&self, ticks: i64) -> i128 {
        i128::from(ticks) * 1_000_000_000 / i128::from(self.timescale.max(1))
    }

    /// The ticks of a time, rounded down.
    pub fn ticks(&self, time: Span) -> i64 {
        let ticks = u128::from(time.as_nanos()) * u128::from(self.timescale) / 1_000_000_000;
        i64::try_from(ticks).unwrap_or(i64::MAX)
    }

    /// The end of the last frame displayed.
    pub fn length(&self) -> Span {
        let last = self.frames.iter().map(Frame::display).max().unwrap_or_default();
        self.time(last.saturating_add(self.last.into()))
    }

    /// The mean rate of the frames.
    pub fn rate(&self) -> Rate {
        Rate::of(Bytes(self.frames.iter().map(|frame| u64::from(frame.size)).sum()), self.length())
    }

    /// The place among the frames of the last random access point displayed at or before `time`, or of the first one of
    /// all.
    pub fn random_access(&self, time: Span) -> usize {
        let ticks = self.ticks(time);
        let points = self.frames.iter().enumerate().filter(|(_, frame)| frame.is_random_access());
        let mut found = None;
        for (place, frame) in points {
            if found.is_some() && frame.display() > ticks {
                break;
            }
            found = Some(place);
        }
        found.unwrap_or_default()
    }

    /// The place of the first frame whose decode time is `time` or later.
    pub fn from(&self, time: Span) -> usize {
        let ticks = self.ticks(time);
        self.frames.partition_point(|frame| frame.decode < ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::frames::Index;
    use crate::mp4::synthetic::{Tables, sample};

    #[test]
    fn places_follow_from_times() {
        // Five frames of 40 ms and 11 bytes, of which the first and the fourth are IDR pictures.
        let mut tables = Tables::new();
        (tables.samples[3], tables.stss) = (sample(0x65, 7), vec![0, 2, 1, 4]);
        let index = Index::read(&mut std::io::Cursor::new(tables.video())).expect("a video");
        let (track, millis) = (&index.video, Span::from_millis);
        assert_eq!([0, 119, 120, 1000].map(|time| track.random_access(millis(time))), [0, 0, 3, 3]);
        assert_eq!([0, 1, 160, 161].map(|time| track.from(millis(time))), [0, 1, 4, 5]);
        assert_eq!((track.length(), track.rate()), (millis(200), Rate::from_bps(55 * 8 * 5)));
        assert_eq!((track.time(-7), track.time(160), track.ticks(millis(160))), (Span::ZERO, millis(160), 160));
    }
}
