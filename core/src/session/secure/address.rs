//! The peer's address, and its validation after a change.
//!
//! An address is believed only after a challenge (RFC 9000 §8.2 has the same for QUIC): until the token has been
//! returned, nothing else is sent there, and no more bytes than were received from there.

use core::net::SocketAddr;

use super::backoff::Backoff;
use super::entropy::Entropy;
use crate::time::{Span, Time};

/// The longest time for a challenge to be answered. Ours: seven transmissions ([`Backoff`]). RFC 9000 §8.2.4 recommends
/// three probe timeouts, 3 s before a measurement.
const ANSWER_TIME: Span = Span::from_secs(5);

/// The address of the peer, and possibly a candidate for the next one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Address {
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

impl Address {
    pub(super) fn new(address: SocketAddr) -> Address {
        Address { address, candidate: None }
    }

    pub(super) fn at(&self) -> SocketAddr {
        self.address
    }

    /// Takes note of `len` authentic bytes from `from`; only the newest datagram can start a challenge.
    pub(super) fn on_received(
        &mut self,
        now: Time,
        from: SocketAddr,
        len: usize,
        is_newest: bool,
        entropy: &mut Entropy,
    ) {
        if from == self.address {
            return;
        }
        match self.candidate.as_mut().filter(|candidate| candidate.address == from) {
            Some(candidate) => candidate.credit = candidate.credit.saturating_add(len),
            None if is_newest => {
                let (token, backoff, until) = (entropy.u64(), Backoff::new(now), now + ANSWER_TIME);
                self.candidate = Some(Candidate { address: from, token, credit: len, backoff, until });
            }
            None => {}
        }
    }

    /// A challenge of `len` bytes that is due: its destination, and its token.
    pub(super) fn poll(&mut self, now: Time, len: usize) -> Option<(SocketAddr, u64)> {
        let candidate = self.candidate.as_mut().filter(|candidate| candidate.credit >= len)?;
        if !candidate.backoff.fire(now) {
            return None;
        }
        candidate.credit -= len;
        Some((candidate.address, candidate.token))
    }

    /// Takes a token from `from`. If it is the one that was sent there, it becomes the peer's; true if so.
    pub(super) fn prove(&mut self, from: SocketAddr, token: u64) -> bool {
        let is_proof = self.candidate.as_ref().is_some_and(|it| it.address == from && it.token == token);
        if is_proof {
            *self = Address::new(from);
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

    /// The address of a peer, another one, and a source of tokens.
    fn peer() -> (Address, SocketAddr, Entropy) {
        let [here, there] = ["192.0.2.1:1", "192.0.2.2:2"].map(|text| text.parse().unwrap());
        (Address::new(here), there, Entropy::new([1; 32]))
    }

    #[test]
    fn challenge_is_never_longer_than_the_bytes_received() {
        let (mut peer, there, mut entropy) = peer();
        peer.on_received(Time::ZERO, there, 40, true, &mut entropy);
        assert_eq!(peer.poll(Time::ZERO, CHALLENGE), None);
        peer.on_received(Time::ZERO, there, 40, true, &mut entropy);
        let (to, token) = peer.poll(Time::ZERO, CHALLENGE).expect("80 bytes have come");
        assert_eq!(to, there);
        let later = Time::ZERO + Span::from_secs(1);
        assert_eq!(peer.poll(later, CHALLENGE), None, "37 bytes are left");
        peer.on_received(later, there, 6, false, &mut entropy);
        assert_eq!(peer.poll(later, CHALLENGE), Some((there, token)));
    }

    #[test]
    fn only_the_newest_datagram_starts_a_challenge_and_it_expires() {
        let (mut peer, there, mut entropy) = peer();
        peer.on_received(Time::ZERO, there, 1200, false, &mut entropy);
        assert_eq!(peer.poll(Time::ZERO, CHALLENGE), None);
        peer.on_received(Time::ZERO, there, 1200, true, &mut entropy);
        let (_, token) = peer.poll(Time::ZERO, CHALLENGE).expect("it is due");
        peer.handle_timeout(Time::ZERO + ANSWER_TIME);
        assert!(!peer.prove(there, token));
    }

    #[test]
    fn proof_is_accepted_only_from_the_challenged_address() {
        let (mut peer, there, mut entropy) = peer();
        peer.on_received(Time::ZERO, there, 1200, true, &mut entropy);
        let (_, token) = peer.poll(Time::ZERO, CHALLENGE).expect("it is due");
        let elsewhere = "192.0.2.3:3".parse().unwrap();
        assert!(!peer.prove(elsewhere, token) && !peer.prove(there, token ^ 1));
        assert!(peer.prove(there, token));
        assert_eq!(peer.at(), there);
        assert!(!peer.prove(there, token), "once");
    }
}
