//! The address of the other end, and how it changes.
//!
//! The peer's address changes only where the end at the new one shows the session's secret over it. An address from
//! which the peer seems to send is a candidate. The old address is asked first. Where it does not answer in time, the
//! candidate gets one challenge, which tells nothing but a token, and which it has to echo under the secret. An end
//! answers a challenge only when that comes from its peer's address, so that nobody off the path can hand one on.

use core::net::SocketAddr;

use super::tokens::Tokens;
use crate::time::{Span, Time};
use crate::wire::hello::{Challenge, NAME};
use crate::wire::rtcp::{App, Full, Writer};

/// Least time for an answer to a challenge.
const LEAST_WAIT: Span = Span::from_millis(100);
/// After the old address has answered, no other one is considered for so long.
const REST: Span = Span::from_secs(1);

/// Bytes of a datagram with a challenge: an address that has sent less gets none.
pub(super) const CHALLENGE: usize = App::HEADER_LEN + Challenge::LEN;

/// Time for an answer to a challenge at a round trip of `round_trip`.
pub(super) fn wait(round_trip: Span) -> Span {
    (round_trip * 2).max(LEAST_WAIT)
}

/// Writes a datagram with a challenge and nothing else.
pub(super) fn emit(challenge: Challenge, buf: &mut [u8]) -> Result<usize, Full> {
    let mut writer = Writer::new(buf);
    writer.push(&App { subtype: Challenge::SUBTYPE, ssrc: 0, name: NAME, data: &challenge.emit() })?;
    Ok(writer.len())
}

/// The stage of a change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// The old address is to be asked.
    Begun,
    /// The old address was asked, and may answer until then.
    OldAsked(Time),
    /// The candidate was challenged, and may answer until then.
    NewAsked(Time),
}

/// A change of address that may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Change {
    candidate: SocketAddr,
    /// True if the secret came from there.
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
    /// The peer is at `at`.
    pub(super) fn new(at: SocketAddr) -> Address {
        Address { at, change: None, rests_until: Time::ZERO }
    }

    pub(super) fn at(&self) -> SocketAddr {
        self.at
    }

    /// Takes note of `len` bytes that could be the peer's and come from `from`; `is_proved` if the secret came with
    /// them.
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

    /// Takes note of new words under the secret from the peer's address, `wait` being the time for an answer. Those
    /// that may have been under way when the change began say nothing.
    pub(super) fn confirm(&mut self, now: Time, wait: Span) {
        if self.change.is_some_and(|change| now >= change.began + wait / 2) {
            (self.change, self.rests_until) = (None, now + REST);
        }
    }

    /// Takes an echo under the secret from `from`. True if the peer has proved to be there now.
    pub(super) fn on_echo(&mut self, now: Time, from: SocketAddr, echo: u64, tokens: &Tokens) -> bool {
        let Some(change) = self.change.filter(|change| echo == tokens.challenge(from, change.began)) else {
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

    /// The address that is to be challenged now, and the challenge.
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
        Some((to, Challenge { token: tokens.challenge(to, change.began) }))
    }

    /// When the next challenge is due, or a change is given up.
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
    use crate::rng::Rng;

    const WAIT: Span = LEAST_WAIT;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    fn places() -> [SocketAddr; 3] {
        ["10.0.0.1:6000", "10.9.9.9:6000", "10.8.8.8:6000"].map(|text| text.parse().unwrap())
    }

    fn tokens() -> Tokens {
        Tokens::new(&Rng::new(1))
    }

    #[test]
    fn the_old_address_is_asked_first_and_the_new_one_must_echo_its_own_challenge() {
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
    fn nothing_changes_while_the_old_address_answers() {
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
    fn the_secret_comes_before_whoever_only_seems_to_be_the_peer() {
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
