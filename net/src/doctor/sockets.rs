//! Abilities of UDP sockets on this kernel: offloads, buffers, IPv6 and multicast.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::Duration;

use quinn_udp::UdpSocketState;
use socket2::SockRef;

use super::Finding;
use crate::udp::BUFFER_SIZE;

/// Segmentation offload in each direction: bursts pass the stack as one packet.
pub(super) fn offloads() -> Vec<Finding> {
    let state = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| UdpSocketState::new((&socket).into()));
    let state = match state {
        Ok(state) => state,
        Err(error) => return vec![Finding::unknown("offload", format!("cannot open a UDP socket: {error}"))],
    };
    let (gso, gro) = (state.max_gso_segments(), state.gro_segments());
    let sending = if gso > 1 {
        Finding::good(
            "gso",
            format!("sends up to {gso} datagrams a call"),
            "packets that are due together take one call",
        )
    } else {
        Finding::poor(
            "gso",
            "sends one datagram a call",
            "sending takes more processor time; Linux 4.18 and later send several",
        )
    };
    let receiving = if gro > 1 {
        Finding::good(
            "gro",
            format!("reads up to {gro} datagrams a call"),
            "packets that arrive together take one call",
        )
    } else {
        Finding::poor(
            "gro",
            "reads one datagram a call",
            "receiving takes more processor time; Linux 5.0 and later read several",
        )
    };
    vec![sending.measure("datagrams", gso as f64), receiving.measure("datagrams", gro as f64)]
}

/// The buffer sizes that the kernel grants to sockets, all of which ask for [`BUFFER_SIZE`].
pub(super) fn buffers() -> Vec<Finding> {
    let granted = |direction: fn(&SockRef<'_>) -> io::Result<usize>| {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        // Linux doubles the requested size, for its own use, and reports the double.
        direction(&SockRef::from(&socket)).map(|bytes| bytes / 2)
    };
    let receive = granted(|socket| {
        socket.set_recv_buffer_size(BUFFER_SIZE)?;
        socket.recv_buffer_size()
    });
    let send = granted(|socket| {
        socket.set_send_buffer_size(BUFFER_SIZE)?;
        socket.send_buffer_size()
    });
    vec![
        buffer("receive_buffer", receive, "net.core.rmem_max", "a receiver that is delayed longer loses packets"),
        buffer("send_buffer", send, "net.core.wmem_max", "longer bursts lose packets"),
    ]
}

fn buffer(name: &'static str, granted: io::Result<usize>, limit: &str, otherwise: &str) -> Finding {
    let granted = match granted {
        Ok(granted) => granted,
        Err(error) => return Finding::unknown(name, format!("cannot be set: {error}")),
    };
    let default = limit.replace("_max", "_default");
    let setting = |name: &str| {
        let text = std::fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))).ok()?;
        text.trim().parse::<u64>().ok()
    };
    let known = |name: &str| setting(name).map_or("unknown".to_owned(), |bytes| kib(bytes as usize));
    let found = format!(
        "{} of the requested {} (default {}, maximum {})",
        kib(granted),
        kib(BUFFER_SIZE),
        known(&default),
        known(limit)
    );
    let millis = granted as f64 * 8.0 / 1e9 * 1e3;
    let holds = format!("holds {millis:.1} ms of 1 Gb/s");
    let finding = if granted >= BUFFER_SIZE {
        Finding::good(name, found, holds)
    } else {
        Finding::poor(name, found, format!("{holds}; {otherwise}")).fix(format!("sudo sysctl -w {limit}={BUFFER_SIZE}"))
    };
    finding.measure("granted_bytes", granted as f64)
}

fn kib(bytes: usize) -> String {
    format!("{} KiB", bytes >> 10)
}

pub(super) fn ipv6() -> Finding {
    match UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)) {
        Ok(_) => Finding::good("ipv6", "yes", "addresses such as [::1]:6000 work"),
        Err(error) => Finding::poor("ipv6", format!("no: {error}"), "only IPv4 addresses work")
            .fix("sudo sysctl -w net.ipv6.conf.all.disable_ipv6=0"),
    }
}

/// A group for private use (RFC 2365 §6.1).
const GROUP: Ipv4Addr = Ipv4Addr::new(239, 255, 84, 87);

pub(super) fn multicast() -> Finding {
    match echo(GROUP) {
        Ok(()) => Finding::good(
            "multicast",
            "a group receives its own datagrams",
            "udp://239.x.x.x inputs and outputs work here",
        ),
        Err(error) => {
            Finding::poor("multicast", format!("no: {error}"), "udp://239.x.x.x needs a route that carries multicast")
                .fix("sudo ip link set lo multicast on")
                .fix("sudo ip route add 239.0.0.0/8 dev lo")
        }
    }
}

/// Sends a datagram to a group and waits for it to return.
fn echo(group: Ipv4Addr) -> io::Result<()> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED)?;
    socket.set_multicast_loop_v4(true)?;
    // No other host on the network needs to receive this.
    socket.set_multicast_ttl_v4(0)?;
    socket.set_read_timeout(Some(Duration::from_millis(300)))?;
    let question = std::process::id().to_be_bytes();
    socket.send_to(&question, (group, socket.local_addr()?.port()))?;
    let mut answer = [0; 4];
    let (length, _) = socket.recv_from(&mut answer).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            io::Error::other("the datagram sent to a group did not arrive")
        }
        _ => error,
    })?;
    if answer[..length] == question { Ok(()) } else { Err(io::Error::other("another datagram arrived instead")) }
}
