//! The two UDP ports of the server, which all sessions share: RTP leaves from the even one, RTCP from the next. Under R3CP+
//! both use the even one.

mod port;
mod recipients;
mod train;

use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket as StdSocket};
use std::sync::{Mutex, MutexGuard, PoisonError};

use thalweg_core::wire::rtcp::{Compound, Packet};
use thalweg_core::wire::rtp::is_rtcp;
use thalweg_core::wire::stored::{Message, Probe};
use tokio::sync::mpsc::Sender;

use self::port::Port;
use self::recipients::Recipients;
pub(crate) use self::train::Train;
use super::playback::{Arrival, Claim, Route};
use crate::error::plain;

/// Pairs of ports that are tried.
const TRIES: usize = 64;

/// The ports, and the sessions to which datagrams belong.
#[derive(Debug)]
pub(crate) struct Datagrams {
    rtp: Port,
    rtcp: Port,
    ports: (u16, u16),
    /// True if the sockets reach IPv4 by mapped addresses.
    is_ipv6: bool,
    recipients: Mutex<Recipients>,
}

/// The sockets of RTP and RTCP.
pub(crate) type Pair = (StdSocket, StdSocket);

impl Datagrams {
    /// Opens the even port that follows the port of RTSP and the next one (RFC 3550 §11), so that a firewall can be opened
    /// for them. If one is taken, opens any such pair, and returns a line for the operator.
    pub(crate) fn bind(address: IpAddr, rtsp: u16) -> io::Result<(Pair, Option<String>)> {
        let Some(port) = following(rtsp) else { return Ok((any_pair(address)?, None)) };
        match pair(address, port) {
            Ok(pair) => Ok((pair, None)),
            Err(error) => {
                let pair = any_pair(address)?;
                let own = pair.0.local_addr()?.port();
                let why = plain(&error);
                let note = format!(
                    "RTSP: UDP ports {port} and {}: {why}; RTP and RTCP leave from {own} and {}",
                    port + 1,
                    own + 1
                );
                Ok((pair, Some(note)))
            }
        }
    }

    /// Takes the ports into this runtime.
    pub(crate) fn new((rtp, rtcp): Pair) -> io::Result<Datagrams> {
        let (local, ports) = (rtp.local_addr()?, (rtp.local_addr()?.port(), rtcp.local_addr()?.port()));
        let (rtp, rtcp) = (Port::new(rtp)?, Port::new(rtcp)?);
        Ok(Datagrams { rtp, rtcp, ports, is_ipv6: local.is_ipv6(), recipients: Mutex::default() })
    }

    /// The ports of RTP and RTCP.
    pub(crate) fn ports(&self) -> (u16, u16) {
        self.ports
    }

    /// Sends datagrams of one route, all but the last of `segment` bytes. Without space in the socket's buffer they are lost, as
    /// they might be on the path.
    pub(crate) fn send(&self, route: Route, segment: usize, bytes: &[u8]) {
        let (port, to) = match route {
            Route::Rtp(to) => (&self.rtp, to),
            Route::Rtcp(to) => (&self.rtcp, to),
            Route::Channel(_) => return,
        };
        let to = match to.ip() {
            IpAddr::V4(ip) if self.is_ipv6 => SocketAddr::new(ip.to_ipv6_mapped().into(), to.port()),
            _ => to,
        };
        port.send(to, segment, bytes);
    }

    /// Has datagrams with a mark passed to its session, until [`Datagrams::forget`]; reports only from `client`.
    pub(crate) fn register(&self, claim: Claim, client: IpAddr, arrivals: Sender<Arrival>) {
        self.recipients().register(claim, client.to_canonical(), arrivals);
    }

    pub(crate) fn forget(&self, claim: Claim) {
        self.recipients().forget(claim);
    }

