//! What a receiver says in RTCP, and what it hears.

use core::net::SocketAddr;

use super::greeting::{Greeting, Reply};
use super::stream::Stream;
use super::timeline::Stamp;
use super::{Event, Receiver};
use crate::session::Transmit;
use crate::session::live::{End, REPORT_INTERVAL, address, cname};
use crate::time::Time;
use crate::wire::Error;
use crate::wire::feedback::{Arrival, Builder, Ecn, Offset};
use crate::wire::hello::{self, Challenge, Hello};
use crate::wire::ntp::NtpShort;
use crate::wire::proof;
use crate::wire::rtcp::{
    App, Compound, Extended, Full, Goodbye, Packet, PostRepairLoss, Report, ReportBlock, Source, Writer,
};

/// Arrivals are reported again for so many intervals: as many reports may be lost.
const REPEATS: u64 = 3;

/// Contents of an RTCP datagram that matter here.
#[derive(Clone, Copy, Default)]
struct Words {
    report: Option<(u32, Stamp)>,
    /// The first hello: a datagram gets one reply, however many it holds.
    greeting: Option<Greeting>,
    /// A hello of another version, and its token.
    other_version: Option<(u8, u64)>,
    challenge: Option<Challenge>,
    says_goodbye: bool,
}

impl Words {
    fn parse(bytes: &[u8]) -> Result<Words, Error> {
        let mut words = Words::default();
        for frame in Compound::parse(bytes)?.frames() {
            match Packet::parse(frame)? {
                Packet::Report(Report { ssrc, sender: Some(sender), .. }) => {
                    words.report = Some((ssrc, Stamp { ntp: sender.ntp, rtp: sender.rtp }));
                }
                Packet::App(App { subtype: Hello::SUBTYPE, ssrc, name: hello::NAME, data }) => {
                    words.other_version = Hello::parse_other(data);
                    if words.greeting.is_none() && words.other_version.is_none() {
                        let (_, sent) = words.report.filter(|(of, _)| *of == ssrc).ok_or(Error::Malformed)?;
                        words.greeting = Some(Greeting { ssrc, hello: Hello::parse(data)?, sent });
                    }
                }
                Packet::App(App { subtype: Challenge::SUBTYPE, name: hello::NAME, data, .. }) => {
                    words.challenge = Some(Challenge::parse(data)?);
                }
                // Under the secret it is of the stream that this belongs to.
                Packet::Goodbye(_) => words.says_goodbye = true,
                _ => {}
            }
        }
        Ok(words)
    }
}

impl Receiver {
    /// Takes a datagram of RTCP.
    pub(super) fn on_control(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), Error> {
        let words = Words::parse(bytes)?;
        if let Some(challenge) = words.challenge {
            self.on_challenge(now, from, challenge);
        } else if self.stream.as_ref().is_some_and(|stream| stream.is_proved(bytes))
            || self.begin_proved(now, from, bytes)
        {
            self.on_proved(now, from, &words, bytes.len())?;
        } else if let Some(greeting) = words.greeting {
            self.on_greeting(now, from, greeting, bytes.len());
        } else if let Some(version) = words.other_version {
            self.on_other_version(from, version, bytes.len());
        } else if !(words.says_goodbye && self.departed.is_some_and(|secret| secret.proves(End::Sender, bytes))) {
            return Err(Error::Unknown);
        }
        Ok(())
    }

    /// Answers a challenge from the sender's address.
    fn on_challenge(&mut self, now: Time, from: SocketAddr, challenge: Challenge) {
        let Some(stream) = &mut self.stream else { return };
        if stream.answers_challenge(now, from) {
            let (hello, secret) = (Hello { token: challenge.token, ..stream.hello }, stream.secret);
            let answer = self.answer(&hello, self.tokens.of(from), Some(secret));
            self.reply(from, Reply::Proved(answer, secret));
        }
    }

    /// Takes words under the stream's secret.
    fn on_proved(&mut self, now: Time, from: SocketAddr, words: &Words, len: usize) -> Result<(), Error> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let greeting = words.greeting.filter(|greeting| stream.is_new(&greeting.hello));
        if let Some(greeting) = greeting
            && stream.address.on_echo(now, from, greeting.hello.echo, &self.tokens)
        {
            self.events.push_back(Event::Moved { from });
        }
        if from != stream.from() {
            self.counts.stray += 1;
            if greeting.is_some() {
                stream.address.consider(now, from, len, true);
            }
            return Ok(());
        }
        if words.says_goodbye {
            stream.on_goodbye(now);
        }
        let Some(Greeting { hello, sent, .. }) = greeting else { return Ok(()) };
        stream.confirm(now);
        stream.on_hello(now, hello);
        let is_likely = stream.timeline.on_sender_report(now, sent);
        if is_likely {
            stream.sender_report = (sent.ntp.middle(), now);
        }
        let secret = stream.secret;
        self.reply(from, Reply::Proved(self.answer(&hello, self.tokens.of(from), Some(secret)), secret));
        if is_likely { Ok(()) } else { Err(Error::Malformed) }
    }

    /// A reply, a challenge, a report or a goodbye that is due.
    pub(super) fn poll_control(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if let Some(left) = self.goodbyes {
            self.goodbyes = Some(left.checked_sub(1)?);
            let to = self.stream.as_ref()?.from();
            let len = self.emit_goodbye(buf).ok()?;
            return self.proved(to, buf, len);
        }
        if let Some((to, reply)) = self.replies.pop_front() {
            let len = self.emit_reply(&reply, buf).ok()?;
            return Some(Transmit { to, len });
        }
        let stream = self.stream.as_mut()?;
        if let Some((to, challenge)) = stream.poll_challenge(now, &self.tokens) {
            let len = address::emit(challenge, buf).ok()?;
            return Some(Transmit { to, len });
        }
        let to = stream.from();
        if stream.feedback_due().is_some_and(|due| due <= now) {
            stream.report_at = (stream.report_at + stream.interval()).max(now);
            let room = buf.len().saturating_sub(proof::LEN);
            let len = emit_feedback(stream, self.ssrc, now, &mut buf[..room]).ok()?;
            return self.proved(to, buf, len);
        }
        if stream.full_report_at <= now {
            stream.full_report_at = now + REPORT_INTERVAL;
            let len = self.emit_report(now, buf).ok()?;
            return self.proved(to, buf, len);
        }
        None
    }

    /// A datagram of `len` bytes that leaves under the stream's secret.
    fn proved(&self, to: SocketAddr, buf: &mut [u8], len: usize) -> Option<Transmit> {
        let len = self.stream.as_ref()?.secret.prove(End::Receiver, self.ssrc, buf, len).ok()?;
        Some(Transmit { to, len })
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
