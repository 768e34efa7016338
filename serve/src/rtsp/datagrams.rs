//! The two UDP ports of the server, which all sessions share: RTP leaves from the even one, RTCP from the next.

use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket as StdSocket};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use thalweg_core::wire::rtcp::{Compound, Packet, ReportBlock};
use tokio::net::UdpSocket;
use tokio::sync::mpsc::Sender;
use tokio::time::sleep;

/// Pairs of ports that are tried.
const TRIES: usize = 64;
/// The longest RTCP datagram that is read.
const LONGEST: usize = 2048;

/// The ports, and the sessions to which reports belong.
#[derive(Debug)]
pub(crate) struct Datagrams {
    rtp: UdpSocket,
    rtcp: UdpSocket,
    ports: (u16, u16),
    sessions: Mutex<HashMap<u32, Recipient>>,
}

#[derive(Debug)]
struct Recipient {
    /// The address of the client: reports from others do not count.
    client: IpAddr,
    reports: Sender<ReportBlock>,
}

impl Datagrams {
    /// Opens an even port and the next one (RFC 3550 §11).
    pub(crate) fn bind(address: IpAddr) -> io::Result<(StdSocket, StdSocket)> {
        let mut last = ErrorKind::AddrInUse.into();
        for _ in 0..TRIES {
            let first = StdSocket::bind((address, 0))?;
            let port = first.local_addr()?.port();
            let other = if port % 2 == 0 { port.checked_add(1) } else { port.checked_sub(1) };
            let Some(other) = other else { continue };
            match StdSocket::bind((address, other)) {
                Ok(second) => {
                    first.set_nonblocking(true)?;
                    second.set_nonblocking(true)?;
                    return Ok(if port % 2 == 0 { (first, second) } else { (second, first) });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Takes the ports into this runtime.
    pub(crate) fn new((rtp, rtcp): (StdSocket, StdSocket)) -> io::Result<Datagrams> {
        let ports = (rtp.local_addr()?.port(), rtcp.local_addr()?.port());
        let (rtp, rtcp) = (UdpSocket::from_std(rtp)?, UdpSocket::from_std(rtcp)?);
        Ok(Datagrams { rtp, rtcp, ports, sessions: Mutex::default() })
    }

    /// The ports of RTP and RTCP.
    pub(crate) fn ports(&self) -> (u16, u16) {
        self.ports
    }

    /// Sends a datagram. Without space in the socket's buffer it is lost, as it might be on the path.
    pub(crate) fn send(&self, is_rtcp: bool, to: SocketAddr, bytes: &[u8]) {
        let socket = if is_rtcp { &self.rtcp } else { &self.rtp };
        let to = match (socket.local_addr(), to.ip()) {
            // A socket of IPv6 reaches IPv4 by mapped addresses.
            (Ok(SocketAddr::V6(_)), IpAddr::V4(ip)) => SocketAddr::new(ip.to_ipv6_mapped().into(), to.port()),
            _ => to,
        };
        let _ = socket.try_send_to(bytes, to);
    }

    /// Has reports of `client` about a stream passed to its session, until [`Datagrams::forget`].
    pub(crate) fn register(&self, ssrc: u32, client: IpAddr, reports: Sender<ReportBlock>) {
        self.sessions().insert(ssrc, Recipient { client: client.to_canonical(), reports });
    }

    pub(crate) fn forget(&self, ssrc: u32) {
        self.sessions().remove(&ssrc);
    }

    /// Passes reports to their sessions until the server ends.
    pub(crate) async fn receive(&self) {
        let mut buf = [0; LONGEST];
        loop {
            match self.rtcp.recv_from(&mut buf).await {
                Ok((len, from)) => self.take(&buf[..len], from.ip().to_canonical()),
                // Of an earlier datagram that could not be delivered.
                Err(_) => sleep(Duration::from_millis(1)).await,
            }
        }
    }

    fn take(&self, bytes: &[u8], from: IpAddr) {
        let Ok(compound) = Compound::parse(bytes) else { return };
        for packet in compound.frames().filter_map(|frame| Packet::parse(frame).ok()) {
            let Packet::Report(report) = packet else { continue };
            for block in report.blocks() {
                if let Some(recipient) = self.sessions().get(&block.ssrc).filter(|recipient| recipient.client == from) {
                    // A session that does not keep up misses one of many.
                    let _ = recipient.reports.try_send(block);
                }
            }
        }
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<u32, Recipient>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
