//! A file or a pipe as a live source: takes bytes, returns datagrams and their due times.

use core::fmt;

use thalweg_core::time::Span;
use thalweg_core::units::Bytes;

use crate::align::{Framer, SYNC_RUN};
use crate::looper::Looper;
use crate::pace::{NoClock, Pacer};
use crate::packet::SYNC;
use crate::{DATAGRAM, PACKET, PACKETS_PER_DATAGRAM};

/// The number of bytes searched for a packet before the input is refused.
const SYNC_WINDOW: Bytes = Bytes(64 << 10);

/// The number of timed packets at which no more input is wanted: 200 ms at 30 Mb/s, 6 ms at 1 Gb/s.
const ENOUGH: usize = 4096;

/// The continuation after the end of the input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopMode {
    /// The stream ends.
    Once,
    /// The input repeats from its first byte, as one endless stream.
    Forever,
}

/// The reason that an input cannot be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Error {
    /// Not a single byte.
    Empty,
    /// No transport stream packets at the start.
    NotMpegTs {
        /// The number of bytes searched.
        searched: Bytes,
    },
    /// Packets with other bytes between them.
    OtherPackets {
        /// The distance from the start of one packet to the next.
        size: usize,
    },
    /// Packets without a clock for pacing.
    NoClock(NoClock),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Empty => f.write_str("empty"),
            Error::NotMpegTs { searched } => {
                write!(f, "not MPEG-TS: no packets (sync byte 0x47 every 188 bytes) in its first {} bytes", searched.0)
            }
            Error::OtherPackets { size } => {
                write!(f, "packets of {size} bytes, not of 188: remove the bytes between them first")
            }
            Error::NoClock(no_clock) => no_clock.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<NoClock> for Error {
    fn from(no_clock: NoClock) -> Error {
        Error::NoClock(no_clock)
    }
}

/// Divides a transport stream into datagrams with due times.
///
/// Push bytes while [`TsSource::wants`] is true, call [`TsSource::finish`] at their end, poll what is due. The source
/// holds at most one push, plus the packets from one clock reference to the next ([`crate::pace::WINDOW`]), plus some
/// 4000 packets.
#[derive(Clone, PartialEq, Debug)]
pub struct TsSource {
    framer: Framer,
    looper: Option<Looper>,
    pacer: Pacer,
    ended: bool,
    /// The time of timed packets at which no more input is wanted.
    ahead: Span,
    /// Packets found before this turn.
    packets_before: u64,
    datagram: Vec<u8>,
}

impl TsSource {
    /// A source without bytes so far.
    pub fn new(mode: LoopMode) -> TsSource {
        TsSource {
            framer: Framer::new(),
            looper: (mode == LoopMode::Forever).then(Looper::new),
            pacer: Pacer::new(),
            ended: false,
            ahead: Span::MAX,
            packets_before: 0,
            datagram: Vec::with_capacity(DATAGRAM),
        }
    }

    /// The same source, which wants no more input once it has timed packets of `ahead`, however few.
    pub fn reading_ahead(self, ahead: Span) -> TsSource {
        TsSource { ahead, ..self }
    }

    /// True if the next bytes should be pushed now; otherwise poll first. Never true after the end.
    pub fn wants(&self) -> bool {
        !self.ended && self.pacer.ready() < ENOUGH && self.pacer.span() < self.ahead
    }

    /// Takes the next bytes of the input, in chunks of any size.
    ///
    /// # Errors
    /// The input is not a transport stream, or has no clock. The source returns no more datagrams.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.framer.packets() == 0
            && let Some(size) = other_packets(bytes)
        {
            return Err(Error::OtherPackets { size });
        }
        self.framer.push(bytes);
        self.take_packets()?;
        let searched = self.framer.skipped();
        if self.framer.packets() == 0 && searched >= SYNC_WINDOW {
            return Err(Error::NotMpegTs { searched });
        }
        Ok(())
    }

    /// Ends the input. In a loop the next push starts again with its first byte.
    ///
    /// # Errors
    /// As for [`TsSource::push`], or the input was empty.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.framer.finish();
        self.take_packets()?;
        if self.framer.packets() == self.packets_before {
            let searched = self.framer.skipped() + self.framer.truncated();
            return Err(if searched == Bytes(0) { Error::Empty } else { Error::NotMpegTs { searched } });
        }
        self.packets_before = self.framer.packets();
        match &mut self.looper {
            Some(looper) => looper.end_turn()?,
            None => {
                self.ended = true;
                self.pacer.finish()?;
            }
        }
        Ok(())
    }

    /// The due time of the next datagram, relative to the first one; none if more bytes are needed, or nothing is left.
    pub fn due(&self) -> Option<Span> {
        self.pacer.due().filter(|_| self.ended || self.pacer.ready() >= PACKETS_PER_DATAGRAM)
    }

    /// The next datagram and its due time: seven packets, or fewer at the end.
    pub fn poll(&mut self) -> Option<(Span, &[u8])> {
        let due = self.due()?;
        self.datagram.clear();
        while self.datagram.len() < DATAGRAM {
            let Some((_, packet)) = self.pacer.poll() else { break };
            self.datagram.extend_from_slice(packet.as_bytes());
        }
        Some((due, &self.datagram))
    }

    /// The number of times that the input was looped.
    pub fn turns(&self) -> u64 {
        self.looper.as_ref().map_or(0, Looper::turns)
    }

    /// The number of bytes that belong to no packet.
    pub fn skipped(&self) -> Bytes {
        self.framer.skipped()
    }

    /// The number of bytes of truncated last packets, in all turns.
    pub fn truncated(&self) -> Bytes {
        self.framer.truncated()
    }

    fn take_packets(&mut self) -> Result<(), Error> {
        while let Some(mut packet) = self.framer.poll() {
            if let Some(looper) = &mut self.looper {
                looper.rewrite(&mut packet);
            }
            self.pacer.push(packet)?;
        }
        Ok(())
    }
}

