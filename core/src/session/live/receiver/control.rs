//! RTCP that a receiver sends and receives, and the handshake.
//!
//! An end whose address is validated, by a hello that echoes its token, is a candidate and is sent what it needs to
//! begin. A candidate that proves the secret while there is no stream begins one, which keeps no other sender out until
//! media arrives: the first media of a candidate makes its stream the receiver's. An end that has proved nothing gets a
//! reply of fixed length with a token, which reveals nothing of the receiver but whether it is busy.

use core::net::SocketAddr;

use super::calling::Declined;
use super::candidates::{Candidate, SenderHello};
use super::replies::Reply;
use super::reports::{emit_feedback, report_blocks};
use super::stream::Stream;
use super::timeline::Stamp;
use super::{Event, Receiver};
use crate::session::Transmit;
use crate::session::live::secret::Secret;
use crate::session::live::{End, Latency, Media, address};
use crate::session::rtp::cname;
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::hello::{self, Answer, Busy, Challenge, Delivery, Hello, Refusal};
use crate::wire::proof;
use crate::wire::rtcp::{App, Compound, Extended, Full, Goodbye, Nack, Packet, PostRepairLoss, Report, Source, Writer};

/// Bytes of a reply to an address that has proved nothing: a single APP packet.
const BARE: usize = App::HEADER_LEN + Answer::LEN;

/// The relevant contents of an RTCP datagram.
#[derive(Clone, Copy, Default)]
struct Contents {
    report: Option<(u32, Stamp)>,
    /// The first hello: a datagram gets one reply, however many hellos it holds.
    offer: Option<SenderHello>,
    /// A hello of another version, and its token.
    other_version: Option<(u8, u64)>,
    challenge: Option<Challenge>,
    declined: Option<Declined>,
    says_goodbye: bool,
}

impl Contents {
    fn parse(bytes: &[u8]) -> Result<Contents, Error> {
        let mut contents = Contents::default();
        for frame in Compound::parse(bytes)?.frames() {
            match Packet::parse(frame)? {
                Packet::Report(Report { ssrc, sender: Some(sender), .. }) => {
                    contents.report = Some((ssrc, Stamp { ntp: sender.ntp, rtp: sender.rtp }));
                }
                Packet::App(App { subtype: Hello::SUBTYPE, ssrc, name: hello::NAME, data }) => {
                    contents.other_version = Hello::parse_other(data);
                    if contents.offer.is_none() && contents.other_version.is_none() {
                        let (_, sent) = contents.report.filter(|(of, _)| *of == ssrc).ok_or(Error::Malformed)?;
                        contents.offer = Some(SenderHello { ssrc, hello: Hello::parse(data)?, sent });
                    }
                }
                Packet::App(App { subtype: Challenge::SUBTYPE, name: hello::NAME, data, .. }) => {
                    contents.challenge = Some(Challenge::parse(data)?);
                }
                Packet::App(App { subtype: Busy::SUBTYPE, name: hello::NAME, data, .. }) => {
                    contents.declined = Some(Declined::Busy(Busy::parse(data)?));
                }
                Packet::App(App { subtype: Refusal::SUBTYPE, name: hello::NAME, data, .. }) => {
                    contents.declined = Some(Declined::Version(Refusal::parse(data)?));
                }
                // A goodbye under the secret belongs to the secret's stream, whatever SSRC it names.
                Packet::Goodbye(_) => contents.says_goodbye = true,
                _ => {}
            }
        }
        Ok(contents)
    }
}

impl Receiver {
    /// Takes a datagram of RTCP.
    pub(super) fn on_control(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), Error> {
        let contents = Contents::parse(bytes)?;
        if let Some(challenge) = contents.challenge {
            self.on_challenge(now, from, challenge);
        } else if self.stream.as_ref().is_some_and(|stream| stream.is_proved(bytes))
            || self.begin_proved(now, from, &contents, bytes)
        {
            self.on_proved(now, from, &contents, bytes.len())?;
        } else if let Some(offer) = contents.offer.filter(|offer| self.expects(from, &offer.hello)) {
            self.on_sender_hello(now, from, offer, bytes.len());
        } else if let Some(version) = contents.other_version.filter(|_| self.is_called(from)) {
            self.on_other_version(from, version, bytes.len());
        } else if let Some(declined) = contents.declined {
            return self.on_declined(from, declined).then_some(()).ok_or(Error::Unknown);
        } else if !(contents.says_goodbye && self.departed.is_some_and(|secret| secret.proves(End::Sender, bytes))) {
            return Err(Error::Unknown);
        }
        Ok(())
    }

