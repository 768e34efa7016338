//! Datagrams that would return to their sender.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// True if datagrams sent to `to` arrive at `listen`.
pub fn comes_in(listen: SocketAddr, to: SocketAddr) -> bool {
    if listen.port() != to.port() || to.port() == 0 {
        return false;
    }
    // The kernel treats "any address" as a destination on this machine.
    let to = match to.ip().to_canonical() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    let takes_it = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => to.is_ipv4(),
        IpAddr::V6(ip) if ip.is_unspecified() => true,
        ip => ip.to_canonical() == to,
    };
    // An address belongs to this machine if a socket can have it. Groups have to be joined.
    let is_here = || !to.is_multicast() && UdpSocket::bind((to, 0)).is_ok();
    takes_it && (!listen.ip().is_unspecified() || is_here())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listener_receives_datagrams_to_its_address_or_any_local_one() {
        let takes = |listen: &str, to: &str| comes_in(listen.parse().expect(listen), to.parse().expect(to));
        for listen in ["127.0.0.1:5000", "0.0.0.0:5000", "[::]:5000"] {
            assert!(takes(listen, "127.0.0.1:5000") && takes(listen, "0.0.0.0:5000"), "{listen}");
            // RFC 5737: an example's address, which no machine has.
            assert!(!takes(listen, "127.0.0.1:5001") && !takes(listen, "192.0.2.1:5000"), "{listen}");
        }
        assert!(!takes("127.0.0.1:0", "127.0.0.1:0") && !takes("127.0.0.1:5000", "127.0.0.2:5000"));
        assert!(!takes("0.0.0.0:5000", "[::1]:5000") && !takes("0.0.0.0:5000", "239.1.1.1:5000"));
        assert!(takes("239.1.1.1:5000", "239.1.1.1:5000"));
    }
}
