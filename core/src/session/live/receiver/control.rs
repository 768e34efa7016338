//! What a receiver says in RTCP, and what it hears.

use core::net::SocketAddr;

use super::stream::Stream;
use super::timeline::Stamp;
use super::{Event, Receiver};
use crate::session::Transmit;
use crate::session::live::{Media, REPORT_INTERVAL, cname};
use crate::time::Time;
use crate::wire::Error;
use crate::wire::feedback::{Arrival, Builder, Ecn, Offset};
use crate::wire::hello::{self, Answer, Hello};
use crate::wire::ntp::NtpShort;
use crate::wire::rtcp::{
    App, Compound, Extended, Full, Goodbye, Packet, PostRepairLoss, Report, ReportBlock, Source, Writer,
};

/// Answers that wait at most; hellos beyond get none.
const MOST_ANSWERS: usize = 16;
/// Arrivals are reported again for so many intervals: as many reports may be lost.
const REPEATS: u64 = 3;

impl Receiver {
    /// Takes a datagram of RTCP.
    pub(super) fn on_control(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), Error> {
        let mut report = None;
        for frame in Compound::parse(bytes)?.frames() {
            match Packet::parse(frame)? {
                Packet::Report(Report { ssrc, sender: Some(sender), .. }) => {
                    let sent = Stamp { ntp: sender.ntp, rtp: sender.rtp };
                    report = Some((ssrc, sent));
                    if let Some(stream) = self.stream_of(from, ssrc) {
                        if !stream.timeline.on_sender_report(now, sent) {
                            return Err(Error::Malformed);
                        }
                        stream.sender_report = (sender.ntp.middle(), now);
                    }
                }
                Packet::App(App { subtype: Hello::SUBTYPE, ssrc, name: hello::NAME, data }) => {
                    let (_, sent) = report.filter(|(of, _)| *of == ssrc).ok_or(Error::Malformed)?;
                    self.on_hello(now, from, ssrc, &Hello::parse(data)?, sent);
                }
                Packet::Goodbye(goodbye) => {
                    if let Some(stream) = self.stream.as_mut().filter(|s| s.from == from && goodbye.names(s.ssrc)) {
                        stream.on_goodbye(now);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn stream_of(&mut self, from: SocketAddr, ssrc: u32) -> Option<&mut Stream> {
        self.stream.as_mut().filter(|stream| stream.from == from && stream.ssrc == ssrc)
    }

    fn on_hello(&mut self, now: Time, from: SocketAddr, ssrc: u32, hello: &Hello, sent: Stamp) {
        let token = self.tokens.of(from);
        if hello.echo == token {
            self.on_proven(now, from, ssrc, hello, sent);
        }
        let busy = self.stream.as_ref().is_some_and(|stream| stream.ssrc != ssrc && !stream.is_quiet(now));
        if self.answers.len() < MOST_ANSWERS {
            let answer = Answer { busy, latency: self.config.latency, stamp: hello.stamp, token, echo: hello.token };
            self.answers.push_back((from, answer));
        }
    }

    /// A hello of somebody who can be reached at `from`.
    fn on_proven(&mut self, now: Time, from: SocketAddr, ssrc: u32, hello: &Hello, sent: Stamp) {
        match &mut self.stream {
            Some(stream) if stream.ssrc == ssrc => {
                stream.on_hello(now, *hello);
                if stream.from != from {
                    stream.from = from;
                    self.events.push_back(Event::Moved { from });
                }
            }
            Some(stream) if !stream.is_quiet(now) => {}
            _ => {
                self.stream = Some(Stream::new(now, from, ssrc, *hello, sent));
                let media = if hello.mp2t { Media::Mp2t } else { Media::Opaque };
                self.events.push_back(Event::Started { from, media, latency: self.latency() });
            }
        }
    }

    /// An answer, a report or a goodbye that is due.
    pub(super) fn poll_control(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if let Some(left) = self.goodbyes {
            self.goodbyes = Some(left.checked_sub(1)?);
            let to = self.stream.as_ref()?.from;
            let len = self.emit_goodbye(buf).ok()?;
            return Some(Transmit { to, len });
        }
        if let Some((to, answer)) = self.answers.pop_front() {
            let len = self.emit_answer(&answer, buf).ok()?;
            return Some(Transmit { to, len });
        }
        let stream = self.stream.as_mut()?;
        let to = stream.from;
        if stream.feedback_due().is_some_and(|due| due <= now) {
            stream.report_at = (stream.report_at + stream.interval()).max(now);
            let len = emit_feedback(stream, self.ssrc, now, buf).ok()?;
            return Some(Transmit { to, len });
        }
        if stream.full_report_at <= now {
            stream.full_report_at = now + REPORT_INTERVAL;
            let len = self.emit_report(now, buf).ok()?;
            return Some(Transmit { to, len });
        }
        None
    }

    fn emit_answer(&self, answer: &Answer, buf: &mut [u8]) -> Result<usize, Full> {
        let mut writer = Writer::new(buf);
        let ssrc = self.ssrc;
        writer.push(&Report { ssrc, sender: None, raw_blocks: &[] })?;
        writer.push(&Source { ssrc, cname: cname(ssrc).as_bytes() })?;
        writer.push(&App { subtype: Answer::SUBTYPE, ssrc, name: hello::NAME, data: &answer.emit() })?;
        Ok(writer.len())
    }

    fn emit_goodbye(&self, buf: &mut [u8]) -> Result<usize, Full> {
        let ssrc = self.ssrc;
        let mut writer = Writer::new(buf);
        writer.push(&Report { ssrc, sender: None, raw_blocks: &[] })?;
        writer.push(&Source { ssrc, cname: cname(ssrc).as_bytes() })?;
        writer.push(&Goodbye { sources: &[ssrc.to_be_bytes()], reason: b"" })?;
        Ok(writer.len())
    }

    /// A whole compound packet: how both streams arrive, our name, and what repair has left of the loss.
    fn emit_report(&mut self, now: Time, buf: &mut [u8]) -> Result<usize, Full> {
        let counts = (self.counts.residual, self.counts.recovered);
        let ssrc = self.ssrc;
        let Some(stream) = &mut self.stream else { return Err(Full) };
        let mut writer = Writer::new(buf);
        writer.push(&Report { ssrc, sender: None, raw_blocks: &report_blocks(stream, now) })?;
        writer.push(&Source { ssrc, cname: cname(ssrc).as_bytes() })?;
        if let Some(post_repair) = post_repair(stream, counts) {
            writer.push(&Extended { ssrc, raw_blocks: &post_repair.emit() })?;
        }
        Ok(writer.len())
    }
}

fn report_blocks(stream: &mut Stream, now: Time) -> Vec<[u8; ReportBlock::LEN]> {
    let (last_report, came) = stream.sender_report;
    let ssrcs = stream.ssrcs();
    let known = stream.arrivals.iter_mut().zip(ssrcs).filter_map(|(arrivals, ssrc)| Some((arrivals.as_mut()?, ssrc)));
    let blocks = known.map(|(arrivals, ssrc)| {
        let highest = arrivals.highest();
        ReportBlock {
            ssrc,
            fraction_lost: arrivals.rfc3550.fraction_lost(highest),
            cumulative_lost: arrivals.rfc3550.cumulative_lost(highest),
            highest: highest as u32,
            jitter: arrivals.rfc3550.jitter as u32,
            last_report,
            delay: NtpShort::from_span(now.since(came)),
        }
        .emit()
    });
    blocks.collect()
}

/// RFC 7509: the packets whose fate has been settled since the last report.
fn post_repair(stream: &mut Stream, (lost, repaired): (u64, u64)) -> Option<PostRepairLoss> {
    let end = stream.turn()?;
    let (lost_before, repaired_before, begin) = core::mem::replace(&mut stream.post_repair, (lost, repaired, end));
    let count = |now: u64, before: u64| u16::try_from(now - before).unwrap_or(u16::MAX);
    Some(PostRepairLoss {
        ssrc: stream.ssrc,
        begin: begin as u16,
        end: end as u16,
        lost: count(lost, lost_before),
        repaired: count(repaired, repaired_before),
    })
}

/// RFC 8888, of reduced size (RFC 5506): what has come of late of both streams.
fn emit_feedback(stream: &mut Stream, ssrc: u32, now: Time, buf: &mut [u8]) -> Result<usize, Full> {
    let window = (stream.interval() * REPEATS).max(stream.timeline.round_trip() / 4 + stream.interval());
    let ssrcs = stream.ssrcs();
    let mut writer = Writer::new(buf);
    let mut builder = Builder::new(&mut writer, ssrc)?;
    // Repair first: it has fewer packets, and leaves the rest of the datagram to the source.
    for (arrivals, ssrc) in stream.arrivals.iter_mut().zip(ssrcs).rev() {
        let Some(arrivals) = arrivals else { continue };
        let most = if ssrc == ssrcs[0] { builder.room() } else { builder.room() / 2 };
        let (begin, times) = arrivals.report(now, window, most);
        let held = |at: Time| Arrival { ecn: Ecn::NotEct, offset: Offset::between(at, now) };
        builder.stream(ssrc, begin as u16, times.map(|at| at.map(held)))?;
    }
    builder.finish(NtpShort::from(now));
    Ok(writer.len())
}
