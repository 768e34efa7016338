//! A UDP port that sends several datagrams in a call.

use std::io;
use std::net::{SocketAddr, UdpSocket as StdSocket};
use std::time::Duration;

use quinn_udp::{Transmit, UdpSocketState};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::time::sleep;

/// The longest datagram that is read.
const LONGEST: usize = 2048;
/// The size in bytes that is requested of the kernel's buffers, for each direction.
const BUFFER: usize = 4 << 20;

/// A UDP port. The kernel fragments datagrams that are longer than the MTU of their path.
#[derive(Debug)]
pub(super) struct Port {
    socket: UdpSocket,
    state: UdpSocketState,
}

impl Port {
    /// Takes a port into this runtime.
    pub(super) fn new(socket: StdSocket) -> io::Result<Port> {
        // Made of another socket: the options that it sets, among them that nothing is fragmented, are for a peer that finds the
        // MTU of its path, as QUIC does and RTP does not.
        let state = UdpSocketState::new((&StdSocket::bind((socket.local_addr()?.ip(), 0))?).into())?;
        // The kernel's own size holds the requests of some 250 viewers. It grants at most its `rmem_max` and `wmem_max`.
        state.set_recv_buffer_size((&socket).into(), BUFFER)?;
        state.set_send_buffer_size((&socket).into(), BUFFER)?;
        Ok(Port { socket: UdpSocket::from_std(socket)?, state })
    }

    /// Sends datagrams of `segment` bytes, the last of which may be shorter, in one call if the kernel splits them.
    pub(super) fn send(&self, to: SocketAddr, segment: usize, bytes: &[u8]) {
        for train in bytes.chunks(segment * self.state.max_gso_segments()) {
            let is_sent = self.try_send(to, segment, train).is_ok();
            if !is_sent && train.len() > segment {
                // The interface does not split, or each datagram has to be fragmented.
                for datagram in train.chunks(segment) {
                    let _ = self.try_send(to, segment, datagram);
                }
            }
        }
    }

    fn try_send(&self, to: SocketAddr, segment: usize, contents: &[u8]) -> io::Result<()> {
        let segment_size = (contents.len() > segment).then_some(segment);
        let transmit = Transmit { destination: to, ecn: None, contents, segment_size, src_ip: None };
        self.socket.try_io(Interest::WRITABLE, || self.state.try_send((&self.socket).into(), &transmit))
    }

    /// Passes datagrams to `take`, with canonical addresses.
    pub(super) async fn receive(&self, take: impl Fn(&[u8], SocketAddr)) {
        let mut buf = [0; LONGEST];
        loop {
            match self.socket.recv_from(&mut buf).await {
                Ok((len, from)) => take(&buf[..len], SocketAddr::new(from.ip().to_canonical(), from.port())),
                // Of an earlier datagram that could not be delivered.
                Err(_) => sleep(Duration::from_millis(1)).await,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rustix::net::sockopt::{Ipv4PathMtuDiscovery, ip_mtu_discover};
    use tokio::runtime::Builder;

    use super::*;

    /// Runs `test` with a port of this address.
    fn with_port(address: &str, test: impl FnOnce(Port)) {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let Ok(socket) = StdSocket::bind((address, 0)) else { return println!("skipped: no {address}") };
        socket.set_nonblocking(true).expect("a socket");
        runtime.block_on(async {
            let port = Port::new(socket).expect("a port");
            port.socket.writable().await.expect("a socket");
            test(port);
        });
    }

    #[test]
    fn train_arrives_as_datagrams() {
        for address in ["127.0.0.1", "::1"] {
            with_port(address, |port| {
                let receiver = StdSocket::bind((address, 0)).expect("a socket");
                receiver.set_read_timeout(Some(Duration::from_secs(5))).expect("a socket");
                let bytes: Vec<u8> = (0..3700).map(|nth| (nth % 251) as u8).collect();
                port.send(receiver.local_addr().expect("an address"), 1000, &bytes);
                let mut buf = [0; LONGEST];
                for sent in bytes.chunks(1000) {
                    let len = receiver.recv(&mut buf).expect("a datagram");
                    assert_eq!(&buf[..len], sent);
                }
            });
        }
    }

    #[test]
    fn datagrams_longer_than_the_mtu_of_the_path_may_be_fragmented() {
        for address in ["127.0.0.1", "::1"] {
            with_port(address, |port| {
                let mode = ip_mtu_discover(&port.socket).expect("a mode");
                assert!(![Ipv4PathMtuDiscovery::PROBE, Ipv4PathMtuDiscovery::DO].contains(&mode), "{mode:?}");
            });
        }
    }
}
