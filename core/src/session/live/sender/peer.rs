//! The receiver as its sender knows it: address, secret, and whether it is still there.

mod handshake;
#[cfg(test)]
mod tests;

use core::net::SocketAddr;

use super::pulse::Pulse;
use crate::rng::Rng;
use crate::session::live::address::{self, Address};
use crate::session::live::least::Least;
use crate::session::live::secret::{End, Halves, Secret};
use crate::session::live::tokens::Tokens;
use crate::time::{Span, Time};
use crate::wire::hello::Challenge;
use crate::wire::rtcp::Goodbye;

/// Between hellos that nobody has answered yet.
const KNOCK: Span = Span::from_millis(100);
/// So long hellos are that frequent; a receiver that is waited for longer gets fewer.
const EAGER: Span = Span::from_secs(10);
/// Between those.
const WAIT: Span = Span::from_secs(1);
/// Least time between a hello and one that answers a challenge.
const LEAST_GAP: Span = Span::from_millis(20);
/// Between hellos of a running stream.
const REMIND: Span = Span::from_millis(200);
/// Round trips above are broken stamps.
const LONGEST: Span = Span::from_secs(10);
/// Least time for a report to come, however short the round trip.
const LEAST_WAIT: Span = Span::from_millis(500);
/// A word without proof that the receiver has another stream counts after so long without a word under the secret.
const DOUBT: Span = Span::from_secs(1);

/// What an answer has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// A receiver is there: the first one, or another one in its place.
    Connected,
    /// The receiver is at another address.
    Moved,
    /// The receiver has another sender's stream now.
    Refused,
}

/// Weight of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    /// Nothing: it lacks the secret.
    Strange,
    /// Nothing: it has the secret and comes from another address.
    Astray,
    /// The receiver's.
    Known,
    /// The receiver's, after a silence.
    Back,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Nobody has answered since.
    Knocking {
        since: Time,
    },
    Connected,
    Silent,
}

/// A receiver with whom a secret was agreed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Agreed {
    ssrc: u32,
    secret: Secret,
}

/// Fields of a hello that both ends have: where it goes, its token, the receiver's, and our half of the secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Call {
    pub(super) to: SocketAddr,
    pub(super) token: u64,
    pub(super) echo: u64,
    pub(super) half: u64,
}

/// The other side of a sender.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Peer {
    tokens: Tokens,
    halves: Halves,
    address: Address,
    /// Another address from which the receiver that we call has answered, and whether a hello is to go there.
    alias: Option<(SocketAddr, bool)>,
    state: State,
    agreed: Option<Agreed>,
    /// Whether the newest answer was that it takes another stream.
    busy: bool,
    latency: Span,
    /// The receiver's token, to be sent back, and our half for the end that has told it; zero before there is one.
    echo: u64,
    half: u64,
    /// The token of a challenge that the next hello answers.
    challenge: Option<u64>,
    /// When the newest hello left that was answered.
    answered: Option<Time>,
    pulse: Pulse,
    /// When the next hello is due, and when the last one left.
    hello: Time,
    said: Time,
    round_trip: Least<Span>,
}

impl Peer {
    pub(super) fn new(to: SocketAddr, now: Time, rng: &Rng) -> Peer {
        Peer {
            tokens: Tokens::new(rng),
            halves: Halves::new(rng),
            address: Address::new(to),
            alias: None,
            state: State::Knocking { since: now },
            agreed: None,
            busy: false,
            latency: Span::ZERO,
            echo: 0,
            half: 0,
            challenge: None,
            answered: None,
            pulse: Pulse::new(now),
            hello: now,
            said: now,
            round_trip: Least::new(),
        }
    }

    pub(super) fn to(&self) -> SocketAddr {
        self.address.at()
    }

    /// The latency that the receiver wants.
    pub(super) fn latency(&self) -> Span {
        self.latency
    }

    /// The least round trip of late.
    pub(super) fn round_trip(&self) -> Option<Span> {
        self.round_trip.get()
    }

    /// Longest time to wait for a report that comes every `interval`.
    fn wait(&self, interval: Span) -> Span {
        (self.round_trip().unwrap_or(Span::ZERO) * 2 + interval * 3).max(LEAST_WAIT)
    }

    /// Time for an answer to a challenge.
    fn patience(&self) -> Span {
        address::wait(self.round_trip().unwrap_or(Span::ZERO))
    }

    /// Whether a receiver is there.
    pub(super) fn is_connected(&self) -> bool {
        self.state == State::Connected
    }

    /// Since when nobody has answered at all.
    pub(super) fn knocking_since(&self) -> Option<Time> {
        match self.state {
            State::Knocking { since } => Some(since),
            _ => None,
        }
    }

