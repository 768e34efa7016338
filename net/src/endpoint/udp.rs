//! Addresses of datagrams, as people write them: `239.1.1.1:5000?iface=eth0`.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::num::NonZeroU32;
use std::str::FromStr;

use super::ParseError;
use crate::udp::{Multicast, Socket, route_to, unspecified};

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
    /// Reads `HOST:PORT`, or a port alone, `PORT` or `:PORT`, which is on loopback.
    ///
    /// # Errors
    /// The text is none of these.
    pub fn or_loopback(text: &str) -> Result<Host, ParseError> {
        match port_of(text.strip_prefix(':').unwrap_or(text), text)? {
            Some(port) => Ok(Host { name: "127.0.0.1".to_owned(), port }),
            None => text.parse(),
        }
    }

    /// Looks the name up and takes the first address.
    ///
    /// # Errors
    /// There is no such host, or nobody to ask; or its address means another host on every interface, and it names none.
    pub fn resolve(&self) -> io::Result<SocketAddr> {
        self.in_scope(self.look_up()?)
    }

    /// Looks the name up for calling who listens there: the first IPv4 address that this machine has a way to, or else the
    /// first address. Who listens on any address of one family often means IPv4, and who listens on any at all hears both.
    ///
    /// # Errors
    /// As [`Host::resolve`].
    pub fn resolve_called(&self) -> io::Result<SocketAddr> {
        let addresses = self.addresses()?;
        let has_way = |address: SocketAddr| route_to(address, Multicast::default()).is_ok();
        self.in_scope(called(&addresses, has_way).ok_or_else(no_address)?)
    }

    fn in_scope(&self, address: SocketAddr) -> io::Result<SocketAddr> {
        if is_unscoped(address) {
            let example = format!("[{}%eth0]:{}", address.ip(), self.port);
            return Err(invalid(&format!("a link-local address needs its interface, as in {example}")));
        }
        Ok(address)
    }

    /// Its address, if that needs no looking up.
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
    /// Its address, with the interface that it is on where the address alone does not say which host it means.
    ///
    /// # Errors
    /// No such host or interface.
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

    fn names_a_way(&self) -> bool {
        self.interface.is_some() || self.ttl.is_some()
    }

    /// Opens a socket that receives what is sent there.
    ///
    /// # Errors
    /// No such host or interface, or the kernel's reason.
    pub fn receiving(&self) -> io::Result<Socket> {
        let at = self.resolve()?;
        Socket::receiving(at, self.multicast(at)?)
    }

    /// Opens a socket that sends there, and says where that is.
    ///
    /// # Errors
    /// No such host or interface, or the kernel's reason.
    pub fn sending(&self) -> io::Result<(Socket, SocketAddr)> {
        let to = self.resolve()?;
        Ok((Socket::sending(unspecified(to), to, self.multicast(to)?)?, to))
    }

    /// How `address`, which is its own, is reached where that is a group.
    ///
    /// # Errors
    /// No such interface; or it is no group, and says how to reach one.
    pub fn multicast(&self, address: SocketAddr) -> io::Result<Multicast> {
        if !address.ip().is_multicast() && self.names_a_way() {
            return Err(invalid("iface and ttl are for multicast groups"));
        }
        let interface = self.interface.as_deref().map(interface_index).transpose()?;
        Ok(Multicast { interface, ttl: self.ttl })
    }
}

/// Whether an address is one of every interface's own (RFC 4007 §4: interface-local and link-local) and names none.
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

/// Which of a host's addresses is called.
fn called(addresses: &[SocketAddr], has_way: impl Fn(SocketAddr) -> bool) -> Option<SocketAddr> {
    let near = addresses.iter().find(|address| address.is_ipv4() && has_way(**address));
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
        if udp.names_a_way() && udp.host.number().is_some_and(|ip| !ip.is_multicast()) {
            return Err(ParseError(format!("'{text}' is no multicast group: iface and ttl are for those")));
        }
        Ok(udp)
    }
}

impl FromStr for Host {
    type Err = ParseError;

