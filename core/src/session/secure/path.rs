//! Where the other end is, and how it proves that it has moved.
//!
//! Addresses are believed only after a challenge (RFC 9000 §8.2 has the same for QUIC): until the token has come back,
//! nothing else is sent there, and no more than came from there.

use core::net::SocketAddr;

use super::backoff::Backoff;
use super::entropy::Entropy;
use crate::time::{Span, Time};

/// How long a challenge may take.
const PATIENCE: Span = Span::from_secs(5);

/// A path, and perhaps the one that follows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Path {
    address: SocketAddr,
    candidate: Option<Candidate>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Candidate {
    address: SocketAddr,
    token: u64,
    /// Bytes that may still be sent there.
    credit: usize,
    backoff: Backoff,
    until: Time,
}

impl Path {
    pub(super) fn new(address: SocketAddr) -> Path {
        Path { address, candidate: None }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes note of `len` authentic bytes from `from`; only the newest datagram can start a challenge.
    pub(super) fn hear(&mut self, now: Time, from: SocketAddr, len: usize, is_newest: bool, entropy: &mut Entropy) {
        if from == self.address {
            return;
        }
        match self.candidate.as_mut().filter(|candidate| candidate.address == from) {
            Some(candidate) => candidate.credit = candidate.credit.saturating_add(len),
            None if is_newest => {
                let (token, backoff, until) = (entropy.u64(), Backoff::new(now), now + PATIENCE);
                self.candidate = Some(Candidate { address: from, token, credit: len, backoff, until });
            }
            None => {}
        }
    }

    /// A challenge of `len` bytes that is due: where to, and its token.
    pub(super) fn poll(&mut self, now: Time, len: usize) -> Option<(SocketAddr, u64)> {
        let candidate = self.candidate.as_mut().filter(|candidate| candidate.credit >= len)?;
        if !candidate.backoff.fire(now) {
            return None;
        }
        candidate.credit -= len;
        Some((candidate.address, candidate.token))
    }

    /// Moves, if this is what was sent there.
    pub(super) fn prove(&mut self, from: SocketAddr, token: u64) -> bool {
        let is_proof = self.candidate.as_ref().is_some_and(|it| it.address == from && it.token == token);
        if is_proof {
            *self = Path::new(from);
        }
        is_proof
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        self.candidate.take_if(|candidate| candidate.until <= now);
    }

    pub(super) fn next(&self, len: usize) -> Option<Time> {
        let candidate = self.candidate.as_ref()?;
        Some(if candidate.credit >= len { candidate.backoff.next().min(candidate.until) } else { candidate.until })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHALLENGE: usize = 43;

    /// A path, another address, and what draws tokens.
    fn path() -> (Path, SocketAddr, Entropy) {
        let [here, there] = ["192.0.2.1:1", "192.0.2.2:2"].map(|text| text.parse().unwrap());
        (Path::new(here), there, Entropy::new([1; 32]))
    }

    #[test]
    fn a_challenge_is_never_longer_than_what_came() {
        let (mut path, there, mut entropy) = path();
        path.hear(Time::ZERO, there, 40, true, &mut entropy);
        assert_eq!(path.poll(Time::ZERO, CHALLENGE), None);
        path.hear(Time::ZERO, there, 40, true, &mut entropy);
        let (to, token) = path.poll(Time::ZERO, CHALLENGE).expect("80 bytes have come");
        assert_eq!(to, there);
        let later = Time::ZERO + Span::from_secs(1);
        assert_eq!(path.poll(later, CHALLENGE), None, "37 bytes are left");
        path.hear(later, there, 6, false, &mut entropy);
        assert_eq!(path.poll(later, CHALLENGE), Some((there, token)));
    }

    #[test]
    fn only_the_newest_datagram_starts_a_challenge_and_patience_ends() {
        let (mut path, there, mut entropy) = path();
        path.hear(Time::ZERO, there, 1200, false, &mut entropy);
        assert_eq!(path.poll(Time::ZERO, CHALLENGE), None);
        path.hear(Time::ZERO, there, 1200, true, &mut entropy);
        let (_, token) = path.poll(Time::ZERO, CHALLENGE).expect("it is due");
        path.handle_timeout(Time::ZERO + PATIENCE);
        assert!(!path.prove(there, token));
    }

    #[test]
    fn a_proof_counts_from_where_it_was_asked_for_alone() {
        let (mut path, there, mut entropy) = path();
        path.hear(Time::ZERO, there, 1200, true, &mut entropy);
        let (_, token) = path.poll(Time::ZERO, CHALLENGE).expect("it is due");
        let elsewhere = "192.0.2.3:3".parse().unwrap();
        assert!(!path.prove(elsewhere, token) && !path.prove(there, token ^ 1));
        assert!(path.prove(there, token));
        assert_eq!(path.address(), there);
        assert!(!path.prove(there, token), "once");
    }
}
