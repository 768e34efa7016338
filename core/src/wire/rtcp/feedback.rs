//! Congestion control feedback (RFC 8888 §3.1): the packets that arrived, and their arrival times.
//!
//! An RTCP packet of type 205 (RTPFB) and format 11; offsets are relative to its body.
//!
//! | offset | field |
//! |---|---|
//! | 0 | SSRC of the reporter |
//! | 4 | for each stream: SSRC |
//! | 8 | begin_seq (16 bits), num_reports (16 bits) |
//! | 12 | num_reports times R (1 bit), ECN (2 bits), arrival time offset ATO (13 bits); zeros up to a whole word |
//! | ... | report timestamp RTS: middle 32 bits of an NTP timestamp |

use super::frame::Frame;
use super::writer::{Full, Writer};
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::ntp::NtpShort;

/// RTCP packet type of transport-layer feedback (RFC 4585 §6.1).
pub const KIND: u8 = 205;
/// Feedback format of congestion control feedback (RFC 8888 §3.1).
pub const FORMAT: u8 = 11;
/// The most packets of one stream in a report: a quarter of the sequence numbers (RFC 8888 §3.1).
pub const MAX_REPORTS: usize = 16_384;

const OVER_RANGE: u16 = 0x1ffe;
const UNKNOWN: u16 = 0x1fff;

/// A received report; it borrows from the datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feedback<'a> {
    /// The SSRC of the reporter.
    pub sender_ssrc: u32,
    /// The time of the report, on the reporter's clock.
    pub timestamp: NtpShort,
    streams: &'a [u8],
}

/// The reports on one stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stream<'a> {
    /// The SSRC of the stream.
    pub ssrc: u32,
    /// The sequence number of the first report.
    pub begin: u16,
    metrics: &'a [[u8; 2]],
}

/// The arrival of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Its ECN field, or [`Ecn::NotEct`] if unknown.
    pub ecn: Ecn,
    /// Its time of arrival.
    pub offset: Offset,
}

/// The time from a packet's arrival to the report timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offset {
    /// In units of 1/1024 s, at most 0x1FFD.
    Before(u16),
    /// More than 8189/1024 s before.
    OverRange,
    /// Unknown, or after the report timestamp.
    Unknown,
}

/// ECN field of an IP header (RFC 3168 §5).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ecn {
    /// Not ECN-capable.
    #[default]
    NotEct,
    /// ECN-capable, codepoint 01.
    Ect1,
    /// ECN-capable, codepoint 10.
    Ect0,
    /// Congestion experienced.
    Ce,
}

impl<'a> Feedback<'a> {
    /// Parses an RTCP packet.
    ///
    /// # Errors
    /// It is of another type or format, a stream has more reports than the packet holds or the RFC allows, or bytes are
    /// left over.
    pub fn parse(frame: Frame<'a>) -> Result<Feedback<'a>, Error> {
        if (frame.kind, frame.count) != (KIND, FORMAT) {
            return Err(Error::Unknown);
        }
        let (ssrc, rest) = frame.body.split_first_chunk().ok_or(Error::Truncated)?;
        let (streams, timestamp) = rest.split_last_chunk().ok_or(Error::Truncated)?;
        let mut unread = streams;
        while !unread.is_empty() {
            unread = Stream::split(unread)?.1;
        }
        let timestamp = NtpShort(u32::from_be_bytes(*timestamp));
        Ok(Feedback { sender_ssrc: u32::from_be_bytes(*ssrc), timestamp, streams })
    }

    /// The streams of the report.
    pub fn streams(&self) -> impl Iterator<Item = Stream<'a>> {
        let mut rest = self.streams;
        core::iter::from_fn(move || {
            let (stream, after) = Stream::split(rest).ok()?;
            rest = after;
            Some(stream)
        })
    }
}

impl<'a> Stream<'a> {
    /// The sequence number of every packet, with its arrival if it arrived.
    pub fn reports(&self) -> impl ExactSizeIterator<Item = (u16, Option<Arrival>)> + use<'a> {
        let begin = self.begin;
        let number = move |(at, metric): (usize, &[u8; 2])| (begin.wrapping_add(at as u16), Arrival::parse(*metric));
        self.metrics.iter().enumerate().map(number)
    }

    fn split(bytes: &'a [u8]) -> Result<(Stream<'a>, &'a [u8]), Error> {
        let (&[s0, s1, s2, s3, b0, b1, n0, n1], rest) = bytes.split_first_chunk().ok_or(Error::Truncated)?;
        let count = usize::from(u16::from_be_bytes([n0, n1]));
        if count > MAX_REPORTS {
            return Err(Error::Malformed);
        }
        let (metrics, rest) = rest.split_at_checked(padded_len(count)).ok_or(Error::Length)?;
        let (ssrc, begin) = (u32::from_be_bytes([s0, s1, s2, s3]), u16::from_be_bytes([b0, b1]));
        Ok((Stream { ssrc, begin, metrics: &metrics.as_chunks().0[..count] }, rest))
    }
}