    /// `HOST:PORT`, `[IPV6]:PORT` or `[IPV6%INTERFACE]:PORT`; `:PORT` is any address.
    fn from_str(text: &str) -> Result<Host, ParseError> {
        let error = || match port_of(text, text) {
            Ok(Some(port)) => ParseError(format!("'{text}' is not HOST:PORT; the port alone is :{port}")),
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

/// The port that `digits` are, if they are digits; `text` is what they are a part of.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_every_interfaces_own_needs_one() {
        let resolved = |text: &str| text.parse::<Udp>().expect(text).resolve();
        let is_lo = |text: &str| match resolved(text).expect(text) {
            SocketAddr::V6(address) => address.scope_id() == interface_index("lo").expect("loopback").get(),
            SocketAddr::V4(_) => false,
        };
        // RFC 4291 §2.5.6 and §2.7: link-local hosts, and groups of interface-local and link-local scope.
        for text in ["[fe80::1]:5000", "[ff02::1]:5000", "[ff12::8]:5000", "[ff11::8]:5000"] {
            let error = resolved(text).expect_err(text).to_string();
            assert!(error.contains("needs its interface, as in [f") && error.contains("%eth0]:5000"), "{error}");
        }
        assert!(is_lo("[fe80::1%lo]:5000") && is_lo("[ff12::8%lo]:5000"));
        assert!(is_lo("[ff12::8]:5000?iface=lo") && is_lo("[ff11::8]:5000?iface=lo"));
        assert!(resolved("[ff15::8]:5000").is_ok() && resolved("[2001:db8::1]:5000").is_ok());
    }

    #[test]
    fn of_a_name_with_both_families_ipv4_is_called_unless_there_is_no_way() {
        let [v6, far, near] = ["[2001:db8::1]:7", "192.0.2.1:7", "198.51.100.1:7"].map(|it| it.parse().expect(it));
        let all = [v6, far, near];
        assert_eq!(called(&all, |_| true), Some(far));
        assert_eq!(called(&all, |address| address != far), Some(near));
        assert_eq!(called(&all, |_| false), Some(v6), "as the resolver has it");
        assert_eq!(called(&[v6], |_| true), Some(v6));
        assert_eq!(called(&[], |_| true), None);
    }

    #[test]
    fn a_port_alone_is_on_loopback_and_a_port_is_made_of_digits() {
        let read = |text: &str| Host::or_loopback(text).map(|host| host.to_string());
        assert_eq!(
            ["9100", ":9100", "h:9100"].map(read),
            ["127.0.0.1:9100", "127.0.0.1:9100", "h:9100"].map(|it| Ok(it.to_owned()))
        );
        for (text, why) in
            [("99999", "has a port above 65535"), ("+1", "is not HOST:PORT"), ("h:+1", "is not HOST:PORT")]
        {
            assert_eq!(read(text), Err(ParseError(format!("'{text}' {why}"))));
        }
    }

    #[test]
    fn who_writes_a_port_alone_where_a_host_belongs_reads_how_to() {
        let error = "8080".parse::<Host>().expect_err("no host");
        assert_eq!(error.to_string(), "'8080' is not HOST:PORT; the port alone is :8080");
    }

    #[test]
    fn a_group_of_a_link_is_joined_on_the_interface_that_is_named() {
        if std::net::UdpSocket::bind("[::1]:0").is_err() {
            println!("skipped: this machine has no IPv6");
            return;
        }
        for text in ["[ff12::8]:0?iface=lo", "[ff11::8]:0?iface=lo", "[ff12::8%lo]:0", "[ff15::8]:0?iface=lo"] {
            let group: Udp = text.parse().expect(text);
            group.receiving().unwrap_or_else(|error| panic!("{text}: {error}"));
        }
    }

    #[test]
    fn multicast_options_are_refused_where_they_mean_nothing() {
        for text in ["127.0.0.1:5000?ttl=4", "[::1%lo]:5000?iface=lo", ":5000?iface=lo"] {
            assert!(text.parse::<Udp>().expect_err(text).to_string().contains("no multicast group"));
        }
        let udp: Udp = "localhost:0?ttl=4".parse().expect("what a name stands for is not known yet");
        assert!(udp.receiving().is_err());
        let udp: Udp = "239.1.1.1:0?iface=no-such-if0".parse().expect("well formed");
        assert!(udp.receiving().expect_err("no such interface").to_string().contains("no-such-if0"));
    }
}