    /// Takes a hello without a proof of the stream's secret.
    fn on_sender_hello(&mut self, now: Time, from: SocketAddr, offer: SenderHello, len: usize) {
        let hello = &offer.hello;
        let token = self.tokens.of(from, &[]);
        let is_taken = self.stream.as_ref().is_some_and(|stream| !stream.is_free(now, self.config.hold));
        if hello.echo == token && hello.half != 0 {
            let reported = [offer.ssrc.into(), hello.token, hello.half];
            let secret = Secret { sender: hello.half, receiver: self.halves.of(from, &reported) };
            // A hello that was sent before the secret was agreed may arrive after the media that began the stream.
            let has_it = self.stream.as_ref().is_some_and(|stream| stream.is_of(from, secret));
            if !is_taken || has_it {
                self.replies.push(from, Reply::Proved(self.answer(hello, token, Some(secret)), secret));
                if !has_it {
                    self.candidates.add(Candidate { from, offer, secret, received_at: now });
                }
                return;
            }
        }
        if len >= BARE {
            let busy = is_taken;
            self.replies.push(from, Reply::Bare(Answer { busy, ..self.answer(hello, token, None) }));
        }
    }

    /// An answer to `hello`; without a secret it reveals nothing but tokens.
    fn answer(&self, hello: &Hello, token: u64, secret: Option<Secret>) -> Answer {
        let stream = self.stream.as_ref();
        Answer {
            busy: false,
            seated: secret.is_some_and(|secret| stream.is_some_and(|stream| stream.secret == secret)),
            latency: secret.map_or(Latency::Fixed(Span::ZERO), |_| self.config.latency).into(),
            stamp: hello.stamp,
            token,
            echo: hello.token,
            half: secret.map_or(0, |secret| secret.receiver),
        }
    }

    /// Takes a hello of another version.
    fn on_other_version(&mut self, from: SocketAddr, (version, echo): (u8, u64), len: usize) {
        if !core::mem::replace(&mut self.is_version_reported, true) {
            self.events.push_back(Event::OtherVersion { from, version });
        }
        if len >= App::HEADER_LEN + Refusal::LEN {
            self.replies.push(from, Reply::Refusal(Refusal { version: hello::VERSION, echo }));
        }
    }

    /// Begins the stream of the candidate that sends media with `ssrc` from `from`, if there is one and the receiver is
    /// free.
    pub(super) fn begin(&mut self, now: Time, from: SocketAddr, ssrc: u32) {
        self.candidates.expire(now);
        if self.stream.as_ref().is_none_or(|stream| stream.is_free(now, self.config.hold))
            && let Some(candidate) = self.candidates.take_sending(from, ssrc)
        {
            self.start_stream(now, candidate);
        }
    }

    /// Begins the stream of a candidate that proves its secret while there is no stream. True if there was such a
    /// candidate.
    fn begin_proved(&mut self, now: Time, from: SocketAddr, contents: &Contents, datagram: &[u8]) -> bool {
        if self.stream.is_some() {
            return false;
        }
        let Some(mut candidate) = self.candidates.take_proved(from, datagram) else { return false };
        if let Some(SenderHello { hello: Hello { latency, round_trip, .. }, .. }) = contents.offer {
            // The sender has measured the round trip once more since the candidate's hello.
            candidate.offer.hello = Hello { latency, round_trip, ..candidate.offer.hello };
        }
        self.start_stream(now, candidate);
        true
    }

    fn start_stream(&mut self, now: Time, candidate: Candidate) {
        let (from, hello) = (candidate.from, candidate.offer.hello);
        let media = if hello.mp2t { Media::Mp2t } else { Media::Opaque };
        self.stream = Some(Stream::new(now, candidate));
        self.latencies.clear();
        let is_auto = hello.latency.is_auto_with(self.config.latency.into());
        let round_trip = Some(hello.round_trip).filter(|_| is_auto);
        self.events.push_back(Event::Started { from, media, latency: self.latency(), round_trip });
    }

    /// Answers a challenge from the sender's address.
    fn on_challenge(&mut self, now: Time, from: SocketAddr, challenge: Challenge) {
        let Some(stream) = &mut self.stream else { return };
        if stream.answers_challenge(now, from) {
            let (hello, secret) = (Hello { token: challenge.token, ..stream.hello }, stream.secret);
            let answer = self.answer(&hello, self.tokens.of(from, &[]), Some(secret));
            self.replies.push(from, Reply::Proved(answer, secret));
        }
    }