/// Other sizes of packets, and the offsets of their sync bytes: after a time stamp (M2TS), or before the bytes of an
/// outer code (EN 300 429).
const OTHER_SIZES: [(usize, usize); 2] = [(192, 4), (204, 0)];

/// The size of the packets that `bytes` begin with, if it is one of the other sizes.
fn other_packets(bytes: &[u8]) -> Option<usize> {
    let is_run = |size, start| {
        let syncs = bytes.iter().skip(start).step_by(size).take(SYNC_RUN);
        syncs.clone().count() == SYNC_RUN && syncs.copied().all(|byte| byte == SYNC)
    };
    let other = OTHER_SIZES.iter().find(|(size, start)| is_run(*size, *start) && !is_run(PACKET, *start));
    other.map(|(size, _)| *size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::Pcr;
    use crate::synthetic::{PACKET_TIME, bytes, plain, stream};
    use proptest::prelude::*;

    fn drain(source: &mut TsSource) -> Vec<(Span, Vec<u8>)> {
        core::iter::from_fn(|| source.poll().map(|(due, bytes)| (due, bytes.to_vec()))).collect()
    }

    #[test]
    fn file_is_sent_completely_at_its_own_rate() {
        let file = bytes(&stream(Pcr::from_parts(0, 0), 5));
        let mut source = TsSource::new(LoopMode::Once);
        source.push(&[&file[..], &[0x47; 30]].concat()).unwrap();
        source.finish().unwrap();
        assert!(!source.wants());
        let sent = drain(&mut source);
        assert!(sent[..14].iter().all(|(_, bytes)| bytes.len() == DATAGRAM) && sent[14].1.len() == 2 * PACKET);
        assert!((0..).zip(&sent).all(|(i, (due, _))| *due == PACKET_TIME.mul_div(7 * i, 1).span()));
        assert_eq!(sent.into_iter().flat_map(|(_, bytes)| bytes).collect::<Vec<_>>(), file);
        assert_eq!((source.skipped(), source.truncated()), (Bytes(0), Bytes(30)));
    }

    #[test]
    fn loop_continues_where_the_file_ended() {
        let start = Pcr::from_parts(0, 0);
        let mut source = TsSource::new(LoopMode::Forever);
        for _ in 0..3 {
            source.push(&bytes(&stream(start, 5))).unwrap();
            source.finish().unwrap();
        }
        assert_eq!(source.turns(), 3);
        let sent = drain(&mut source);
        let left: Vec<u8> = sent.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        assert_eq!(left, bytes(&stream(start, 15))[..left.len()]);
        assert!((0..).zip(&sent).all(|(i, (due, _))| *due == PACKET_TIME.mul_div(7 * i, 1).span()));
    }

    #[test]
    fn unsendable_input_is_refused_with_a_reason() {
        let outcome = |input: &[u8], mode| {
            let mut source = TsSource::new(mode);
            let outcome = source.push(input).and_then(|()| source.finish());
            outcome.map_err(|error| error.to_string())
        };
        for mode in [LoopMode::Once, LoopMode::Forever] {
            let no_clock = |n| Err(format!("cannot be paced: fewer than two clock references (PCR) in {n} bytes"));
            let no_sync =
                |n| Err(format!("not MPEG-TS: no packets (sync byte 0x47 every 188 bytes) in its first {n} bytes"));
            assert_eq!(outcome(b"", mode), Err("empty".to_owned()));
            assert_eq!(outcome(b"Good day, said the text file.", mode), no_sync(29));
            assert_eq!(outcome(&[0; 100_000], mode), no_sync(100_000));
            assert_eq!(outcome(&bytes(&vec![plain(5, false, 0); 50]), mode), no_clock(9400));
            assert_eq!(outcome(&bytes(&stream(Pcr::from_parts(0, 0), 1)), mode), no_clock(3760));
            assert_eq!(outcome(&bytes(&stream(Pcr::from_parts(0, 0), 2)), mode), Ok(()));
        }
    }

    #[test]
    fn buffer_stays_small_if_the_driver_asks_before_pushing() {
        let file = bytes(&stream(Pcr::from_parts(0, 0), 50));
        let mut source = TsSource::new(LoopMode::Forever);
        for _ in 0..20 {
            for chunk in file.chunks(4096) {
                while !source.wants() {
                    source.poll().unwrap();
                }
                source.push(chunk).unwrap();
                assert!(source.pacer.ready() < ENOUGH + 4096 / PACKET + 40);
            }
            source.finish().unwrap();
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_taken_or_refused_without_panic(
            parts in prop::collection::vec((0..8u64, prop::collection::vec(any::<u8>(), 0..400)), 0..8), looped: bool,
        ) {
            let mut source = TsSource::new(if looped { LoopMode::Forever } else { LoopMode::Once });
            let mut last = Span::ZERO;
            for (frames, garbage) in parts {
                let _ = source.push(&bytes(&stream(Pcr::from_parts(frames << 30, 0), frames)));
                let _ = source.push(&garbage);
                if looped {
                    let _ = source.finish();
                }
                for (due, datagram) in drain(&mut source) {
                    prop_assert!(due >= last && !datagram.is_empty() && datagram.len() % PACKET == 0);
                    last = due;
                }
            }
        }
    }
}
