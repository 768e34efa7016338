//! The peer's address, and how it changes.
//!
//! The peer's address changes only once the end at the new address has proved from there that it has the session's
//! secret. An address from which the peer seems to send is a candidate. The old address is challenged first. If it does
//! not answer in time, the candidate gets one challenge, which contains nothing but a token, to be echoed under the
//! secret. An end answers a challenge only if it comes from the peer's address, so that no off-path attacker can relay
//! one.

use core::net::SocketAddr;

use crate::session::path::tokens::Tokens;
use crate::time::{Span, Time};
use crate::wire::hello::{Challenge, NAME};
use crate::wire::rtcp::{App, Full, Writer};

/// The least time allowed for an answer to a challenge. Ours: allows for late timers on short paths; a longer wait
/// delays a real change of address.
const LEAST_WAIT: Span = Span::from_millis(100);
/// The time after an answer from the old address during which no other address is considered. Ours: an attacker who
/// relays challenges gets one a second; a longer rest delays a real change of address.
const REST: Span = Span::from_secs(1);

/// Bytes of a datagram with a challenge: an address that has sent less is not challenged.
pub(super) const CHALLENGE: usize = App::HEADER_LEN + Challenge::LEN;

/// Time allowed for an answer to a challenge at a round trip of `round_trip`.
pub(super) fn wait(round_trip: Span) -> Span {
    (round_trip * 2).max(LEAST_WAIT)
}

/// Writes a datagram with a challenge and nothing else.
pub(super) fn emit(challenge: Challenge, buf: &mut [u8]) -> Result<usize, Full> {
    let mut writer = Writer::new(buf);
    writer.push(&App { subtype: Challenge::SUBTYPE, ssrc: 0, name: NAME, data: &challenge.emit() })?;
    Ok(writer.len())
}

/// The stage of an address change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The old address is to be challenged.
    Begun,
    /// The old address was challenged, and may answer until this time.
    OldAsked(Time),
    /// The candidate was challenged, and may answer until this time.
    NewAsked(Time),
}

/// A possible change of address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Change {
    candidate: SocketAddr,
    /// True if the candidate has sent a proof of the secret.
    is_proved: bool,
    began: Time,
    stage: Stage,
}

/// The address of the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Address {
    at: SocketAddr,
    change: Option<Change>,
    rests_until: Time,
}

impl Address {
    /// Begins with the peer at `at`.
    pub(super) fn new(at: SocketAddr) -> Address {
        Address { at, change: None, rests_until: Time::ZERO }
    }

    pub(super) fn at(&self) -> SocketAddr {
        self.at
    }

    /// Takes note of `len` bytes from `from` that may be the peer's; `is_proved` if they came with a proof of the
    /// secret.
    pub(super) fn consider(&mut self, now: Time, from: SocketAddr, len: usize, is_proved: bool) {
        if from == self.at || len < CHALLENGE || now < self.rests_until {
            return;
        }
        match &mut self.change {
            None => self.change = Some(Change { candidate: from, is_proved, began: now, stage: Stage::Begun }),
            Some(change) if is_proved && !change.is_proved && !matches!(change.stage, Stage::NewAsked(_)) => {
                (change.candidate, change.is_proved) = (from, true);
            }
            Some(_) => {}
        }
    }

    /// Takes note of a new message under the secret from the peer's address; `wait` is the time allowed for an answer.
    /// A message that may have been in flight when the change began proves nothing and is ignored.
    pub(super) fn confirm(&mut self, now: Time, wait: Span) {
        if self.change.is_some_and(|change| now >= change.began + wait / 2) {
            (self.change, self.rests_until) = (None, now + REST);
        }
    }

    /// Takes an echo under the secret from `from`. True if it proves that the peer has moved to `from`.
    pub(super) fn on_echo(&mut self, now: Time, from: SocketAddr, echo: u64, tokens: &Tokens) -> bool {
        let Some(change) = self.change.filter(|change| echo == tokens.of(from, &[change.began.as_nanos()])) else {
            return false;
        };
        if from == self.at {
            (self.change, self.rests_until) = (None, now + REST);
            return false;
        }
        let has_moved = from == change.candidate && matches!(change.stage, Stage::NewAsked(_));
        if has_moved {
            *self = Address::new(from);
        }
        has_moved
    }

