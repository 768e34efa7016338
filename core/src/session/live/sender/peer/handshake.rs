//! Agreement of sender and receiver on a secret, and the answers that follow it.

use core::net::SocketAddr;

use super::{Address, Agreed, Call, Change, DOUBT, Peer, State, Step, round_trip};
use crate::session::live::secret::{End, Secret};
use crate::time::Time;
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
            self.keepalive.on_message(now);
            self.schedule_hello(now);
            return Some(Change::Moved);
        }
        if from != self.to() && !self.is_at_alias(from, answer) {
            if is_proved {
                self.address.consider(now, from, datagram.len(), true);
            }
            return None;
        }
        if answer.echo != self.tokens.of(from, &[]) || !self.round_trip.on_answer(now, answer.stamp) {
            return None;
        }
        self.busy = answer.busy;
        if is_proved {
            return self.on_known(now, answer);
        }
        if answer.busy && now.since(self.keepalive.heard()) >= DOUBT && self.is_connected() {
            return Some(Change::Refused);
        }
        if answer.half == 0 {
            self.on_token(now, from, answer.token);
            return None;
        }
        self.agree(now, (ssrc, answer), datagram)
    }

    /// Takes an answer under the agreed secret.
    fn on_known(&mut self, now: Time, answer: &Answer) -> Option<Change> {
        self.keepalive.on_message(now);
        self.address.confirm(now, self.round_trip.challenge_wait());
        (self.latency, self.echo) = (answer.latency, answer.token);
        // The receiver waits for media; one that has the stream would report.
        let is_back = self.state == State::Silent && !answer.seated;
        is_back.then(|| self.connect(now))
    }

    /// Takes the token of an end with which no secret is agreed yet; the next hello gives it our half.
    fn on_token(&mut self, now: Time, from: SocketAddr, token: u64) {
        if self.echo != token || self.half == 0 {
            (self.echo, self.half) = (token, self.halves.of(from, &[token]));
            self.schedule_hello(now);
        }
    }

    /// Takes the receiver's half, if the datagram proves that the receiver has ours.
    fn agree(&mut self, now: Time, (ssrc, answer): (u32, &Answer), datagram: &[u8]) -> Option<Change> {
        let secret = Secret { sender: self.half, receiver: answer.half };
        if self.half == 0 || !secret.proves(End::Receiver, datagram) {
            return None;
        }
        Some(self.accept(now, Agreed { ssrc, secret }, answer))
    }

    /// Takes the answer of a receiver that has called, while no receiver has the stream.
    pub(in super::super) fn on_caller(
        &mut self,
        now: Time,
        from: SocketAddr,
        (ssrc, answer): (u32, &Answer),
        datagram: &[u8],
    ) -> Option<Step> {
        if answer.echo != self.tokens.of(from, &[]) {
            return None;
        }
        let half = self.halves.of(from, &[answer.token]);
        if answer.half == 0 {
            let round_trip = round_trip::since(now, answer.stamp);
            return Some(Step::Greet(Call { half, ..self.greeting(from, answer.token) }, round_trip));
        }
        let secret = Secret { sender: half, receiver: answer.half };
        // An answer to a hello that is older than the present receiver may be a recorded one.
        if !secret.proves(End::Receiver, datagram) || !self.round_trip.on_other(now, answer.stamp) {
            return None;
        }
        (self.address, self.half) = (Address::new(from), half);
        Some(Step::Agreed(self.accept(now, Agreed { ssrc, secret }, answer)))
    }

    /// Takes the receiver with which a secret is agreed.
    fn accept(&mut self, now: Time, agreed: Agreed, answer: &Answer) -> Change {
        self.agreed = Some(agreed);
        (self.latency, self.echo) = (answer.latency, answer.token);
        // The next hello proves the secret, so that the receiver need not wait for media.
        self.schedule_hello(now);
        self.connect(now)
    }

    fn connect(&mut self, now: Time) -> Change {
        self.state = State::Connected;
        self.keepalive = super::Keepalive::new(now);
        Change::Connected
    }

    /// Returns whether the receiver that we call answers from another of its addresses, which is its address from then
    /// on. Only an end that has received a hello where we called knows that token, and only one that has received a
    /// hello at the other address knows the second token.
    fn is_at_alias(&mut self, from: SocketAddr, answer: &Answer) -> bool {
        // Members of a multicast group receive what is sent to the group, but are not the group.
        if self.agreed.is_some() || self.calling_since().is_none() || self.to().ip().is_multicast() {
            return false;
        }
        match self.alias {
            Some((alias, _)) if alias == from && answer.echo == self.tokens.of(from, &[]) => {
                self.address = Address::new(from);
                true
            }
            _ if answer.echo == self.tokens.of(self.to(), &[]) => {
                (self.echo, self.alias) = (answer.token, Some((from, true)));
                false
            }
            _ => false,
        }
    }

    /// Returns whether a refusal counts: no receiver is connected, and it comes from the address of the hellos and
    /// echoes our token.
    pub(in super::super) fn is_refused(&self, from: SocketAddr, refusal: &Refusal) -> bool {
        !self.is_connected() && from == self.to() && refusal.echo == self.tokens.of(from, &[])
    }
}