    /// Takes a message under the stream's secret.
    fn on_proved(&mut self, now: Time, from: SocketAddr, contents: &Contents, len: usize) -> Result<(), Error> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        let offer = contents.offer.filter(|offer| stream.is_new(&offer.hello));
        if let Some(offer) = offer
            && stream.address.on_echo(now, from, offer.hello.echo, &self.tokens)
        {
            self.events.push_back(Event::Moved { from });
        }
        if from != stream.from() {
            self.counts.stray += 1;
            if offer.is_some() {
                stream.address.consider(now, from, len, true);
            }
            return Ok(());
        }
        if contents.says_goodbye {
            stream.presence.on_goodbye(now);
        }
        let Some(SenderHello { hello, sent, .. }) = offer else { return Ok(()) };
        stream.confirm(now);
        let is_likely = stream.timeline.on_sender_report(now, sent);
        if is_likely {
            stream.reports.on_sender_report(now, sent.ntp);
        }
        if let Some((from, to)) = stream.on_hello(now, hello, self.config.latency.into()) {
            self.events.push_back(Event::LatencyRaised { from, to, round_trip: hello.round_trip });
            if is_likely {
                // The output stalls anyway, and the delay of the shorter path is no minimum of this one.
                stream.timeline.restart(now, sent);
                stream.timeline.set_round_trip(hello.round_trip);
            }
        }
        let secret = stream.secret;
        self.replies.push(from, Reply::Proved(self.answer(&hello, self.tokens.of(from, &[]), Some(secret)), secret));
        if is_likely { Ok(()) } else { Err(Error::Malformed) }
    }

    /// A reply, a request, a challenge, a report or a goodbye that is due.
    pub(super) fn poll_control(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        if let Some(left) = self.goodbyes {
            self.goodbyes = Some(left.checked_sub(1)?);
            let to = self.stream.as_ref()?.from();
            let len = self.emit_goodbye(buf).ok()?;
            return self.proved(to, buf, len);
        }
        if let Some(transmit) = self.replies.poll_transmit(buf) {
            return Some(transmit);
        }
        if let Some(transmit) = self.poll_call(now, buf) {
            return Some(transmit);
        }
        let stream = self.stream.as_mut()?;
        if let Some((to, challenge)) = stream.poll_challenge(now, &self.tokens) {
            let len = address::emit(challenge, buf).ok()?;
            return Some(Transmit { to, len });
        }
        let to = stream.from();
        if let Some((named, sequences)) = stream.nacks.poll(now) {
            let entries = Nack::entries_of(sequences);
            let nack = Nack { sender_ssrc: self.ssrc, media_ssrc: stream.ssrcs()[named], entries: &entries };
            let mut writer = Writer::new(buf);
            writer.push(&nack).ok()?;
            let len = writer.len();
            return self.proved(to, buf, len);
        }
        if stream.feedback_due().is_some_and(|due| due <= now) {
            stream.reports.on_feedback(now, stream.interval());
            let capacity = buf.len().saturating_sub(proof::LEN);
            let (ssrcs, times) = (stream.ssrcs(), (stream.interval(), stream.timeline.round_trip()));
            let streams = (&mut stream.arrivals, ssrcs);
            let len = emit_feedback(streams, self.ssrc, now, times, &mut buf[..capacity]).ok()?;
            return self.proved(to, buf, len);
        }
        if stream.reports.poll_full(now) {
            let len = self.emit_report(now, buf).ok()?;
            return self.proved(to, buf, len);
        }
        None
    }

    /// Adds the proof of the stream's secret to a datagram of `len` bytes.
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

    /// A full compound packet: reception reports on both streams, our CNAME, the loss that is left after repair, and the
    /// latency.
    fn emit_report(&mut self, now: Time, buf: &mut [u8]) -> Result<usize, Full> {
        let counts = (self.counts.residual, self.counts.recovered);
        let ssrc = self.ssrc;
        let Some(stream) = &mut self.stream else { return Err(Full) };
        let ssrcs = stream.ssrcs();
        let blocks = report_blocks(&stream.reports, (&mut stream.arrivals, ssrcs), now);
        let mut writer = Writer::new(buf);
        writer.push(&Report { ssrc, sender: None, raw_blocks: &blocks })?;
        writer.push(&Source { ssrc, cname: cname(ssrc).as_bytes() })?;
        if let Some(end) = stream.turn() {
            let blocks: Vec<_> =
                stream.reports.post_repair(stream.ssrc, end, counts).map(PostRepairLoss::emit).collect();
            writer.push(&Extended { ssrc, raw_blocks: blocks.as_flattened() })?;
        }
        if let (Some(p50), Some(p99)) = (self.latencies.quantile(0.5), self.latencies.quantile(0.99)) {
            let data = Delivery { p50, p99 }.emit();
            writer.push(&App { subtype: Delivery::SUBTYPE, ssrc, name: hello::NAME, data: &data })?;
        }
        Ok(writer.len())
    }
}
