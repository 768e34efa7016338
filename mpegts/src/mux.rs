//! A muxer: access units in, a transport stream of one program out.
//!
//! | PID | contents | repeated |
//! |---|---|---|
//! | 0 | program association table (§2.4.4.3) | every 100 ms, and before each picture at which a decoder can start |
//! | 0x1000 | program map table (§2.4.4.8) | with the former |
//! | 0x100 + n | stream n, each access unit a PES packet of its own | |
//!
//! The first stream of video carries the clock, or the first stream if there is none: with each of its access units, and
//! every 100 ms (§2.7.2). The clock is 100 ms behind the decoding time of the access units.

mod packets;
mod timeline;

use thalweg_core::time::Span;
use thalweg_core::wire::Error;
use thalweg_core::wire::payload::{h264, start_code};

use self::packets::{Adaptation, Packets, Pid};
use self::timeline::{Stamps, Timeline};
use crate::clock::LONGEST_STEP;
use crate::pes::{self, Header};
use crate::stamp::{Pcr, Ticks, Timestamp};
use crate::{aac, psi};

/// The longest time without a clock reference (§2.7.2), and between tables.
const INTERVAL: Ticks = Ticks::from_90k(9000);
/// The time from a unit's arrival, by the clock, to its decoding. A receiver that follows the clock delays media by it.
const LEAD: Ticks = Ticks::from_90k(9000);

const MAP: u16 = 0x1000;
const FIRST_PID: u16 = 0x100;
/// The number of the program and of the stream (`transport_stream_id`).
const NUMBER: u16 = 1;
/// The most streams of a program: as many as stream ids of video.
pub const MAX_STREAMS: usize = 16;

/// An access unit delimiter, which begins each access unit (§2.14.1). Any type of picture may follow.
const DELIMITER: [u8; 6] = [0, 0, 0, 1, h264::ACCESS_UNIT_DELIMITER, 0xf0];

/// The codec of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stream {
    /// H.264, as access units with start codes (Annex B).
    H264,
    /// Pictures of MPEG-1 or MPEG-2 video.
    MpegVideo,
    /// Raw frames of AAC.
    Aac(aac::Adts),
    /// Frames of MPEG audio.
    MpegAudio,
}

/// An access unit: a picture or a frame of audio.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unit<'a> {
    /// The coded picture or frame.
    pub data: &'a [u8],
    /// The media time of its presentation.
    pub pts: Span,
    /// The media time of its decoding. Later than that of the unit before in its stream.
    pub dts: Span,
    /// True if a decoder can start here.
    pub is_random_access: bool,
}

/// Muxes the access units of a program.
///
/// Call [`Muxer::poll`] until it returns none after every other call; less than a datagram then remains inside. The end
/// of each unit of the stream that carries the clock releases what waits.
#[derive(Clone, PartialEq, Debug)]
pub struct Muxer {
    streams: Vec<(Stream, Pid)>,
    /// The index of the stream that carries the clock.
    carrier: usize,
    tables: [(Vec<u8>, Pid); 2],
    timeline: Timeline,
    /// The latest decoding time.
    now: Ticks,
    /// The decoding time at the last clock reference.
    referenced: Option<Ticks>,
    /// The decoding time at the last tables.
    tabled: Option<Ticks>,
    packets: Packets,
    /// The PES packet that is written.
    pes: Vec<u8>,
}

impl Stream {
    fn is_video(self) -> bool {
        matches!(self, Stream::H264 | Stream::MpegVideo)
    }

    /// The stream type (Table 2-34).
    // Reading(ISO/IEC 13818-1 Table 2-34): MPEG-1 video is announced as type 2, which has its constrained parameters,
    // and MPEG-2 audio as type 3, since decoders recognize both by their own headers.
    fn stream_type(self) -> u8 {
        match self {
            Stream::H264 => 0x1b,
            Stream::MpegVideo => 0x02,
            Stream::Aac(_) => 0x0f,
            Stream::MpegAudio => 0x03,
        }
    }

    /// The bytes that a unit lacks before it in a transport stream.
    fn prefix(self, data: &[u8], buf: &mut Vec<u8>) -> Result<(), Error> {
        match self {
            Stream::H264 if !begins_with_delimiter(data) => buf.extend(DELIMITER),
            Stream::Aac(adts) => buf.extend(adts.header(data.len())?),
            Stream::H264 | Stream::MpegVideo | Stream::MpegAudio => {}
        }
        Ok(())
    }
}

fn begins_with_delimiter(data: &[u8]) -> bool {
    let header = start_code::find(data, 0).and_then(|code| data.get(code + 3));
    header.is_some_and(|header| header & 0x1f == h264::ACCESS_UNIT_DELIMITER)
}

