//! The header `Transport` (RFC 2326 §12.39): the ways in which packets can be delivered.

use std::fmt;

/// A transport: one that a client offers, or that which a server has chosen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Transport {
    /// The lower transport.
    pub lower: Lower,
    /// True if packets go to a multicast group.
    pub is_multicast: bool,
    /// True if a recording is to be continued.
    pub append: bool,
    /// The method, `PLAY` if it is left out.
    pub mode: Option<String>,
    /// The address to which packets go.
    pub destination: Option<String>,
    /// The channels of RTP and RTCP within the connection.
    pub interleaved: Option<(u16, u16)>,
    /// The ports of RTP and RTCP at the client.
    pub client_port: Option<(u16, u16)>,
    /// The ports of RTP and RTCP at the server.
    pub server_port: Option<(u16, u16)>,
    /// The SSRC of the packets.
    pub ssrc: Option<u32>,
    /// True if RTP and RTCP share a port (RFC 5761), in the words of RFC 7826 §18.54.
    pub is_muxed: bool,
}

/// A lower transport under RTP/AVP.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Lower {
    /// UDP, which is also meant where none is named.
    #[default]
    Udp,
    /// The connection of RTSP.
    Tcp,
}

/// A transport that is malformed, or not RTP/AVP.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Unsupported;

impl Transport {
    /// The transports of a header, in the order of preference.
    pub fn list(header: &str) -> impl Iterator<Item = Result<Transport, Unsupported>> {
        header.split(',').map(|transport| Transport::parse(transport.trim()))
    }

    /// Parses one transport. Unknown parameters are ignored.
    ///
    /// # Errors
    /// The profile is not RTP/AVP, or a number is malformed.
    pub fn parse(transport: &str) -> Result<Transport, Unsupported> {
        let mut parameters = transport.split(';').map(str::trim);
        let protocol = parameters.next().unwrap_or_default().to_ascii_uppercase();
        let lower = match protocol.as_str() {
            "RTP/AVP" | "RTP/AVP/UDP" => Lower::Udp,
            "RTP/AVP/TCP" => Lower::Tcp,
            _ => return Err(Unsupported),
        };
        let mut parsed = Transport { lower, ..Transport::default() };
        for parameter in parameters {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name.to_ascii_lowercase().as_str() {
                "multicast" => parsed.is_multicast = true,
                "append" => parsed.append = true,
                "mode" => parsed.mode = Some(value.trim_matches('"').to_ascii_uppercase()),
                "destination" => parsed.destination = Some(value.to_owned()),
                "interleaved" => parsed.interleaved = Some(pair(value)?),
                "client_port" => parsed.client_port = Some(pair(value)?),
                "server_port" => parsed.server_port = Some(pair(value)?),
                // Not all servers write it in hexadecimal, and no one needs it.
                "ssrc" => parsed.ssrc = u32::from_str_radix(value.trim(), 16).ok(),
                "rtcp-mux" => parsed.is_muxed = true,
                _ => {}
            }
        }
        Ok(parsed)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.lower {
            Lower::Udp => "RTP/AVP;",
            Lower::Tcp => "RTP/AVP/TCP;",
        })?;
        f.write_str(if self.is_multicast { "multicast" } else { "unicast" })?;
        if let Some(destination) = &self.destination {
            write!(f, ";destination={destination}")?;
        }
        let pairs =
            [("interleaved", self.interleaved), ("client_port", self.client_port), ("server_port", self.server_port)];
        for (name, pair) in pairs {
            if let Some((rtp, rtcp)) = pair {
                write!(f, ";{name}={rtp}-{rtcp}")?;
            }
        }
        if let Some(ssrc) = self.ssrc {
            write!(f, ";ssrc={ssrc:08X}")?;
        }
        if self.is_muxed {
            f.write_str(";RTCP-mux")?;
        }
        if self.append {
            f.write_str(";append")?;
        }
        self.mode.as_ref().map_or(Ok(()), |mode| write!(f, ";mode=\"{mode}\""))
    }
}

/// Two numbers; the second is one more than the first where it is left out.
fn pair(text: &str) -> Result<(u16, u16), Unsupported> {
    let number = |text: &str| text.trim().parse::<u16>().map_err(|_| Unsupported);
    match text.split_once('-') {
        Some((first, second)) => Ok((number(first)?, number(second)?)),
        None => number(text).and_then(|first| Ok((first, first.checked_add(1).ok_or(Unsupported)?))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn transports_of_rfc_2326_are_parsed() {
        // §12.39.
        let example = "RTP/AVP;multicast;ttl=127;mode=\"PLAY\",RTP/AVP;unicast;client_port=3456-3457;mode=\"PLAY\"";
        let transports: Vec<_> = Transport::list(example).map(|transport| transport.expect("a transport")).collect();
        let mode = Some("PLAY".to_owned());
        let multicast = Transport { is_multicast: true, mode: mode.clone(), ..Transport::default() };
        let unicast = Transport { client_port: Some((3456, 3457)), mode, ..Transport::default() };
        assert_eq!(transports, [multicast, unicast]);
        // §10.12 and §14.1.
        let tcp = Transport::parse("RTP/AVP/TCP;interleaved=0-1").expect("a transport");
        assert_eq!((tcp.lower, tcp.interleaved), (Lower::Tcp, Some((0, 1))));
        let chosen = "RTP/AVP/UDP;unicast;client_port=3056-3057;server_port=5000-5001";
        assert_eq!(Transport::parse(chosen).map(|chosen| chosen.server_port), Ok(Some((5000, 5001))));
    }

    #[test]
    fn other_profiles_and_malformed_numbers_are_refused() {
        for transport in
            ["", "RAW/RAW/UDP;unicast", "RTP/SAVP;unicast", "RTP/AVP;client_port=x", "RTP/AVP;client_port=65535"]
        {
            assert_eq!(Transport::parse(transport), Err(Unsupported), "{transport}");
        }
    }

    proptest! {
        #[test]
        fn written_transports_are_parsed_as_they_were(
            is_tcp: bool, is_multicast: bool, is_muxed: bool, append: bool,
            pairs in prop::array::uniform3(prop::option::of(any::<(u16, u16)>())),
            ssrc: Option<u32>, mode in prop::option::of("[A-Z]{1,8}"), destination in prop::option::of("[0-9a-f:.]{1,20}"),
        ) {
            let [interleaved, client_port, server_port] = pairs;
            let lower = if is_tcp { Lower::Tcp } else { Lower::Udp };
            let transport = Transport {
                lower, is_multicast, append, mode, destination, interleaved, client_port, server_port, ssrc, is_muxed,
            };
            prop_assert_eq!(Transport::parse(&transport.to_string()), Ok(transport));
        }
    }
}
