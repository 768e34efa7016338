//! Addresses at which other hosts find this machine.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

/// Addresses reserved for documentation (RFC 5737 §3, RFC 3849 §4): the route to them is that to any other host.
const DOCUMENTATION: [IpAddr; 2] =
    [IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))];

/// The addresses from which this machine reaches others, at most one of IPv4 and one of IPv6; none without a route.
pub fn addresses() -> Vec<IpAddr> {
    let outward = DOCUMENTATION.into_iter().filter_map(|address| source_address(address).ok());
    outward.filter(|own| !own.is_loopback() && !own.is_unspecified()).collect()
}

/// The source address of a datagram to `to`; none is sent.
fn source_address(to: IpAddr) -> io::Result<IpAddr> {
    let any: IpAddr = if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect((to, 9))?;
    Ok(socket.local_addr()?.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reported_addresses_can_be_bound() {
        for address in addresses() {
            UdpSocket::bind((address, 0)).expect("an address of this machine");
        }
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(source_address(loopback).expect("a way"), loopback);
    }
}