    /// The address to challenge now, and the challenge.
    pub(super) fn poll_challenge(&mut self, now: Time, wait: Span, tokens: &Tokens) -> Option<(SocketAddr, Challenge)> {
        let change = self.change.as_mut()?;
        let to = match change.stage {
            Stage::Begun => {
                change.stage = Stage::OldAsked(now + wait);
                self.at
            }
            Stage::OldAsked(until) if until <= now => {
                change.stage = Stage::NewAsked(now + wait);
                change.candidate
            }
            Stage::NewAsked(until) if until <= now => {
                self.change = None;
                return None;
            }
            Stage::OldAsked(_) | Stage::NewAsked(_) => return None,
        };
        Some((to, Challenge { token: tokens.of(to, &[change.began.as_nanos()]) }))
    }

    /// The time at which the next challenge is due, or a change is given up.
    pub(super) fn next(&self) -> Option<Time> {
        self.change.map(|change| match change.stage {
            Stage::Begun => change.began,
            Stage::OldAsked(until) | Stage::NewAsked(until) => until,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAIT: Span = LEAST_WAIT;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn places() -> [SocketAddr; 3] {
        ["10.0.0.1:6000", "10.9.9.9:6000", "10.8.8.8:6000"].map(|text| text.parse().unwrap())
    }

    fn tokens() -> Tokens {
        Tokens::new((1, 2))
    }

    #[test]
    fn old_address_is_probed_first_and_the_new_one_must_echo_its_challenge() {
        let ([old, new, third], tokens) = (places(), tokens());
        let mut address = Address::new(old);
        address.consider(at(0), new, 100, false);
        let (to, first) = address.poll_challenge(at(0), WAIT, &tokens).unwrap();
        assert_eq!(to, old);
        assert_eq!(address.poll_challenge(at(99), WAIT, &tokens), None);
        assert_eq!(address.next(), Some(at(100)));
        let (to, challenge) = address.poll_challenge(at(100), WAIT, &tokens).unwrap();
        assert_eq!(to, new);
        assert!(!address.on_echo(at(110), new, first.token, &tokens), "that of the other address");
        assert!(!address.on_echo(at(110), third, challenge.token, &tokens), "handed on");
        assert!(address.on_echo(at(120), new, challenge.token, &tokens));
        assert_eq!((address.at(), address.next()), (new, None));
    }

    #[test]
    fn address_is_kept_while_the_old_one_answers() {
        let ([old, new, _], tokens) = (places(), tokens());
        let mut address = Address::new(old);
        address.consider(at(0), new, 100, true);
        let (_, challenge) = address.poll_challenge(at(0), WAIT, &tokens).unwrap();
        assert!(!address.on_echo(at(40), old, challenge.token, &tokens));
        assert_eq!(address.next(), None);
        address.consider(at(1039), new, 100, true);
        assert_eq!(address.next(), None, "for a second");
        address.consider(at(1040), new, 100, true);
        address.poll_challenge(at(1040), WAIT, &tokens);
        address.confirm(at(1089), WAIT);
        assert!(address.next().is_some(), "that may have been under way");
        address.confirm(at(1090), WAIT);
        assert_eq!(address.next(), None);
    }

    #[test]
    fn an_address_that_has_sent_less_than_a_challenge_gets_none() {
        let [old, new, _] = places();
        let mut address = Address::new(old);
        address.consider(at(0), new, CHALLENGE - 1, true);
        assert_eq!(address.next(), None);
    }

    #[test]
    fn candidate_with_the_secret_precedes_one_without() {
        let ([old, new, third], tokens) = (places(), tokens());
        let mut address = Address::new(old);
        address.consider(at(0), third, 100, false);
        address.consider(at(1), new, 100, true);
        address.consider(at(2), third, 100, true);
        address.poll_challenge(at(2), WAIT, &tokens);
        assert_eq!(address.poll_challenge(at(200), WAIT, &tokens).unwrap().0, new);
        assert_eq!(address.poll_challenge(at(300), WAIT, &tokens), None);
        assert_eq!(address.next(), None, "given up");
    }
}
