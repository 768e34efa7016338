//! UDP sockets: batches, segmentation offload, multicast.

mod inbox;
mod outbox;
mod routing_loop;
#[cfg(test)]
mod tests;

pub use inbox::Inbox;
pub use outbox::Outbox;
pub use routing_loop::comes_in;

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd};

use quinn_udp::{Transmit, TransportErrorPayload, UdpSocketState};
use rustix::net::sockopt;
use socket2::{Domain, InterfaceIndexOrAddress, Protocol, SockAddr, Type};

/// Buffer size in bytes that every socket requests for each direction; the kernel grants at most its `rmem_max` and
/// `wmem_max`.
pub const BUFFER_SIZE: usize = 4 << 20;

/// The interface and the TTL for a multicast group.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Multicast {
    /// The interface's index; none leaves the choice to the routing table.
    pub interface: Option<NonZeroU32>,
    /// The number of networks that a datagram may cross; the kernel's own default is 1.
    pub ttl: Option<u8>,
}

/// A UDP socket that never blocks and that survives any ICMP error.
#[derive(Debug)]
pub struct Socket {
    socket: socket2::Socket,
    state: UdpSocketState,
    local: SocketAddr,
    /// True if ICMP's errors are asked for.
    hears_errors: bool,
    unsent: u64,
    last_error: Option<io::Error>,
}

impl Socket {
    /// A socket at `local` for a peer; port 0 takes a free one.
    ///
    /// # Errors
    /// The address is not ours, or its port is in use.
    pub fn bind(local: SocketAddr) -> io::Result<Socket> {
        let socket = open(local)?;
        socket.bind(&local.into())?;
        Socket::new(socket)
    }

    /// A socket that receives datagrams sent to `at`, which may be a multicast group; the socket then joins the group,
    /// and may share the address with other programs.
    ///
    /// # Errors
    /// The address is not ours, its port is in use, or the group cannot be joined.
    pub fn receiving(at: SocketAddr, multicast: Multicast) -> io::Result<Socket> {
        if !at.ip().is_multicast() {
            return Socket::bind(at);
        }
        let socket = open(at)?;
        socket.set_reuse_address(true)?;
        socket.bind(&SockAddr::from(at))?;
        join(&socket, at, multicast.interface.map_or(scope(at), NonZeroU32::get))?;
        Socket::new(socket)
    }

    /// A socket at `from` that sends to `to`, which may be a multicast group.
    ///
    /// # Errors
    /// The kernel has no socket of this family, or no such interface; or `from` is not ours, or its port in use.
    pub fn sending(from: SocketAddr, to: SocketAddr, multicast: Multicast) -> io::Result<Socket> {
        let socket = aimed(to, multicast)?;
        socket.bind(&from.into())?;
        Socket::new(socket)
    }

    /// Asks the kernel for ICMP errors about sent datagrams. From then on [`Socket::take_unreachable`] must be called
    /// after each [`Socket::receive`].
    ///
    /// # Errors
    /// The kernel's reason.
    pub fn hear_errors(&mut self) -> io::Result<()> {
        self.state.enable_transport_errors((&self.socket).into())?;
        self.hears_errors = true;
        Ok(())
    }

    fn new(socket: socket2::Socket) -> io::Result<Socket> {
        let state = UdpSocketState::new((&socket).into())?;
        let local = socket.local_addr()?.as_socket().unwrap_or(unspecified(SocketAddr::from(([0; 4], 0))));
        Ok(Socket { socket, state, local, hears_errors: false, unsent: 0, last_error: None })
    }

    /// The local address.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// The TTL of datagrams to a group: the number of networks that they may cross.
    ///
    /// # Errors
    /// The kernel's reason.
    pub fn multicast_ttl(&self) -> io::Result<u8> {
        let ttl =
            if self.local.is_ipv4() { self.socket.multicast_ttl_v4()? } else { self.socket.multicast_hops_v6()? };
        Ok(u8::try_from(ttl).unwrap_or(u8::MAX))
    }

    /// Fills `inbox` with arrived datagrams; returns true if more may be waiting.
    pub fn receive(&self, inbox: &mut Inbox) -> bool {
        inbox.fill(|buffers, meta| self.state.recv((&self.socket).into(), buffers, meta))
    }

    /// True if ICMP has reported since the last call that the destination is unreachable.
    pub fn take_unreachable(&self) -> bool {
        let mut is_unreachable = false;
        // An error that stays in the kernel's queue would wake every poll.
        while self.hears_errors
            && let Ok(Some(error)) = self.state.recv_transport_error((&self.socket).into())
        {
            is_unreachable |= matches!(error.payload, TransportErrorPayload::Unreachable);
        }
        is_unreachable
    }

