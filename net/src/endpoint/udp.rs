//! Addresses of datagrams, as people write them: `239.1.1.1:5000?iface=eth0`.

use std::fmt;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::num::NonZeroU32;
use std::str::FromStr;

use super::ParseError;
use crate::udp::{Multicast, Socket};

/// A UDP address and how to reach it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Udp {
    /// The address or group.
    pub host: Host,
    /// Multicast through this interface alone.
    pub interface: Option<String>,
    /// Multicast across so many networks.
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
    /// Looks the name up and takes the first address.
    ///
    /// # Errors
    /// There is no such host, or nobody to ask.
    pub fn resolve(&self) -> io::Result<SocketAddr> {
        if self.name.is_empty() {
            return Ok(SocketAddr::from(([0; 4], self.port)));
        }
        let mut addresses = (self.name.as_str(), self.port).to_socket_addrs()?;
        addresses.next().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "the host has no address"))
    }
}

impl Udp {
    /// Opens a socket that receives what is sent there.
    ///
    /// # Errors
    /// No such host or interface, or the kernel's reason.
    pub fn receiving(&self) -> io::Result<Socket> {
        let at = self.host.resolve()?;
        Socket::receiving(at, self.multicast(at)?)
    }

    /// Opens a socket that sends there, and says where that is.
    ///
    /// # Errors
    /// No such host or interface, or the kernel's reason.
    pub fn sending(&self) -> io::Result<(Socket, SocketAddr)> {
        if self.host.name.is_empty() || self.host.port == 0 {
            return Err(invalid("an output needs a host and a port"));
        }
        let to = self.host.resolve()?;
        Ok((Socket::sending(to, self.multicast(to)?)?, to))
    }

    fn multicast(&self, address: SocketAddr) -> io::Result<Multicast> {
        if !address.ip().is_multicast() && (self.interface.is_some() || self.ttl.is_some()) {
            return Err(invalid("iface and ttl are for multicast addresses"));
        }
        let interface = self.interface.as_deref().map(interface_index).transpose()?;
        Ok(Multicast { interface, ttl: self.ttl })
    }
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
        // VLC and ffmpeg write udp://@239.1.1.1:5000 for what is received.
        let host = host.strip_prefix('@').unwrap_or(host);
        let host = host.strip_suffix('/').unwrap_or(host).parse()?;
        let mut udp = Udp { host, interface: None, ttl: None };
        for option in query.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("iface", name)) if !name.is_empty() => udp.interface = Some(name.to_owned()),
                Some(("ttl", ttl)) => {
                    udp.ttl = Some(ttl.parse().map_err(|_| ParseError(format!("ttl={ttl} is not 0 to 255")))?);
                }
                _ => return Err(ParseError(format!("'{option}' is neither iface=NAME nor ttl=N"))),
            }
        }
        Ok(udp)
    }
}

impl FromStr for Host {
    type Err = ParseError;

    /// `HOST:PORT`, `[IPV6]:PORT` or `[IPV6%INTERFACE]:PORT`; `:PORT` is any address.
    fn from_str(text: &str) -> Result<Host, ParseError> {
        let error = || ParseError(format!("'{text}' is not HOST:PORT"));
        let (name, port) = text.rsplit_once(':').ok_or_else(error)?;
        let bracketed = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let too_high = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let refused = |_| if too_high { ParseError(format!("'{text}' has a port above 65535")) } else { error() };
        let port = port.parse().map_err(refused)?;
        let name = match bracketed {
            // RFC 3986 §3.2.2: brackets are for IPv6 alone.
            Some(name) if name.contains(':') && !name.contains(['/', '@', '[', ']']) => name,
            None if !name.contains([':', '/', '@', '[', ']']) => name,
            _ => return Err(error()),
        };
        Ok(Host { name: name.to_owned(), port })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multicast_options_are_refused_where_they_mean_nothing() {
        let udp: Udp = "127.0.0.1:0?ttl=4".parse().expect("well formed");
        assert!(udp.receiving().is_err());
        let udp: Udp = "239.1.1.1:0?iface=no-such-if0".parse().expect("well formed");
        assert!(udp.receiving().expect_err("no such interface").to_string().contains("no-such-if0"));
    }
}
