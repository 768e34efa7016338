//! The choice among the transports that a client offers.

use std::net::IpAddr;

use thalweg_rtsp::transport::{Lower, Transport, Unsupported};

/// The way in which the packets of a track are delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Delivery {
    /// Datagrams to these ports of the client.
    Udp { rtp: u16, rtcp: u16 },
    /// Within the connection, on these channels.
    Interleaved { rtp: u8, rtcp: u8 },
}

/// The reason that none of a client's transports is accepted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    /// The media is to go to another address than that of the connection.
    Destination,
    /// None is known.
    Unsupported,
}

impl Delivery {
    /// The first acceptable transport of `header`. Media goes to the address of the connection, `peer`, alone: no client can
    /// have another host flooded. `channel` is the first of two channels that are free.
    pub(crate) fn choose(header: &str, peer: IpAddr, channel: u8) -> Result<Delivery, Refused> {
        let mut refused = Refused::Unsupported;
        for transport in Transport::list(header) {
            let transport = transport.map_err(|Unsupported| Refused::Unsupported);
            match transport.and_then(|transport| Delivery::of(transport, peer, channel)) {
                Ok(delivery) => return Ok(delivery),
                Err(Refused::Destination) => refused = Refused::Destination,
                Err(Refused::Unsupported) => {}
            }
        }
        Err(refused)
    }

    fn of(transport: Transport, peer: IpAddr, channel: u8) -> Result<Delivery, Refused> {
        let Transport { lower, is_multicast, append, mode, destination, interleaved, client_port, .. } = transport;
        if is_multicast || append || mode.is_some_and(|mode| mode != "PLAY") {
            return Err(Refused::Unsupported);
        }
        if destination.is_some_and(|destination| address(&destination) != Some(peer)) {
            return Err(Refused::Destination);
        }
        match (lower, client_port, interleaved) {
            (Lower::Tcp, _, None) => Ok(Delivery::Interleaved { rtp: channel, rtcp: channel.wrapping_add(1) }),
            (Lower::Tcp, _, Some((rtp, rtcp))) => match (u8::try_from(rtp), u8::try_from(rtcp)) {
                (Ok(rtp), Ok(rtcp)) if rtp != rtcp => Ok(Delivery::Interleaved { rtp, rtcp }),
                _ => Err(Refused::Unsupported),
            },
            // Well-known services are no players.
            (Lower::Udp, Some((rtp @ 1024.., rtcp @ 1024..)), _) => Ok(Delivery::Udp { rtp, rtcp }),
            (Lower::Udp, ..) => Err(Refused::Unsupported),
        }
    }

    /// The transport of an answer to a client, with the ports of the server if datagrams are used.
    pub(crate) fn chosen(self, server_port: (u16, u16)) -> Transport {
        let chosen = Transport { mode: Some("PLAY".to_owned()), ..Transport::default() };
        match self {
            Delivery::Udp { rtp, rtcp } => {
                Transport { client_port: Some((rtp, rtcp)), server_port: Some(server_port), ..chosen }
            }
            Delivery::Interleaved { rtp, rtcp } => {
                Transport { lower: Lower::Tcp, interleaved: Some((rtp.into(), rtcp.into())), ..chosen }
            }
        }
    }
}

/// An address; that of IPv6 may be in brackets.
fn address(text: &str) -> Option<IpAddr> {
    let within = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let address = within.unwrap_or(text).parse().ok().filter(|address: &IpAddr| within.is_none() || address.is_ipv6());
    address.map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(header: &str) -> Result<Delivery, Refused> {
        Delivery::choose(header, [192, 0, 2, 7].into(), 2)
    }

    #[test]
    fn first_transport_that_is_known_is_chosen() {
        let udp = Delivery::Udp { rtp: 4588, rtcp: 4589 };
        // RFC 2326 §12.39 and §10.4.
        let example = "RTP/AVP;multicast;ttl=127;mode=\"PLAY\",RTP/AVP;unicast;client_port=4588-4589;mode=\"PLAY\"";
        assert_eq!(choose(example), Ok(udp));
        assert_eq!(choose("RTP/AVP/UDP;unicast;client_port=4588"), Ok(udp));
        let interleaved = Ok(Delivery::Interleaved { rtp: 0, rtcp: 1 });
        assert_eq!(choose("RTP/SAVP;unicast;client_port=9000, RTP/AVP/TCP;unicast;interleaved=0-1"), interleaved);
        assert_eq!(choose("RTP/AVP/TCP;unicast"), Ok(Delivery::Interleaved { rtp: 2, rtcp: 3 }));
    }

    #[test]
    fn media_goes_to_the_address_of_the_connection_alone() {
        let to = |to: &str| choose(&format!("RTP/AVP;unicast;destination={to};client_port=5000-5001"));
        assert_eq!(to("192.0.2.8"), Err(Refused::Destination));
        assert_eq!(to("example.org"), Err(Refused::Destination));
        let udp = Ok(Delivery::Udp { rtp: 5000, rtcp: 5001 });
        assert_eq!([to("192.0.2.7"), to("[::ffff:192.0.2.7]")], [udp; 2]);
        assert_eq!(to("[192.0.2.7]"), Err(Refused::Destination));
        let peer = "2001:db8::7".parse().expect("an address");
        let to = |to: &str| Delivery::choose(&format!("RTP/AVP;destination={to};client_port=5000-5001"), peer, 0);
        assert_eq!([to("[2001:db8::7]"), to("2001:db8:0::7")], [udp; 2]);
        assert_eq!([to("[2001:db8::8]"), to("[2001:db8::7")], [Err(Refused::Destination); 2]);
    }

    #[test]
    fn other_transports_are_refused() {
        for header in [
            "",
            "RTP/AVP",
            "RTP/AVP;multicast",
            "RTP/AVP;client_port=0-1",
            "RTP/AVP;client_port=53",
            "RTP/AVP;client_port=65535",
            "RTP/AVP;client_port=x",
            "RTP/AVP;client_port=5000;mode=RECORD",
            "RTP/AVP/TCP;interleaved=0-256",
            "RTP/AVP/TCP;interleaved=3-3",
        ] {
            assert_eq!(choose(header), Err(Refused::Unsupported), "{header}");
        }
    }
}
