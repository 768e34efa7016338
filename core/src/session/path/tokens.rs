//! Address validation tokens (RFC 9000 §8.1).
//!
//! A token is a keyed hash of an address, so that an unknown peer costs no memory: an end that echoes the token of its
//! address has received a datagram that was sent there.

use core::fmt;
use core::hash::Hasher;
use core::net::{IpAddr, SocketAddr};

use siphasher::sip::SipHasher24;
use zeroize::Zeroize;

/// Makes and checks the tokens of one endpoint.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::session) struct Tokens {
    keys: (u64, u64),
}

impl Tokens {
    pub(in crate::session) fn new(keys: (u64, u64)) -> Tokens {
        Tokens { keys }
    }

    /// The token that only `address` learns, for the exchange that `context` names: SipHash-2-4 of both. Never zero,
    /// which stands for none.
    pub(in crate::session) fn of(&self, address: SocketAddr, context: &[u64]) -> u64 {
        let mut hasher = SipHasher24::new_with_keys(self.keys.0, self.keys.1);
        match address.ip() {
            IpAddr::V4(ip) => hasher.write(&ip.octets()),
            IpAddr::V6(ip) => hasher.write(&ip.octets()),
        }
        hasher.write(&address.port().to_be_bytes());
        context.iter().for_each(|number| hasher.write(&number.to_be_bytes()));
        hasher.finish().max(1)
    }
}

impl Drop for Tokens {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_address_endpoint_and_context_has_tokens_of_its_own() {
        let (ours, theirs) = (Tokens::new((1, 2)), Tokens::new((1, 3)));
        let [a, b, c] = ["10.0.0.1:5000", "10.0.0.1:5001", "[::1]:5000"].map(|text| text.parse().unwrap());
        assert_eq!(ours.of(a, &[7]), ours.of(a, &[7]));
        assert_ne!(ours.of(a, &[7]), ours.of(b, &[7]));
        assert_ne!(ours.of(a, &[7]), ours.of(c, &[7]));
        assert_ne!(ours.of(a, &[7]), ours.of(a, &[]));
        assert_ne!(ours.of(a, &[7]), theirs.of(a, &[7]));
    }

    /// The vector of 14 bytes, 00 to 0d under the key 00 to 0f, of the reference implementation of J.-P. Aumasson, D. J.
    /// Bernstein, "SipHash: a fast short-input PRF": 00 to 03 are an address, 04 and 05 a port, the rest a number.
    #[test]
    fn token_is_the_siphash_of_address_port_and_context() {
        let tokens = Tokens::new((0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908));
        let address = "0.1.2.3:1029".parse().unwrap();
        assert_eq!(tokens.of(address, &[0x0607_0809_0a0b_0c0d]), 0xf723_ca90_8e7a_f2ee);
    }
}
