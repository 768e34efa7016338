//! Who the receiver is, where it is, and whether it is still there.

use core::net::SocketAddr;

use crate::session::live::least::Least;
use crate::session::live::tokens::Tokens;
use crate::time::{Span, Time};
use crate::wire::hello::Answer;
use crate::wire::rtcp::Goodbye;

/// Between hellos that nobody has answered yet.
const KNOCK: Span = Span::from_millis(100);
/// So long hellos are that frequent; a receiver that is waited for longer gets fewer.
const EAGER: Span = Span::from_secs(10);
/// Between those.
const WAIT: Span = Span::from_secs(1);
/// Between hellos after an answer, until the receiver reports: until then it may not know that its answer has come.
const GREET: Span = Span::from_millis(20);
/// Between hellos of a running stream.
const REMIND: Span = Span::from_millis(200);
/// Without a word for so long, the receiver is gone.
pub(super) const SILENCE: Span = Span::from_secs(10);
/// Round trips above are broken stamps.
const LONGEST: Span = Span::from_secs(10);

/// What an answer has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Change {
    /// A receiver is there: the first one, or another one in its place.
    Connected,
    /// The receiver is somewhere else.
    Moved,
    /// The receiver takes another sender's stream now.
    Refused,
}

/// Whose word a report is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Word {
    /// Nobody's that is known.
    Strange,
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
    /// Answered, but has sent no report yet.
    Greeting,
    Streaming,
    Silent,
}

/// The other side of a sender.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Peer {
    tokens: Tokens,
    to: SocketAddr,
    /// An address from which the receiver seems to have spoken; it gets a token.
    candidate: Option<SocketAddr>,
    state: State,
    ssrc: Option<u32>,
    /// Whether the newest answer was that it takes another stream.
    busy: bool,
    latency: Span,
    echo: u64,
    heard: Time,
    hello: Time,
    round_trip: Least<Span>,
}

impl Peer {
    pub(super) fn new(to: SocketAddr, now: Time, tokens: Tokens) -> Peer {
        Peer {
            tokens,
            to,
            candidate: None,
            state: State::Knocking { since: now },
            ssrc: None,
            busy: false,
            latency: Span::ZERO,
            echo: 0,
            heard: now,
            hello: now,
            round_trip: Least::new(),
        }
    }

    pub(super) fn to(&self) -> SocketAddr {
        self.to
    }

    /// The latency that the receiver wants.
    pub(super) fn latency(&self) -> Span {
        self.latency
    }

    /// The receiver's token, to be sent back; zero before there is one.
    pub(super) fn echo(&self) -> u64 {
        self.echo
    }

    pub(super) fn token(&self, address: SocketAddr) -> u64 {
        self.tokens.of(address)
    }

    /// The least round trip of late.
    pub(super) fn round_trip(&self) -> Option<Span> {
        self.round_trip.get()
    }

    pub(super) fn sample(&mut self, now: Time, round_trip: Span) {
        if round_trip < LONGEST {
            self.round_trip.push(now, round_trip);
        }
    }

    /// Whether a receiver is there.
    pub(super) fn is_connected(&self) -> bool {
        matches!(self.state, State::Greeting | State::Streaming)
    }

    /// Since when nobody has answered at all.
    pub(super) fn knocking_since(&self) -> Option<Time> {
        match self.state {
            State::Knocking { since } => Some(since),
            _ => None,
        }
    }

    /// When a receiver that stays silent is given up.
    pub(super) fn gone_at(&self) -> Option<Time> {
        self.is_connected().then(|| self.heard + SILENCE)
    }

    /// Stops counting on the receiver until it reports again, or another answers.
    pub(super) fn give_up(&mut self) {
        self.state = State::Silent;
    }

    /// Takes an answer of receiver `ssrc`, made to the hello with `stamp` microseconds on our clock.
    pub(super) fn on_answer(&mut self, now: Time, from: SocketAddr, ssrc: u32, answer: &Answer) -> Option<Change> {
        let proven = answer.echo == self.tokens.of(from);
        // Whoever knows the token of where we knocked has heard us there, and answers from another of its addresses.
        let known = self.ssrc == Some(ssrc) || (self.ssrc.is_none() && answer.echo == self.tokens.of(self.to));
        if from != self.to && !(proven && known) {
            self.consider(from, known);
            return None;
        }
        if !proven {
            return None;
        }
        let stamp = (now.as_nanos() / 1_000) as u32;
        self.sample(now, Span::from_micros(stamp.wrapping_sub(answer.stamp).into()));
        self.latency = answer.latency;
        if self.echo != answer.token {
            // It waits for its token before it takes the stream from here.
            self.echo = answer.token;
            self.hello = now;
        }
        self.busy = answer.busy;
        if answer.busy {
            return self.is_connected().then_some(Change::Refused);
        }
        let moved = core::mem::replace(&mut self.to, from) != from;
        let another = self.ssrc.replace(ssrc) != Some(ssrc);
        if another || matches!(self.state, State::Knocking { .. }) {
            // From here on only reports count: answers alone do not say that media arrives.
            self.heard = now;
            self.state = State::Greeting;
            return Some(Change::Connected);
        }
        moved.then_some(Change::Moved)
    }

