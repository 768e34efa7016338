//! The receiver as its sender knows it: address, secret, and whether it is alive.

mod handshake;
mod round_trip;
#[cfg(test)]
mod tests;

use core::net::SocketAddr;

use self::round_trip::RoundTrip;
use super::keepalive::Keepalive;
use crate::rng::Rng;
use crate::session::live::Latency;
use crate::session::live::address::{self, Address};
use crate::session::live::knock;
use crate::session::live::secret::{End, Halves, Secret};
use crate::session::path::tokens::Tokens;
use crate::time::{Span, Time};
use crate::wire::hello::{Challenge, Wanted};
use crate::wire::rtcp::Goodbye;

/// Least time between a hello and one that answers a challenge. Ours: as `LEAST_GAP` of a receiver. Forged challenges
/// cause 50 hellos a second at most.
const LEAST_GAP: Span = Span::from_millis(20);
/// Interval of hellos of a running stream. Ours: five a second, 7 kb/s (docs/controls.md, the floor of the overhead);
/// fewer measure the round trip and notice a restarted receiver later.
const REMIND: Span = Span::from_millis(200);
/// Time without a message under the secret after which an answer without proof is believed that the receiver has
/// another sender's stream. Ours: a hundred reports at 10 ms are missing by then; a forged answer must not end a stream
/// that is alive.
const DOUBT: Span = Span::from_secs(1);
/// Time without a message under the secret after which another receiver that calls may take the stream. Ours: as the `QUIET`
/// of a receiver.
const QUIET: Span = Span::from_secs(2);

/// A change that an answer has caused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// A receiver has answered: the first one, or another one in its place.
    Connected,
    /// The receiver is at another address.
    Moved,
    /// The receiver has another sender's stream now.
    Refused,
}

/// The progress of a caller's handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The caller, at the end of this round trip if it is known, is sent this hello.
    Greet(Call, Option<Span>),
    /// The caller is the receiver now.
    Agreed(Change),
}

/// The classification of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ReportKind {
    /// Without effect: it lacks the secret.
    Unproved,
    /// Without effect: it has the secret, but comes from another address.
    Misdirected,
    /// A report of the receiver.
    FromPeer,
    /// A report of the receiver, after a silence.
    Returned,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// No receiver has answered since then.
    Calling {
        since: Time,
    },
    Connected,
    Silent,
}

/// A receiver with which a secret was agreed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Agreed {
    ssrc: u32,
    secret: Secret,
}

/// Fields of a hello that depend on its destination: the address, its token, the receiver's token, and our half of the
/// secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Call {
    pub(super) to: SocketAddr,
    pub(super) token: u64,
    pub(super) echo: u64,
    pub(super) half: u64,
}

/// The peer of a sender: the receiver.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Peer {
    tokens: Tokens,
    halves: Halves,
    /// True if receivers call: hellos leave only to one that is connected.
    listens: bool,
    address: Address,
    /// Another address from which the receiver that we call has answered, and whether a hello to it is due.
    alias: Option<(SocketAddr, bool)>,
    state: State,
    agreed: Option<Agreed>,
    /// True if the newest answer was that the receiver has another sender's stream.
    busy: bool,
    latency: Wanted,
    /// The receiver's token, to be echoed, and our half for the end that sent it; zero before there is one.
    echo: u64,
    half: u64,
    /// The token of a challenge that the next hello answers.
    challenge: Option<u64>,
    keepalive: Keepalive,
    /// The times at which the next hello is due, and at which the last one left.
    hello: Time,
    said: Time,
    round_trip: RoundTrip,
}

impl Peer {
    pub(super) fn new(to: SocketAddr, listens: bool, now: Time, rng: &Rng) -> Peer {
        Peer {
            tokens: Tokens::new(rng.key("tokens")),
            halves: Halves::new(rng),
            listens,
            address: Address::new(to),
            alias: None,
            state: State::Calling { since: now },
            agreed: None,
            busy: false,
            latency: Latency::Auto.into(),
            echo: 0,
            half: 0,
            challenge: None,
            keepalive: Keepalive::new(now),
            hello: now,
            said: now,
            round_trip: RoundTrip::new(),
        }
    }

    pub(super) fn to(&self) -> SocketAddr {
        self.address.at()
    }

    /// The latency that the receiver wants; left to the path until it has answered.
    pub(super) fn latency(&self) -> Wanted {
        self.latency
    }

    /// The windowed minimum of the round trip.
    pub(super) fn round_trip(&self) -> Option<Span> {
        self.round_trip.get()
    }

    /// The greater of the round trip's minima in the last two windows.
    pub(super) fn latest_round_trip(&self) -> Option<Span> {
        self.round_trip.latest()
    }

    /// True if a receiver is connected.
    pub(super) fn is_connected(&self) -> bool {
        self.state == State::Connected
    }

    /// Returns whether a receiver that calls may have the stream.
    pub(super) fn is_free(&self, now: Time) -> bool {
        !self.is_connected() || now.since(self.keepalive.heard()) >= QUIET
    }

    /// The first hello to a receiver that has called from `to` with `token`.
    pub(super) fn greeting(&self, to: SocketAddr, token: u64) -> Call {
        Call { to, token: self.tokens.of(to, &[]), echo: token, half: 0 }
    }

    /// The time since which no receiver has answered at all.
    pub(super) fn calling_since(&self) -> Option<Time> {
        match self.state {
            State::Calling { since } => Some(since),
            _ => None,
        }
    }