    /// Passes datagrams to their sessions until the server ends.
    pub(crate) async fn receive(&self) {
        tokio::join!(
            self.rtp.receive(|bytes, from| self.on_datagram(bytes, from)),
            self.rtcp.receive(|bytes, from| self.on_reports(bytes, from.ip())),
        );
    }

    /// Takes a datagram of R3CP+. No other arrives at the port of RTP.
    fn on_datagram(&self, bytes: &[u8], from: SocketAddr) {
        if is_rtcp(bytes)
            && let Some(arrivals) = self.recipients().of_datagram(from, || key_of(bytes))
        {
            // A session that does not keep up misses a message, which is repeated.
            let _ = arrivals.try_send(Arrival::Datagram { from, bytes: bytes.to_vec() });
        }
    }

    fn on_reports(&self, bytes: &[u8], from: IpAddr) {
        let Ok(compound) = Compound::parse(bytes) else { return };
        for packet in compound.frames().filter_map(|frame| Packet::parse(frame).ok()) {
            let Packet::Report(report) = packet else { continue };
            for block in report.blocks() {
                if let Some(arrivals) = self.recipients().of_report(block.ssrc, from) {
                    // A session that does not keep up misses one of many.
                    let _ = arrivals.try_send(Arrival::Report(block));
                }
            }
        }
    }

    fn recipients(&self) -> MutexGuard<'_, Recipients> {
        self.recipients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The key of a probe, if the datagram is one.
fn key_of(bytes: &[u8]) -> Option<u64> {
    let compound = Compound::parse(bytes).ok()?;
    let mut packets = compound.frames().filter_map(|frame| Packet::parse(frame).ok());
    packets.find_map(|packet| match packet {
        Packet::App(app) => match Message::parse(&app) {
            Ok(Some(Message::Probe(Probe { key, .. }))) => Some(key),
            _ => None,
        },
        _ => None,
    })
}

/// The even port that follows `rtsp`; none if any port may be used, or none follows.
fn following(rtsp: u16) -> Option<u16> {
    (rtsp > 0).then(|| rtsp.checked_add(2)).flatten().map(|port| port & !1)
}

/// Opens an even port and the next one.
fn pair(address: IpAddr, port: u16) -> io::Result<Pair> {
    let pair = (StdSocket::bind((address, port))?, StdSocket::bind((address, port + 1))?);
    pair.0.set_nonblocking(true)?;
    pair.1.set_nonblocking(true)?;
    Ok(pair)
}

/// Opens any even port and the next one.
fn any_pair(address: IpAddr) -> io::Result<Pair> {
    let mut last = ErrorKind::AddrInUse.into();
    for _ in 0..TRIES {
        // The kernel names a free port, which is free again for the pair.
        let port = StdSocket::bind((address, 0))?.local_addr()?.port() & !1;
        match pair(address, port) {
            Ok(pair) => return Ok(pair),
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_follow_that_of_rtsp_unless_they_are_taken() {
        assert_eq!([8554, 8555, 554, 65533].map(following), [Some(8556), Some(8556), Some(556), Some(65534)]);
        assert_eq!([0, 65534, 65535].map(following), [None; 3]);
        // An address that no other test uses.
        let address = IpAddr::from([127, 85, 54, 1]);
        let ports = |(rtp, rtcp): &Pair| [rtp, rtcp].map(|socket| socket.local_addr().expect("an address").port());
        let (taken, note) = Datagrams::bind(address, 0).expect("ports");
        let [even, odd] = ports(&taken);
        assert_eq!((even % 2, odd, note), (0, even + 1, None));
        let (other, note) = Datagrams::bind(address, even - 1).expect("other ports");
        let [rtp, rtcp] = ports(&other);
        let note = note.expect("a line");
        assert!(note.contains(&format!("{even} and {odd}")) && note.ends_with(&format!("{rtp} and {rtcp}")), "{note}");
        drop(taken);
        let (free, note) = Datagrams::bind(address, even - 2).expect("the ports");
        assert_eq!((ports(&free), note), ([even, odd], None));
    }
}