    /// Whether it takes another stream.
    pub(super) fn is_busy(&self) -> bool {
        self.busy
    }

    /// Takes note of a report of receiver `ssrc`, and tells whether it is to be believed.
    pub(super) fn on_report(&mut self, now: Time, from: SocketAddr, ssrc: u32) -> Word {
        let known = self.ssrc == Some(ssrc);
        if from != self.to {
            self.consider(from, known);
        }
        if from != self.to || !known || matches!(self.state, State::Knocking { .. }) {
            return Word::Strange;
        }
        self.heard = now;
        match core::mem::replace(&mut self.state, State::Streaming) {
            State::Silent => Word::Back,
            _ => Word::Known,
        }
    }

    /// Whether the receiver itself says goodbye.
    pub(super) fn is_goodbye(&self, from: SocketAddr, goodbye: &Goodbye<'_>) -> bool {
        self.is_connected() && from == self.to && self.ssrc.is_some_and(|ssrc| goodbye.names(ssrc))
    }

    fn consider(&mut self, from: SocketAddr, known: bool) {
        if known && self.candidate.is_none() {
            self.candidate = Some(from);
        }
    }

    /// When the next hello is due.
    pub(super) fn next_hello(&self) -> Time {
        self.hello
    }

    /// Makes the next hello due at `now`.
    pub(super) fn remind(&mut self, now: Time) {
        self.hello = self.hello.min(now);
    }

    /// Where a hello is due by `now`, if one is. A new address gets at most one for each of the old one's.
    pub(super) fn poll_hello(&mut self, now: Time) -> Option<SocketAddr> {
        if now < self.hello {
            return None;
        }
        if let Some(candidate) = self.candidate.take() {
            return Some(candidate);
        }
        self.hello = now
            + match self.state {
                State::Knocking { since } if now.since(since) >= EAGER => WAIT,
                State::Knocking { .. } | State::Silent => KNOCK,
                State::Greeting => GREET,
                State::Streaming => REMIND,
            };
        Some(self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    const US: fn(&Peer, SocketAddr) -> Answer =
        |peer, from| Answer { busy: false, latency: Span::ZERO, stamp: 0, token: 7, echo: peer.token(from) };

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn peer() -> (Peer, SocketAddr, SocketAddr) {
        let (to, other) = ("10.0.0.1:6000".parse().unwrap(), "10.9.9.9:6000".parse().unwrap());
        (Peer::new(to, Time::ZERO, Tokens::new(&Rng::new(1))), to, other)
    }

    #[test]
    fn an_answer_that_echoes_the_token_connects_and_gives_a_round_trip() {
        let (mut peer, to, _) = peer();
        assert_eq!(peer.poll_hello(at(0)), Some(to));
        assert_eq!(peer.poll_hello(at(99)), None);
        let forged = Answer { echo: 1, ..US(&peer, to) };
        assert_eq!(peer.on_answer(at(30), to, 5, &forged), None);
        assert!(!peer.is_connected());
        assert_eq!(peer.on_answer(at(40), to, 5, &US(&peer, to)), Some(Change::Connected));
        assert_eq!(peer.round_trip(), Some(Span::from_millis(40)));
        assert_eq!(peer.poll_hello(at(40)), Some(to), "its token goes back at once");
    }

    #[test]
    fn a_new_address_is_used_only_after_it_has_echoed_its_token() {
        let (mut peer, to, other) = peer();
        peer.on_answer(at(40), to, 5, &US(&peer, to));
        peer.poll_hello(at(40));
        assert_eq!(peer.on_report(at(50), to, 5), Word::Known);
        assert_eq!(peer.on_report(at(60), other, 5), Word::Strange, "not believed from there");
        assert_eq!((peer.to(), peer.poll_hello(at(260))), (to, Some(other)));
        assert_eq!(peer.on_answer(at(300), other, 5, &US(&peer, other)), Some(Change::Moved));
        assert_eq!(peer.to(), other);
    }

    #[test]
    fn a_stranger_gets_nothing() {
        let (mut peer, to, other) = peer();
        peer.on_answer(at(40), to, 5, &US(&peer, to));
        peer.poll_hello(at(40));
        assert_eq!(peer.on_report(at(50), other, 6), Word::Strange);
        assert_eq!(peer.on_answer(at(50), other, 6, &US(&peer, other)), None);
        assert_eq!(peer.poll_hello(at(999)), Some(to));
        assert_eq!(peer.to(), to);
    }

    #[test]
    fn a_receiver_that_comes_back_as_another_one_is_a_new_one() {
        let (mut peer, to, _) = peer();
        peer.on_answer(at(40), to, 5, &US(&peer, to));
        assert_eq!(peer.on_report(at(50), to, 6), Word::Strange, "unknown until it has answered");
        assert_eq!(peer.on_answer(at(60), to, 6, &US(&peer, to)), Some(Change::Connected));
        assert_eq!(peer.on_report(at(70), to, 6), Word::Known);
    }
}
