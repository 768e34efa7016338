//! Agreement of sender and receiver on a secret, and the answers that follow it.

use core::net::SocketAddr;

use super::{Agreed, Change, DOUBT, LONGEST, Peer, State};
use crate::session::live::secret::{End, Secret};
use crate::time::{Span, Time};
use crate::wire::hello::{Answer, Refusal};

impl Peer {
    /// Takes an answer of receiver `ssrc`, which is part of `datagram`.
    pub(in super::super) fn on_answer(
        &mut self,
        now: Time,
        from: SocketAddr,
        (ssrc, answer): (u32, &Answer),
        datagram: &[u8],
    ) -> Option<Change> {
        let is_proved = self.is_proved(datagram);
        if is_proved && self.address.on_echo(now, from, answer.echo, &self.tokens) {
            self.pulse.on_word(now);
            self.remind(now);
            return Some(Change::Moved);
        }
        if from != self.to() && !self.is_at_alias(from, answer) {
            if is_proved {
                self.address.consider(now, from, datagram.len(), true);
            }
            return None;
        }
        if answer.echo != self.tokens.of(from) || !self.is_new(now, answer.stamp) {
            return None;
        }
        self.busy = answer.busy;
        if is_proved {
            return self.on_known(now, answer);
        }
        if answer.busy && now.since(self.pulse.heard()) >= DOUBT && self.is_connected() {
            return Some(Change::Refused);
        }
        if answer.half == 0 {
            self.on_token(now, from, answer.token);
            return None;
        }
        self.agree(now, (ssrc, answer), datagram)
    }

    /// Takes a word of the receiver that is agreed with.
    fn on_known(&mut self, now: Time, answer: &Answer) -> Option<Change> {
        self.pulse.on_word(now);
        let patience = self.patience();
        self.address.confirm(now, patience);
        (self.latency, self.echo) = (answer.latency, answer.token);
        // It waits for media; one that has the stream would report.
        let is_back = self.state == State::Silent && !answer.seated;
        is_back.then(|| self.connect(now))
    }

    /// Takes the token of an end with which nothing is agreed yet: it gets our half with the next hello.
    fn on_token(&mut self, now: Time, from: SocketAddr, token: u64) {
        if self.echo != token || self.half == 0 {
            (self.echo, self.half) = (token, self.halves.of(from, &[token]));
            self.remind(now);
        }
    }

    /// Takes the receiver's half, if the datagram shows that it has ours.
    fn agree(&mut self, now: Time, (ssrc, answer): (u32, &Answer), datagram: &[u8]) -> Option<Change> {
        let secret = Secret { sender: self.half, receiver: answer.half };
        if self.half == 0 || !secret.proves(End::Receiver, datagram) {
            return None;
        }
        self.agreed = Some(Agreed { ssrc, secret });
        (self.latency, self.echo) = (answer.latency, answer.token);
        // It hears of the secret, so that it need not wait for media.
        self.remind(now);
        Some(self.connect(now))
    }

    fn connect(&mut self, now: Time) -> Change {
        self.state = State::Connected;
        self.pulse = super::Pulse::new(now);
        Change::Connected
    }

    /// Returns whether the receiver that we call answers from another of its addresses; from then on it is there. Only
    /// an end that has heard us where we called knows that token, and only one that has heard us there the second.
    fn is_at_alias(&mut self, from: SocketAddr, answer: &Answer) -> bool {
        // Whoever is in a group hears what it is sent, and is not the group.
        if self.agreed.is_some() || self.knocking_since().is_none() || self.to().ip().is_multicast() {
            return false;
        }
        match self.alias {
            Some((alias, _)) if alias == from && answer.echo == self.tokens.of(from) => {
                self.address = super::Address::new(from);
                true
            }
            _ if answer.echo == self.tokens.of(self.to()) => {
                (self.echo, self.alias) = (answer.token, Some((from, true)));
                false
            }
            _ => false,
        }
    }

    /// Returns whether an answer to the hello with `stamp` is newer than the ones before; a round trip comes with it.
    fn is_new(&mut self, now: Time, stamp: u32) -> bool {
        // Stamps go round in 71 minutes, and a receiver may be away for longer than half of that.
        let round_trip = Span::from_micros(((now.as_nanos() / 1_000) as u32).wrapping_sub(stamp).into());
        let said = now - round_trip;
        if self.answered.is_some_and(|answered| said <= answered) {
            return false;
        }
        self.answered = Some(said);
        if round_trip < LONGEST {
            self.round_trip.push(now, round_trip);
        }
        true
    }

    /// Returns whether a refusal comes from where nobody has answered otherwise, and names our token.
    pub(in super::super) fn is_refused(&self, from: SocketAddr, refusal: &Refusal) -> bool {
        !self.is_connected() && from == self.to() && refusal.echo == self.tokens.of(from)
    }
}
