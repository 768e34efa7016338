//! Proof that somebody can be reached where he says he is.
//!
//! A token is a keyed hash of an address, so that a stranger costs no memory: whoever echoes the token of his address
//! has received what was sent there.

use core::net::SocketAddr;

use crate::rng::Rng;
use crate::session::keyed;
use crate::time::Time;

/// Makes and checks the tokens of one session.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Tokens {
    keys: (u64, u64),
}

impl Tokens {
    pub(super) fn new(rng: &Rng) -> Tokens {
        Tokens { keys: rng.key("tokens") }
    }

    /// The token that only `address` learns; never zero, which stands for none.
    pub(super) fn of(&self, address: SocketAddr) -> u64 {
        keyed::hash(self.keys, address, &[])
    }

    /// The token of a challenge of `address` in a change of the peer's address that began at `began`.
    pub(super) fn challenge(&self, address: SocketAddr, began: Time) -> u64 {
        keyed::hash(self.keys, address, &[began.as_nanos()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_and_every_session_has_tokens_of_its_own() {
        let (ours, theirs) = (Tokens::new(&Rng::new(1)), Tokens::new(&Rng::new(2)));
        let [a, b, c] = ["10.0.0.1:5000", "10.0.0.1:5001", "[::1]:5000"].map(|text| text.parse().unwrap());
        assert_eq!(ours.of(a), ours.of(a));
        assert_ne!(ours.of(a), ours.of(b));
        assert_ne!(ours.of(a), ours.of(c));
        assert_ne!(ours.of(a), theirs.of(a));
    }
}
