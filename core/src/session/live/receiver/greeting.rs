//! Hellos and their answers: who may have the receiver.
//!
//! An end whose address is proved, by a hello that echoes its token, is a candidate and is told what it needs to send.
//! One that shows the secret while there is no stream begins one, which keeps nobody out until media comes: the first
//! media of a candidate makes its stream the receiver's. Whoever has proved nothing hears a token, and the same bytes
//! whatever it says.

use core::net::SocketAddr;

use super::stream::Stream;
use super::timeline::Stamp;
use super::{Event, Receiver};
use crate::session::live::secret::Secret;
use crate::session::live::{End, Media, cname};
use crate::time::{Span, Time};
use crate::wire::hello::{self, Answer, Hello, Refusal};
use crate::wire::rtcp::{App, Full, Report, Source, Writer};

/// Replies that wait at most; hellos beyond get none.
const MOST_REPLIES: usize = 16;
/// Candidates at most; the one whose hello is the oldest makes room.
const MOST_CANDIDATES: usize = 16;
/// A hello is good for so long.
const LIFE: Span = Span::from_secs(2);
/// Bytes of a reply to an address that has proved nothing: a lone APP packet.
const BARE: usize = App::HEADER_LEN + Answer::LEN;

/// A hello, with the sender report before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Greeting {
    pub(super) ssrc: u32,
    pub(super) hello: Hello,
    pub(super) sent: Stamp,
}

/// An end with a proved address, whose media would make it the sender.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Candidate {
    pub(super) from: SocketAddr,
    pub(super) greeting: Greeting,
    pub(super) secret: Secret,
    /// When its hello came.
    pub(super) came: Time,
}

/// A reply that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reply {
    /// To an address that has proved nothing, or may have nothing.
    Bare(Answer),
    /// Under a secret.
    Proved(Answer, Secret),
    Refusal(Refusal),
}

impl Receiver {
    /// Takes a hello without the proof of the stream's secret.
    pub(super) fn on_greeting(&mut self, now: Time, from: SocketAddr, greeting: Greeting, len: usize) {
        let hello = &greeting.hello;
        let token = self.tokens.of(from);
        let is_taken = self.stream.as_ref().is_some_and(|stream| !stream.is_free(now, self.config.hold));
        if hello.echo == token && hello.half != 0 {
            let told = [greeting.ssrc.into(), hello.token, hello.half];
            let secret = Secret { sender: hello.half, receiver: self.halves.of(from, &told) };
            // Its first words may come behind its media.
            let has_it = self.stream.as_ref().is_some_and(|stream| stream.is_of(from, secret));
            if !is_taken || has_it {
                self.reply(from, Reply::Proved(self.answer(hello, token, Some(secret)), secret));
                if !has_it {
                    self.stand(Candidate { from, greeting, secret, came: now });
                }
                return;
            }
        }
        if len >= BARE {
            let busy = is_taken;
            self.reply(from, Reply::Bare(Answer { busy, ..self.answer(hello, token, None) }));
        }
    }

    /// An answer to `hello`; without a secret it says nothing but tokens.
    pub(super) fn answer(&self, hello: &Hello, token: u64, secret: Option<Secret>) -> Answer {
        let stream = self.stream.as_ref();
        Answer {
            busy: false,
            seated: secret.is_some_and(|secret| stream.is_some_and(|stream| stream.secret == secret)),
            latency: secret.map_or(Span::ZERO, |_| self.config.latency),
            stamp: hello.stamp,
            token,
            echo: hello.token,
            half: secret.map_or(0, |secret| secret.receiver),
        }
    }

    pub(super) fn reply(&mut self, to: SocketAddr, reply: Reply) {
        if self.replies.len() < MOST_REPLIES {
            self.replies.push_back((to, reply));
        }
    }

    /// Takes a hello of another version.
    pub(super) fn on_other_version(&mut self, from: SocketAddr, (version, echo): (u8, u64), len: usize) {
        if !core::mem::replace(&mut self.told_version, true) {
            self.events.push_back(Event::OtherVersion { from, version });
        }
        if len >= App::HEADER_LEN + Refusal::LEN {
            self.reply(from, Reply::Refusal(Refusal { version: hello::VERSION, echo }));
        }
    }

    fn stand(&mut self, candidate: Candidate) {
        let is_same =
            |other: &Candidate| other.from == candidate.from && other.greeting.ssrc == candidate.greeting.ssrc;
        self.candidates.retain(|other| !is_same(other));
        if self.candidates.len() == MOST_CANDIDATES {
            // They stand in the order of their hellos.
            self.candidates.remove(0);
        }
        self.candidates.push(candidate);
    }

    /// Begins the stream of the candidate whose media with `ssrc` comes from `from`, if there is one and it may.
    pub(super) fn begin(&mut self, now: Time, from: SocketAddr, ssrc: u32) {
        self.candidates.retain(|candidate| now.since(candidate.came) < LIFE);
        if self.stream.as_ref().is_some_and(|stream| !stream.is_free(now, self.config.hold)) {
            return;
        }
        let is_it = |candidate: &Candidate| candidate.from == from && candidate.greeting.carries(ssrc);
        if let Some(nth) = self.candidates.iter().position(is_it) {
            self.seat(now, nth);
        }
    }

    /// Begins the stream of a candidate that shows its secret where there is no other stream. True if there was such a
    /// one.
    pub(super) fn begin_proved(&mut self, now: Time, from: SocketAddr, datagram: &[u8]) -> bool {
        let is_it = |other: &Candidate| other.from == from && other.secret.proves(End::Sender, datagram);
        let nth = self.candidates.iter().position(is_it).filter(|_| self.stream.is_none());
        if let Some(nth) = nth {
            self.seat(now, nth);
        }
        nth.is_some()
    }

    fn seat(&mut self, now: Time, nth: usize) {
        let candidate = self.candidates.remove(nth);
        let (from, hello) = (candidate.from, candidate.greeting.hello);
        let media = if hello.mp2t { Media::Mp2t } else { Media::Opaque };
        self.stream = Some(Stream::new(now, candidate));
        self.events.push_back(Event::Started { from, media, latency: self.latency() });
    }

    pub(super) fn emit_reply(&self, reply: &Reply, buf: &mut [u8]) -> Result<usize, Full> {
        let name = hello::NAME;
        let mut writer = Writer::new(buf);
        match reply {
            Reply::Bare(answer) => {
                writer.push(&App { subtype: Answer::SUBTYPE, ssrc: 0, name, data: &answer.emit() })?;
            }
            Reply::Refusal(refusal) => {
                writer.push(&App { subtype: Refusal::SUBTYPE, ssrc: 0, name, data: &refusal.emit() })?;
            }
            Reply::Proved(answer, secret) => {
                let ssrc = self.ssrc;
                writer.push(&Report { ssrc, sender: None, raw_blocks: &[] })?;
                writer.push(&Source { ssrc, cname: cname(ssrc).as_bytes() })?;
                writer.push(&App { subtype: Answer::SUBTYPE, ssrc, name, data: &answer.emit() })?;
                let len = writer.len();
                return secret.prove(End::Receiver, ssrc, buf, len);
            }
        }
        Ok(writer.len())
    }
}

impl Greeting {
    /// Returns whether packets with `ssrc` are of its stream.
    fn carries(&self, ssrc: u32) -> bool {
        [self.ssrc, self.hello.repair_ssrc].contains(&ssrc)
    }
}