    /// When a receiver that stays silent is given up.
    pub(super) fn gone_at(&self, interval: Span) -> Option<Time> {
        self.is_connected().then(|| self.pulse.gone_at(self.wait(interval)))
    }

    /// Stops counting on the receiver until it reports again, or another answers.
    pub(super) fn give_up(&mut self) {
        self.state = State::Silent;
    }

    /// Whether it takes another stream.
    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Returns whether a datagram ends with the proof of the receiver that is agreed with.
    pub(super) fn is_proved(&self, datagram: &[u8]) -> bool {
        self.agreed.is_some_and(|agreed| agreed.secret.proves(End::Receiver, datagram))
    }

    /// The secret that our own datagrams are proved by, once there is one.
    pub(super) fn secret(&self) -> Option<Secret> {
        self.agreed.map(|agreed| agreed.secret)
    }

    /// Takes note of `len` bytes from `from` with a report of receiver `ssrc`, under the secret if `is_proved`, and
    /// tells how much it counts.
    pub(super) fn on_report(&mut self, now: Time, from: SocketAddr, len: usize, ssrc: u32, is_proved: bool) -> Word {
        if !is_proved || self.agreed.is_none_or(|agreed| agreed.ssrc != ssrc) {
            return Word::Strange;
        }
        if from != self.to() {
            self.address.consider(now, from, len, true);
            return Word::Astray;
        }
        self.pulse.on_report(now);
        self.address.confirm(now, self.patience());
        match core::mem::replace(&mut self.state, State::Connected) {
            State::Silent => Word::Back,
            _ => Word::Known,
        }
    }

    /// Whether the receiver itself says goodbye.
    pub(super) fn is_goodbye(&self, from: SocketAddr, goodbye: &Goodbye<'_>, is_proved: bool) -> bool {
        let names_it = self.agreed.is_some_and(|agreed| goodbye.names(agreed.ssrc));
        is_proved && names_it && self.is_connected() && from == self.to()
    }

    /// Ends the session with a receiver that is gone: nothing under its secret counts any more.
    pub(super) fn forget(&mut self) {
        self.agreed = None;
    }

    /// The network says that nobody is where the hellos go.
    pub(super) fn on_unreachable(&mut self, now: Time) {
        self.pulse.on_unreachable(now);
    }

    /// Media leaves.
    pub(super) fn on_media(&mut self, now: Time) {
        self.pulse.on_media(now);
    }

    /// Returns whether a media datagram may leave now: without reports, which come every `interval`, only one with each
    /// hello.
    pub(super) fn takes_media(&mut self, now: Time, interval: Span) -> bool {
        let wait = self.wait(interval);
        !self.is_connected() || self.pulse.takes_media(now, wait)
    }

    /// Returns whether no report has come for long.
    pub(super) fn is_unreported(&self, now: Time, interval: Span) -> bool {
        self.is_connected() && self.pulse.is_unreported(now, self.wait(interval))
    }

    /// Takes a challenge, which is answered where the receiver is and nowhere else.
    pub(super) fn on_challenge(&mut self, now: Time, from: SocketAddr, challenge: Challenge) {
        if self.agreed.is_some() && from == self.to() {
            self.challenge = Some(challenge.token);
            self.remind(now.max(self.said + LEAST_GAP));
        }
    }

    /// When the next hello or challenge is due.
    pub(super) fn next(&self) -> Time {
        let challenge = self.address.next();
        challenge.map_or(self.hello, |challenge| challenge.min(self.hello))
    }

    /// Makes the next hello due at `at`.
    pub(super) fn remind(&mut self, at: Time) {
        self.hello = self.hello.min(at);
    }

    /// The hello that is due by `now`, if one is. Another address gets at most one for each of the first one's.
    pub(super) fn poll_hello(&mut self, now: Time) -> Option<Call> {
        if now < self.hello {
            return None;
        }
        if let Some((to, due @ true)) = &mut self.alias {
            (*due, self.said) = (false, now);
            return Some(Call { to: *to, token: self.tokens.of(*to), echo: self.echo, half: 0 });
        }
        self.hello = now
            + match self.state {
                State::Connected => REMIND,
                State::Knocking { since } if now.since(since) >= EAGER => WAIT,
                State::Knocking { .. } | State::Silent => KNOCK,
            };
        self.said = now;
        self.pulse.on_hello();
        let to = self.to();
        let echo = self.challenge.take().unwrap_or(self.echo);
        Some(Call { to, token: self.tokens.of(to), echo, half: self.half })
    }

    /// The challenge that is due by `now`.
    pub(super) fn poll_challenge(&mut self, now: Time) -> Option<(SocketAddr, Challenge)> {
        let patience = self.patience();
        self.address.poll_challenge(now, patience, &self.tokens)
    }
}