impl Muxer {
    /// A muxer of `streams`, which [`Muxer::push`] names by their index.
    ///
    /// # Panics
    /// If there is no stream, or more than [`MAX_STREAMS`].
    pub fn new(streams: &[Stream]) -> Muxer {
        assert!((1..=MAX_STREAMS).contains(&streams.len()), "a program of 1 to {MAX_STREAMS} streams");
        let carrier = streams.iter().position(|stream| stream.is_video()).unwrap_or(0);
        let streams: Vec<_> = (FIRST_PID..).zip(streams).map(|(pid, stream)| (*stream, Pid::new(pid))).collect();
        Muxer {
            carrier,
            tables: [(association(), Pid::new(0)), (map(&streams, carrier), Pid::new(MAP))],
            timeline: Timeline::new(streams.len()),
            streams,
            now: Ticks::ZERO,
            referenced: None,
            tabled: None,
            packets: Packets::default(),
            pes: Vec::new(),
        }
    }

    /// Takes the next access unit of the stream with index `stream`. The units of all streams are in the order of their
    /// decoding times; one that is late by more than 100 ms may be decoded too late. A unit that is not decoded after the
    /// one before it in its stream, or that is presented before it is decoded, gets the earliest time that is allowed.
    ///
    /// # Errors
    /// The unit has no form in a transport stream, and is left out: [`Error::Length`] if a frame of audio is too long.
    ///
    /// # Panics
    /// If there is no such stream.
    pub fn push(&mut self, stream: usize, unit: &Unit<'_>) -> Result<(), Error> {
        self.packets.compact();
        let (kind, is_carrier) = (self.streams[stream].0, stream == self.carrier);
        let stamps = self.timeline.place(stream, unit);
        self.pack(stream, unit, stamps)?;

        self.pass_time_until(stamps.dts.max(self.now), is_carrier);
        if kind.is_video() && unit.is_random_access || self.tabled.is_none_or(|at| self.now >= at + INTERVAL) {
            self.write_tables();
        }
        let is_due = is_carrier && self.referenced.is_none_or(|at| self.now > at);
        let pcr = is_due.then(|| self.reference());
        let adaptation = Adaptation { is_random_access: unit.is_random_access, pcr };
        self.packets.write(&mut self.streams[stream].1, adaptation, &self.pes);
        if is_carrier {
            self.flush();
        }
        Ok(())
    }

    /// The media time of the next unit does not continue that of the last: the viewer has seeked. Time stamps go on
    /// where they were, so that neither clock nor counters jump: no packet has a discontinuity_indicator, and a player
    /// keeps its buffers. The time stamps of later units are behind all earlier ones, by at most the time for which
    /// pictures are reordered.
    pub fn discontinuity(&mut self) {
        self.timeline.discontinuity();
    }

    /// Releases packets that wait for others to fill their datagram.
    pub fn flush(&mut self) {
        self.packets.flush();
    }

    /// The next datagram: seven packets, or fewer where the stream was flushed.
    pub fn poll(&mut self) -> Option<&[u8]> {
        self.packets.poll()
    }

    /// Writes the PES packet of a unit to `pes`.
    fn pack(&mut self, stream: usize, unit: &Unit<'_>, Stamps { pts, dts }: Stamps) -> Result<(), Error> {
        let kind = self.streams[stream].0;
        let first_id = if kind.is_video() { pes::VIDEO } else { pes::AUDIO };
        let header = Header {
            stream_id: first_id + stream as u8,
            pts: Timestamp::at(pts),
            dts: (pts != dts).then(|| Timestamp::at(dts)),
        };
        let mut prefix = Vec::new();
        kind.prefix(unit.data, &mut prefix)?;
        self.pes.clear();
        header.emit(prefix.len() + unit.data.len(), &mut self.pes)?;
        self.pes.extend([&prefix, unit.data].into_iter().flatten());
        Ok(())
    }

    /// Advances the clock to `now`, with the references and tables that are due in between. The last one is left to a
    /// unit that carries the clock itself.
    fn pass_time_until(&mut self, now: Ticks, is_carrier: bool) {
        loop {
            let due = match self.referenced {
                // A gap of hours would take as many packets.
                Some(last) if now.saturating_sub(last) > LONGEST_STEP => now,
                Some(last) => last + INTERVAL,
                None => now,
            };
            if due > now || due == now && is_carrier {
                break;
            }
            self.now = due;
            self.write_tables();
            let pcr = self.reference();
            self.packets.write_pcr(&mut self.streams[self.carrier].1, pcr);
        }
        self.now = now;
    }

    fn write_tables(&mut self) {
        for (section, pid) in &mut self.tables {
            self.packets.write_section(pid, section);
        }
        self.tabled = Some(self.now);
    }

    fn reference(&mut self) -> Pcr {
        self.referenced = Some(self.now);
        Pcr::at(self.now.saturating_sub(LEAD))
    }
}

fn association() -> Vec<u8> {
    psi::section(0, NUMBER, &[NUMBER.to_be_bytes(), (0xe000 | MAP).to_be_bytes()].concat())
}

fn map(streams: &[(Stream, Pid)], carrier: usize) -> Vec<u8> {
    let pid = |pid: &Pid| (0xe000 | pid.pid).to_be_bytes();
    let no_descriptors = [0xf0, 0];
    let mut body = [pid(&streams[carrier].1), no_descriptors].concat();
    for (stream, of_stream) in streams {
        body.push(stream.stream_type());
        body.extend([pid(of_stream), no_descriptors].concat());
    }
    psi::section(2, NUMBER, &body)
}

#[cfg(test)]
mod tests;
