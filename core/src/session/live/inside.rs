//! Names of peers inside associations.

use core::net::{IpAddr, Ipv6Addr, SocketAddr};

use crate::units::Bytes;
use crate::wire::secure::sealed::Sealed;

/// The prefix of the names: no network routes it (RFC 6666), so that no peer can have such an address.
const DISCARD: u16 = 0x100;

/// The name of peer `number` inside its association, in place of its address. The name has the address family, which
/// determines the length of the headers around a sealed datagram.
pub fn inside(address: SocketAddr, number: u16) -> SocketAddr {
    let family = if address.is_ipv4() { 4 } else { 6 };
    SocketAddr::from((Ipv6Addr::from([DISCARD, 0, 0, 0, 0, 0, 0, family]), number))
}

/// Bytes of the headers and of the seal of a datagram to or from the peer of this name; none if it is no name.
pub(super) fn overhead(name: SocketAddr) -> Option<Bytes> {
    let IpAddr::V6(name) = name.ip() else { return None };
    let headers = match name.segments() {
        [DISCARD, 0, 0, 0, 0, 0, 0, 4] => 28,
        [DISCARD, 0, 0, 0, 0, 0, 0, 6] => 48,
        _ => return None,
    };
    Some(Bytes(headers + Sealed::OVERHEAD as u64))
}
