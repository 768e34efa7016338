//! Networks of addresses, as `recv --allow` names them.

use core::fmt;
use core::net::IpAddr;
use core::str::FromStr;

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network {
    base: IpAddr,
    bits: u32,
}

impl Network {
    /// Returns whether `address` is in the network; an IPv4-mapped IPv6 address, as an IPv6 socket reports it, counts
    /// as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.base, address.to_canonical()) {
            (IpAddr::V4(base), IpAddr::V4(address)) => {
                (base.to_bits() ^ address.to_bits()).leading_zeros() >= self.bits
            }
            (IpAddr::V6(base), IpAddr::V6(address)) => {
                (base.to_bits() ^ address.to_bits()).leading_zeros() >= self.bits
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = String;

    fn from_str(text: &str) -> Result<Network, String> {
        let (base, bits) = text.split_once('/').map_or((text, None), |(base, bits)| (base, Some(bits)));
        let base: IpAddr = base.parse().map_err(|_| format!("{base} is not an IP address"))?;
        let most = if base.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), str::parse).ok().filter(|bits| *bits <= most);
        let bits = bits.ok_or_else(|| format!("the prefix length must be /0 to /{most}"))?;
        let network = Network { base: base.to_canonical(), bits };
        if base.is_ipv6() && network.base.is_ipv4() {
            return Err(format!("{base} is an IPv4-mapped address; write {}", network.base));
        }
        Ok(network)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.base, self.bits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::{Ipv4Addr, Ipv6Addr};
    use proptest::prelude::*;

    fn contains(network: &str, address: &str) -> bool {
        network.parse::<Network>().expect(network).contains(address.parse().expect(address))
    }

    #[test]
    fn addresses_of_the_same_first_bits_are_contained() {
        for (network, inside, outside) in [
            ("192.0.2.0/24", "192.0.2.255", "192.0.3.0"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.6"),
            ("192.0.2.7", "::ffff:192.0.2.7", "::c000:207"),
            ("0.0.0.0/0", "255.1.2.3", "::1"),
            ("2001:db8::/33", "2001:db8:7fff::1", "2001:db8:8000::1"),
            ("::/0", "ff02::1", "192.0.2.1"),
        ] {
            assert!(contains(network, inside) && !contains(network, outside), "{network}");
        }
        for wrong in ["", "192.0.2.0/33", "::/129", "192.0.2.0/", "192.0.2/24", "a", "::ffff:192.0.2.0/120"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn networks_round_trip_through_text_and_contain_their_base(v4: u32, v6: u128, bits in 0u32..=32, is_v6: bool) {
            let base: IpAddr = if is_v6 { Ipv6Addr::from(v6 | 1 << 127).into() } else { Ipv4Addr::from(v4).into() };
            let network = Network { base, bits };
            prop_assert_eq!(network.to_string().parse(), Ok(network));
            prop_assert!(network.contains(base));
        }

        #[test]
        fn any_text_is_a_network_or_is_refused(text in r"\PC*|[0-9a-f.:]{0,20}(/[0-9]{0,4})?") {
            if let Ok(network) = text.parse::<Network>() {
                prop_assert_eq!(network.to_string().parse(), Ok(network));
            }
        }
    }
}
