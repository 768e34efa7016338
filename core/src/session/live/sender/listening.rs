//! A sender that listens: replies to the receivers that call it.
//!
//! While no receiver has the stream, a request gets one hello, and an answer that proves the caller's address gets another
//! one with our half of the secret. The first caller that proves the secret is the receiver. The half is a keyed hash of the
//! caller's address and token, so that nothing is kept of a caller before that, and callers do not get in each other's way.

use core::net::SocketAddr;
use std::collections::VecDeque;

use super::Sender;
use super::path_latency::PathLatency;
use super::peer::{Call, Change, Step};
use crate::time::{Span, Time};
use crate::wire::Error;
use crate::wire::hello::{self, Answer, Busy, Hello, Refusal, Request};
use crate::wire::rtcp::{App, Full, Writer};

/// Most replies in the queue; requests beyond get none. Ours: as many as a receiver's; a caller repeats its request.
const MOST: usize = 16;

/// A reply to a caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reply {
    /// A hello that leaves only if the request of `room` bytes was not shorter, with the round trip if it is known.
    Hello {
        call: Call,
        round_trip: Option<Span>,
        room: usize,
    },
    Busy(Busy),
    Refusal(Refusal),
}

/// Replies to callers that wait to be sent.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Callers(VecDeque<(SocketAddr, Reply)>);

impl Callers {
    fn push(&mut self, to: SocketAddr, reply: Reply) {
        if self.0.len() < MOST {
            self.0.push_back((to, reply));
        }
    }
}

impl Sender {
    /// Takes the request of a caller; a sender that does not listen ignores it.
    pub(super) fn on_request(&mut self, now: Time, from: SocketAddr, data: &[u8]) -> Result<(), Error> {
        if !self.config.listens || !self.phase.is_open() {
            return Ok(());
        }
        if let Some((_, echo)) = Hello::parse_other(data) {
            self.callers.push(from, Reply::Refusal(Refusal { version: hello::VERSION, echo }));
            return Ok(());
        }
        let Request { token } = Request::parse(data)?;
        if self.peer.is_free(now) {
            // A datagram with many requests gets no more than each of them allows.
            let room = App::HEADER_LEN + data.len();
            let call = self.peer.greeting(from, token);
            self.callers.push(from, Reply::Hello { call, round_trip: None, room });
        } else if from != self.peer.to() {
            self.callers.push(from, Reply::Busy(Busy { echo: token }));
        }
        Ok(())
    }

    /// Returns whether an answer is that of a caller: no receiver has the stream, and it is not under a receiver's secret.
    pub(super) fn is_of_caller(&self, now: Time, datagram: &[u8]) -> bool {
        self.config.listens && self.phase.is_open() && self.peer.is_free(now) && !self.peer.is_proved(datagram)
    }

    /// Takes the answer of a caller.
    pub(super) fn on_caller(
        &mut self,
        now: Time,
        from: SocketAddr,
        answer: (u32, &Answer),
        datagram: &[u8],
    ) -> Option<Change> {
        match self.peer.on_caller(now, from, answer, datagram)? {
            Step::Agreed(change) => Some(change),
            Step::Greet(call, round_trip) => {
                self.callers.push(from, Reply::Hello { call, round_trip, room: usize::MAX });
                None
            }
        }
    }

    /// Writes the next reply to a caller; returns its destination and length.
    pub(super) fn poll_reply(&mut self, now: Time, buf: &mut [u8]) -> Option<(SocketAddr, usize)> {
        loop {
            let (to, reply) = self.callers.0.pop_front()?;
            let room = if let Reply::Hello { room, .. } = reply { room } else { usize::MAX };
            if let Ok(len) = self.emit_reply(now, reply, buf)
                && len <= room
            {
                return Some((to, len));
            }
        }
    }

    fn emit_reply(&self, now: Time, reply: Reply, buf: &mut [u8]) -> Result<usize, Full> {
        let bare = |subtype, data: &[u8], buf: &mut [u8]| {
            let mut writer = Writer::new(buf);
            writer.push(&App { subtype, ssrc: 0, name: hello::NAME, data })?;
            Ok(writer.len())
        };
        match reply {
            Reply::Hello { call, round_trip, .. } => {
                // The path to a caller is not that to the receiver before.
                let latency = PathLatency::new(self.config.latency).wanted(round_trip);
                let round_trip = round_trip.unwrap_or(Span::ZERO);
                self.emit_words(now, Some(Hello { latency, round_trip, ..self.hello(now, call) }), buf)
            }
            Reply::Busy(busy) => bare(Busy::SUBTYPE, &busy.emit(), buf),
            Reply::Refusal(refusal) => bare(Refusal::SUBTYPE, &refusal.emit(), buf),
        }
    }
}
