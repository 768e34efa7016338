//! A keyed hash of an address: what nobody can show who has not received it there.

use core::hash::Hasher;
use core::net::{IpAddr, SocketAddr};

use siphasher::sip::SipHasher24;

/// SipHash-2-4 of `address` and `more`; never zero, which stands for none.
pub(super) fn hash(keys: (u64, u64), address: SocketAddr, more: &[u64]) -> u64 {
    let mut hasher = SipHasher24::new_with_keys(keys.0, keys.1);
    match address.ip() {
        IpAddr::V4(ip) => hasher.write(&ip.octets()),
        IpAddr::V6(ip) => hasher.write(&ip.octets()),
    }
    hasher.write(&address.port().to_be_bytes());
    more.iter().for_each(|number| hasher.write(&number.to_be_bytes()));
    hasher.finish().max(1)
}
