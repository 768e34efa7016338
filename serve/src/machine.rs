//! Under which addresses others find this machine.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Addresses kept for documentation (RFC 5737 §3, RFC 3849 §4): the way there is the way to everybody.
const ANYBODY: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))];

/// The addresses by which this machine reaches others, one of IPv4 and one of IPv6 at most; none without a way out.
pub fn addresses() -> Vec<IpAddr> {
    let outward = ANYBODY.into_iter().filter_map(|anybody| towards(anybody).ok());
    outward.filter(|own| !own.is_loopback() && !own.is_unspecified()).collect()
}

/// From where a datagram to `to` would be sent; none is.
fn towards(to: IpAddr) -> io::Result<IpAddr> {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect((to, 9))?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_of_can_be_listened_at() {
        for address in addresses() {
            UdpSocket::bind((address, 0)).expect("an address of this machine");
        }
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(towards(loopback).expect("a way"), loopback);
    }
}
