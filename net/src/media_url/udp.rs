//! UDP addresses as command-line arguments: `239.1.1.1:5000?iface=eth0`.

#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::num::NonZeroU32;
use std::str::FromStr;

use super::ParseError;
use crate::udp::{Multicast, Socket, route_to, unspecified};

/// A UDP address and its multicast options.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Udp {
    /// The address or group.
    pub host: Host,
    /// The only interface for multicast.
    pub interface: Option<String>,
    /// The TTL for multicast: the number of networks that a datagram may cross.
    pub ttl: Option<u8>,
}

/// A host, by name or number, and a port.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    /// Name or number; empty means any address of this machine.
    pub name: String,
    /// Port.
    pub port: u16,
}

impl Host {
    /// Parses `HOST:PORT`, or a port alone, `PORT` or `:PORT`, which is on loopback.
    ///
    /// # Errors
    /// The text is none of these.
    pub fn or_loopback(text: &str) -> Result<Host, ParseError> {
        match port_of(text.strip_prefix(':').unwrap_or(text), text)? {
            Some(port) => Ok(Host { name: "127.0.0.1".to_owned(), port }),
            None => text.parse(),
        }
    }

    /// Resolves the name to its first address.
    ///
    /// # Errors
    /// The host is unknown, or the resolver fails; or its address is link-local, which needs an interface, and has
    /// none.
    pub fn resolve(&self) -> io::Result<SocketAddr> {
        self.in_scope(self.look_up()?)
    }

    /// Resolves the name for a connection to a listener: the first IPv4 address that this machine has a route to, or
    /// else the first address. A listener on any address of one family is often on IPv4; one on any address of both
    /// receives both.
    ///
    /// # Errors
    /// As [`Host::resolve`].
    pub fn resolve_called(&self) -> io::Result<SocketAddr> {
        let addresses = self.addresses()?;
        let has_route = |address: SocketAddr| route_to(address, Multicast::default()).is_ok();
        self.in_scope(choose_address(&addresses, has_route).ok_or_else(no_address)?)
    }

    fn in_scope(&self, address: SocketAddr) -> io::Result<SocketAddr> {
        if is_unscoped(address) {
            let example = format!("[{}%eth0]:{}", address.ip(), self.port);
            return Err(invalid(&format!("a link-local address needs its interface, as in {example}")));
        }
        Ok(address)
    }

    /// The address, if it needs no resolver.
    fn number(&self) -> Option<IpAddr> {
        match self.name.split('%').next() {
            Some("") => Some(Ipv4Addr::UNSPECIFIED.into()),
            number => number?.parse().ok(),
        }
    }

    fn look_up(&self) -> io::Result<SocketAddr> {
        self.addresses()?.first().copied().ok_or_else(no_address)
    }

    fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        if self.name.is_empty() {
            return Ok(vec![SocketAddr::from(([0; 4], self.port))]);
        }
        Ok((self.name.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

impl Udp {
    /// Resolves the host; the interface is added to an address that is ambiguous without one.
    ///
    /// # Errors
    /// There is no such host or interface.
    pub fn resolve(&self) -> io::Result<SocketAddr> {
        let Some(interface) = &self.interface else { return self.host.resolve() };
        let mut address = self.host.look_up()?;
        if is_unscoped(address)
            && let SocketAddr::V6(address) = &mut address
        {
            address.set_scope_id(interface_index(interface)?.get());
        }
        Ok(address)
    }

    fn has_multicast_options(&self) -> bool {
        self.interface.is_some() || self.ttl.is_some()
    }

    /// Opens a socket that receives datagrams sent to this address.
    ///
    /// # Errors
    /// There is no such host or interface, or the kernel's reason.
    pub fn receiving(&self) -> io::Result<Socket> {
        let at = self.resolve()?;
        Socket::receiving(at, self.multicast(at)?)
    }

    /// Opens a socket that sends to this address, and returns the resolved address.
    ///
    /// # Errors
    /// There is no such host or interface, or the kernel's reason.
    pub fn sending(&self) -> io::Result<(Socket, SocketAddr)> {
        let to = self.resolve()?;
        Ok((Socket::sending(unspecified(to), to, self.multicast(to)?)?, to))
    }

    /// The multicast options for `address`, the resolved address of this host.
    ///
    /// # Errors
    /// There is no such interface; or `address` is not a group, and there are options for one.
    pub fn multicast(&self, address: SocketAddr) -> io::Result<Multicast> {
        if !address.ip().is_multicast() && self.has_multicast_options() {
            return Err(invalid("iface and ttl can be used with multicast groups only"));
        }
        let interface = self.interface.as_deref().map(interface_index).transpose()?;
        Ok(Multicast { interface, ttl: self.ttl })
    }
}

/// True if an address is interface-local or link-local (RFC 4007 §4) and names no interface.
fn is_unscoped(address: SocketAddr) -> bool {
    match address {
        SocketAddr::V4(_) => false,
        SocketAddr::V6(address) => {
            let [first, second, ..] = address.ip().octets();
            // RFC 4291 §2.7: the scope of a group is in its fourth nibble.
            let is_local_group = first == 0xff && matches!(second & 0xf, 1 | 2);
            address.scope_id() == 0 && (is_local_group || address.ip().is_unicast_link_local())
        }
    }
}

/// The address to connect to, out of a host's addresses.
fn choose_address(addresses: &[SocketAddr], has_route: impl Fn(SocketAddr) -> bool) -> Option<SocketAddr> {
    let near = addresses.iter().find(|address| address.is_ipv4() && has_route(**address));
    near.or(addresses.first()).copied()
}

fn no_address() -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, "the host has no address")
}

fn interface_index(name: &str) -> io::Result<NonZeroU32> {
    let any_socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::DGRAM, None)?;
    let index = rustix::net::netdevice::name_to_index(&any_socket, name)
        .map_err(|error| io::Error::new(error.kind(), format!("no interface {name}")))?;
    NonZeroU32::new(index).ok_or_else(|| invalid("no such interface"))
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

impl FromStr for Udp {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Udp, ParseError> {
        let (host, query) = text.split_once('?').unwrap_or((text, ""));
        // VLC and ffmpeg write udp://@239.1.1.1:5000 for an input.
        let host = host.strip_prefix('@').unwrap_or(host);
        let host = host.strip_suffix('/').unwrap_or(host).parse()?;
        let mut udp = Udp { host, interface: None, ttl: None };
        for option in query.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("iface", name)) if !name.is_empty() => udp.interface = Some(name.to_owned()),
                Some(("ttl", ttl)) => {
                    udp.ttl = Some(ttl.parse().map_err(|_| ParseError(format!("ttl={ttl} is not in 0 to 255")))?);
                }
                _ => return Err(ParseError(format!("'{option}' is neither iface=NAME nor ttl=N"))),
            }
        }
        if udp.has_multicast_options() && udp.host.number().is_some_and(|ip| !ip.is_multicast()) {
            return Err(ParseError(format!(
                "'{text}' is not a multicast group: iface and ttl can be used with groups only"
            )));
        }
        Ok(udp)
    }
}

impl FromStr for Host {
    type Err = ParseError;

    /// Parses `HOST:PORT`, `[IPV6]:PORT` or `[IPV6%INTERFACE]:PORT`; `:PORT` is any address.
    fn from_str(text: &str) -> Result<Host, ParseError> {
        let error = || match port_of(text, text) {
            Ok(Some(port)) => ParseError(format!("'{text}' is not HOST:PORT; write :{port} for any address")),
            _ => ParseError(format!("'{text}' is not HOST:PORT")),
        };
        let (name, port) = text.rsplit_once(':').ok_or_else(error)?;
        let bracketed = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let port = port_of(port, text)?.ok_or_else(error)?;
        let name = match bracketed {
            // RFC 3986 §3.2.2: brackets are for IPv6 alone.
            Some(name) if name.contains(':') && !name.contains(['/', '@', '[', ']']) => name,
            None if !name.contains([':', '/', '@', '[', ']']) => name,
            _ => return Err(error()),
        };
        Ok(Host { name: name.to_owned(), port })
    }
}

/// The port, if `digits` are digits; `text` is the argument that contains them.
fn port_of(digits: &str, text: &str) -> Result<Option<u16>, ParseError> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(None);
    }
    digits.parse().map(Some).map_err(|_| ParseError(format!("'{text}' has a port above 65535")))
}

impl fmt::Display for Udp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.host, f)?;
        match (&self.interface, self.ttl) {
            (Some(name), Some(ttl)) => write!(f, "?iface={name}&ttl={ttl}"),
            (Some(name), None) => write!(f, "?iface={name}"),
            (None, Some(ttl)) => write!(f, "?ttl={ttl}"),
            (None, None) => Ok(()),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.contains(':') {
            write!(f, "[{}]:{}", self.name, self.port)
        } else {
            write!(f, "{}:{}", self.name, self.port)
        }
    }
}