    /// The time at which a silent receiver is given up.
    pub(super) fn gone_at(&self, interval: Span) -> Option<Time> {
        self.is_connected().then(|| self.keepalive.gone_at(self.round_trip.report_wait(interval)))
    }

    /// Takes the receiver to be silent until it reports again, or another one answers.
    pub(super) fn give_up(&mut self) {
        self.state = State::Silent;
    }

    /// True if the receiver has another sender's stream.
    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Returns whether a datagram ends with a proof of the secret agreed with the receiver.
    pub(super) fn is_proved(&self, datagram: &[u8]) -> bool {
        self.agreed.is_some_and(|agreed| agreed.secret.proves(End::Receiver, datagram))
    }

    /// The secret that our own datagrams are proved with, once there is one.
    pub(super) fn secret(&self) -> Option<Secret> {
        self.agreed.map(|agreed| agreed.secret)
    }

    /// Takes note of `len` bytes from `from` with a report of receiver `ssrc`, under the secret if `is_proved`, and
    /// returns the report's classification.
    pub(super) fn on_report(
        &mut self,
        now: Time,
        from: SocketAddr,
        len: usize,
        ssrc: u32,
        is_proved: bool,
    ) -> ReportKind {
        if !is_proved || self.agreed.is_none_or(|agreed| agreed.ssrc != ssrc) {
            return ReportKind::Unproved;
        }
        if from != self.to() {
            self.address.consider(now, from, len, true);
            return ReportKind::Misdirected;
        }
        self.keepalive.on_report(now);
        self.address.confirm(now, self.round_trip.challenge_wait());
        match core::mem::replace(&mut self.state, State::Connected) {
            State::Silent => ReportKind::Returned,
            _ => ReportKind::FromPeer,
        }
    }

    /// True if a message of receiver `ssrc` is that of the connected one.
    pub(super) fn is_from_peer(&self, from: SocketAddr, ssrc: u32, is_proved: bool) -> bool {
        let is_peer = self.agreed.is_some_and(|agreed| agreed.ssrc == ssrc);
        is_proved && is_peer && self.is_connected() && from == self.to()
    }

    /// True if a goodbye is the receiver's own.
    pub(super) fn is_goodbye(&self, from: SocketAddr, goodbye: &Goodbye<'_>, is_proved: bool) -> bool {
        let agreed = self.agreed.filter(|agreed| goodbye.names(agreed.ssrc));
        agreed.is_some_and(|agreed| self.is_from_peer(from, agreed.ssrc, is_proved))
    }

    /// Forgets the secret of a receiver that has left: nothing under it counts any more.
    pub(super) fn forget(&mut self) {
        self.agreed = None;
    }

    /// Takes note that the network reports the destination of the hellos as unreachable.
    pub(super) fn on_unreachable(&mut self, now: Time) {
        self.keepalive.on_unreachable(now);
    }

    /// Takes note that media leaves.
    pub(super) fn on_media(&mut self, now: Time) {
        self.keepalive.on_media(now);
    }

    /// Returns whether a media datagram may leave now: without reports, which are due every `interval`, only one with
    /// each hello.
    pub(super) fn takes_media(&mut self, now: Time, interval: Span) -> bool {
        let wait = self.round_trip.report_wait(interval);
        !self.is_connected() || self.keepalive.takes_media(now, wait)
    }

    /// Returns whether no report has arrived for too long.
    pub(super) fn is_unreported(&self, now: Time, interval: Span) -> bool {
        self.is_connected() && self.keepalive.is_unreported(now, self.round_trip.report_wait(interval))
    }

    /// Takes a challenge, which is answered only if it comes from the receiver's address.
    pub(super) fn on_challenge(&mut self, now: Time, from: SocketAddr, challenge: Challenge) {
        if self.agreed.is_some() && from == self.to() {
            self.challenge = Some(challenge.token);
            self.schedule_hello(now.max(self.said + LEAST_GAP));
        }
    }

    /// The time at which the next hello or challenge is due.
    pub(super) fn next(&self) -> Time {
        let hello = if self.says_hello() { self.hello } else { Time::NEVER };
        self.address.next().map_or(hello, |challenge| challenge.min(hello))
    }

    /// Returns whether hellos leave: to a receiver that is connected, and to one that is called.
    fn says_hello(&self) -> bool {
        !self.listens || self.is_connected()
    }

    /// Makes the next hello due at `at`.
    pub(super) fn schedule_hello(&mut self, at: Time) {
        self.hello = self.hello.min(at);
    }

    /// The hello that is due by `now`, if any. Another address gets at most one for each hello to the first one.
    pub(super) fn poll_hello(&mut self, now: Time) -> Option<Call> {
        if now < self.hello || !self.says_hello() {
            return None;
        }
        if let Some((to, due @ true)) = &mut self.alias {
            (*due, self.said) = (false, now);
            return Some(Call { to: *to, token: self.tokens.of(*to, &[]), echo: self.echo, half: 0 });
        }
        self.hello = now
            + match self.state {
                State::Connected => REMIND,
                State::Calling { since } => knock::interval(now.since(since)),
                State::Silent => knock::KNOCK,
            };
        self.said = now;
        self.keepalive.on_hello();
        let to = self.to();
        let echo = self.challenge.take().unwrap_or(self.echo);
        Some(Call { to, token: self.tokens.of(to, &[]), echo, half: self.half })
    }

    /// The challenge that is due by `now`.
    pub(super) fn poll_challenge(&mut self, now: Time) -> Option<(SocketAddr, Challenge)> {
        let wait = self.round_trip.challenge_wait();
        self.address.poll_challenge(now, wait, &self.tokens)
    }
}