/// The length in bytes of an RTCP packet that reports on `packets` of one stream.
pub const fn packet_len(packets: usize) -> usize {
    Writer::HEADER_LEN + 4 + 8 + padded_len(packets) + 4
}

/// The length in bytes of `count` metrics with their padding.
const fn padded_len(count: usize) -> usize {
    (2 * count).next_multiple_of(4)
}

impl Arrival {
    fn parse(metric: [u8; 2]) -> Option<Arrival> {
        let metric = u16::from_be_bytes(metric);
        let ecn = match metric >> 13 & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        };
        let offset = match metric & 0x1fff {
            OVER_RANGE => Offset::OverRange,
            UNKNOWN => Offset::Unknown,
            ticks => Offset::Before(ticks),
        };
        (metric & 0x8000 != 0).then_some(Arrival { ecn, offset })
    }

    fn emit(self) -> u16 {
        let offset = match self.offset {
            Offset::Before(ticks) => ticks.min(OVER_RANGE),
            Offset::OverRange => OVER_RANGE,
            Offset::Unknown => UNKNOWN,
        };
        0x8000 | (self.ecn as u16) << 13 | offset
    }
}

impl Offset {
    /// The offset of a packet that arrived at `arrived` in a report made at `now`, to the nearest 1/1024 s.
    pub fn between(arrived: Time, now: Time) -> Offset {
        if arrived > now {
            return Offset::Unknown;
        }
        let ticks = (u128::from(now.since(arrived).as_nanos()) * 1024 + 500_000_000) / 1_000_000_000;
        match u16::try_from(ticks) {
            Ok(ticks) if ticks < OVER_RANGE => Offset::Before(ticks),
            _ => Offset::OverRange,
        }
    }

    /// The time before the report timestamp.
    pub fn to_span(self) -> Option<Span> {
        match self {
            Offset::Before(ticks) => Some(Span::from_secs(1).mul_div(ticks.into(), 1024)),
            Offset::OverRange | Offset::Unknown => None,
        }
    }
}

/// Writes a report stream by stream; if dropped before [`Builder::finish`], it writes nothing.
#[derive(Debug)]
pub struct Builder<'w, 'b> {
    writer: &'w mut Writer<'b>,
    len: usize,
}

impl<'w, 'b> Builder<'w, 'b> {
    /// A report by `sender_ssrc` after the current content of `writer`.
    ///
    /// # Errors
    /// An empty report does not fit.
    pub fn new(writer: &'w mut Writer<'b>, sender_ssrc: u32) -> Result<Builder<'w, 'b>, Full> {
        let free = writer.free();
        if free.len() < 8 {
            return Err(Full);
        }
        free[..4].copy_from_slice(&sender_ssrc.to_be_bytes());
        Ok(Builder { writer, len: 4 })
    }

    /// The number of packets that fit into a report on one more stream.
    pub fn room(&mut self) -> usize {
        let taken = self.len + 8 + 4;
        (self.writer.free().len().saturating_sub(taken) / 4 * 2).min(MAX_REPORTS)
    }

    /// Reports on the packets of `ssrc` from sequence number `begin` on.
    ///
    /// # Errors
    /// There are more than [`Builder::room`]; nothing is written.
    pub fn stream(
        &mut self,
        ssrc: u32,
        begin: u16,
        arrivals: impl ExactSizeIterator<Item = Option<Arrival>>,
    ) -> Result<(), Full> {
        let count = arrivals.len();
        let len = 8 + padded_len(count);
        if count > MAX_REPORTS || self.len + len + 4 > self.writer.free().len() {
            return Err(Full);
        }
        let block = &mut self.writer.free()[self.len..][..len];
        block[..4].copy_from_slice(&ssrc.to_be_bytes());
        block[4..6].copy_from_slice(&begin.to_be_bytes());
        block[6..8].copy_from_slice(&(count as u16).to_be_bytes());
        block[8..].fill(0);
        for (metric, arrival) in block[8..].as_chunks_mut().0.iter_mut().zip(arrivals) {
            *metric = arrival.map_or(0, Arrival::emit).to_be_bytes();
        }
        self.len += len;
        Ok(())
    }

    /// Ends the report, with the time `timestamp`.
    pub fn finish(self, timestamp: NtpShort) {
        let Builder { writer, len } = self;
        writer.free()[len..][..4].copy_from_slice(&timestamp.0.to_be_bytes());
        writer.commit(FORMAT, KIND, len + 4).expect("room was kept for it");
    }
}

#[cfg(test)]
mod tests;