    /// The number of datagrams that one call may send.
    fn max_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    /// Sends `bytes` as datagrams of `segment` bytes each, the last possibly shorter. Datagrams that the kernel refuses
    /// are lost, like anywhere else on the path, and counted.
    fn send(&mut self, to: SocketAddr, bytes: &[u8], segment: usize) {
        let mut outcome = self.try_send(to, bytes, segment);
        if self.hears_errors && outcome.as_ref().is_err_and(is_of_an_earlier_one) {
            outcome = self.try_send(to, bytes, segment);
        }
        let Err(error) = outcome else { return };
        if segment >= bytes.len() || self.max_segments() > 1 {
            self.lose(bytes.len().div_ceil(segment.max(1)).max(1), error);
            return;
        }
        // The interface turned out not to segment; from now on every datagram is sent alone, these too.
        for datagram in bytes.chunks(segment) {
            if let Err(error) = self.try_send(to, datagram, segment) {
                self.lose(1, error);
            }
        }
    }

    fn try_send(&self, to: SocketAddr, bytes: &[u8], segment: usize) -> io::Result<()> {
        let segment_size = (segment < bytes.len()).then_some(segment);
        let transmit = Transmit { destination: to, ecn: None, contents: bytes, segment_size, src_ip: None };
        self.state.try_send((&self.socket).into(), &transmit)
    }

    fn lose(&mut self, datagrams: usize, error: io::Error) {
        self.unsent += datagrams as u64;
        self.last_error = Some(error);
    }

    /// The number of datagrams that the kernel has refused.
    pub fn unsent(&self) -> u64 {
        self.unsent
    }

    /// The kernel's latest reason for refusing a datagram since the last call, if any.
    pub fn take_error(&mut self) -> Option<io::Error> {
        self.last_error.take()
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// True if an error may be ICMP's answer to an earlier datagram: such an error fails the next call.
fn is_of_an_earlier_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, HostUnreachable, NetworkUnreachable};
    matches!(error.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable)
}

fn open(family_of: SocketAddr) -> io::Result<socket2::Socket> {
    let socket = socket2::Socket::new(Domain::for_address(family_of), Type::DGRAM, Some(Protocol::UDP))?;
    // The kernel caps silently; `thalweg doctor` shows the granted size.
    socket.set_recv_buffer_size(BUFFER_SIZE)?;
    socket.set_send_buffer_size(BUFFER_SIZE)?;
    Ok(socket)
}

fn join(socket: &socket2::Socket, group: SocketAddr, interface: u32) -> io::Result<()> {
    match group.ip() {
        IpAddr::V4(group) => socket.join_multicast_v4_n(&group, &InterfaceIndexOrAddress::Index(interface)),
        IpAddr::V6(group) => socket.join_multicast_v6(&group, interface),
    }
}

/// A socket that sends to `to`; if that is a group, as `multicast` says.
fn aimed(to: SocketAddr, multicast: Multicast) -> io::Result<socket2::Socket> {
    let socket = open(to)?;
    if to.ip().is_multicast() {
        aim(&socket, to, multicast)?;
    }
    Ok(socket)
}

fn aim(socket: &socket2::Socket, group: SocketAddr, multicast: Multicast) -> io::Result<()> {
    let interface = multicast.interface.map(NonZeroU32::get).or((scope(group) != 0).then_some(scope(group)));
    match group {
        SocketAddr::V4(_) => {
            if let Some(index) = interface {
                sockopt::set_ip_multicast_if_with_ifindex(
                    socket,
                    &Ipv4Addr::UNSPECIFIED,
                    &Ipv4Addr::UNSPECIFIED,
                    index,
                )?;
            }
            multicast.ttl.map_or(Ok(()), |ttl| socket.set_multicast_ttl_v4(ttl.into()))
        }
        SocketAddr::V6(_) => {
            if let Some(index) = interface {
                socket.set_multicast_if_v6(index)?;
            }
            multicast.ttl.map_or(Ok(()), |ttl| socket.set_multicast_hops_v6(ttl.into()))
        }
    }
}

fn scope(address: SocketAddr) -> u32 {
    match address {
        SocketAddr::V4(_) => 0,
        SocketAddr::V6(address) => address.scope_id(),
    }
}

/// Any address and any port, in the family of `like`.
pub fn unspecified(like: SocketAddr) -> SocketAddr {
    match like {
        SocketAddr::V4(_) => SocketAddr::from(([0; 4], 0)),
        SocketAddr::V6(_) => SocketAddr::from(([0u16; 8], 0)),
    }
}

/// The source address of datagrams to `to`; if that is a group, as `multicast` says.
///
/// # Errors
/// There is no route.
pub fn route_to(to: SocketAddr, multicast: Multicast) -> io::Result<SocketAddr> {
    let probe = aimed(to, multicast)?;
    // Connecting a datagram socket asks the routing table and sends nothing.
    probe.connect(&to.into())?;
    Ok(probe.local_addr()?.as_socket().unwrap_or(unspecified(to)))
}
