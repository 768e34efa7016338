//! Cookies: proof that an unknown client is reachable at its address, before it costs any memory.
//!
//! A cookie is an address validation token for the id in the hello and the time slot: a client that returns it has
//! received what was sent there, not long ago (RFC 6347 §4.2.1 has the same for DTLS).

use core::net::SocketAddr;

use super::entropy::Entropy;
use crate::session::path::tokens::Tokens;
use crate::time::{Span, Time};

/// The length of a slot; a cookie is valid in its own and the next. Ours: a cookie lasts at least the ten seconds of a
/// client's handshake; a longer slot lets one address repeat a cookie for longer.
pub(super) const SLOT: Span = Span::from_secs(10);

/// The longest time for which a cookie is valid. Two slots.
pub(super) const LIFE: Span = Span::from_secs(20);

/// Makes and checks cookies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cookies {
    tokens: Tokens,
}

impl Cookies {
    pub(super) fn new(entropy: &mut Entropy) -> Cookies {
        Cookies { tokens: Tokens::new((entropy.u64(), entropy.u64())) }
    }

    /// The cookie that only `address` learns; never zero, which stands for none.
    pub(super) fn of(&self, now: Time, address: SocketAddr, id: u64) -> u64 {
        self.in_slot(slot(now), address, id)
    }

    /// True if `cookie` was made for `address` and `id` in this slot or the one before.
    pub(super) fn is_good(&self, now: Time, address: SocketAddr, id: u64, cookie: u64) -> bool {
        let slot = slot(now);
        let good = |slot| self.in_slot(slot, address, id) == cookie;
        cookie != 0 && (good(slot) || slot.checked_sub(1).is_some_and(good))
    }

    fn in_slot(&self, slot: u64, address: SocketAddr, id: u64) -> u64 {
        self.tokens.of(address, &[id, slot])
    }
}

fn slot(now: Time) -> u64 {
    now.as_nanos() / SLOT.as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_is_valid_for_its_address_and_hello_until_it_expires() {
        let cookies = Cookies::new(&mut Entropy::new([1; 32]));
        let [here, there] = ["10.0.0.1:5000", "10.0.0.1:5001"].map(|text| text.parse().unwrap());
        let made = Time::ZERO + Span::from_secs(25);
        let cookie = cookies.of(made, here, 7);
        assert!(cookies.is_good(made, here, 7, cookie));
        assert!(cookies.is_good(made + SLOT, here, 7, cookie));
        assert!(!cookies.is_good(made + LIFE, here, 7, cookie), "too late");
        assert!(!cookies.is_good(made, there, 7, cookie), "another address");
        assert!(!cookies.is_good(made, here, 8, cookie), "another hello");
        assert!(!cookies.is_good(made, here, 7, cookie ^ 1), "forged");
        assert!(!cookies.is_good(made, here, 7, 0), "none");
        let theirs = Cookies::new(&mut Entropy::new([2; 32]));
        assert!(!theirs.is_good(made, here, 7, cookie), "another responder's");
    }
}
