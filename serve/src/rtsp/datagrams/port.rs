//! A UDP port that sends and receives several datagrams in a call.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddr, UdpSocket as StdSocket};
use std::time::Duration;

use quinn_udp::{RecvMeta, Transmit, UdpSocketState};
use tokio::io::Interest;
use tokio::net::UdpSocket;
use tokio::time::sleep;

/// The space for datagrams that the kernel has joined (UDP GRO).
const READ: usize = 64 << 10;
/// The size in bytes that is requested of the kernel's buffers, for each direction.
const BUFFER: usize = 4 << 20;

/// A UDP port.
#[derive(Debug)]
pub(super) struct Port {
    socket: UdpSocket,
    state: UdpSocketState,
}

impl Port {
    /// Takes a port into this runtime.
    pub(super) fn new(socket: StdSocket) -> io::Result<Port> {
        let state = UdpSocketState::new((&socket).into())?;
        // The kernel's own size holds the requests of some 250 viewers. It grants at most its `rmem_max` and `wmem_max`.
        state.set_recv_buffer_size((&socket).into(), BUFFER)?;
        state.set_send_buffer_size((&socket).into(), BUFFER)?;
        Ok(Port { socket: UdpSocket::from_std(socket)?, state })
    }

    /// Sends datagrams of `segment` bytes, the last of which may be shorter, in one call if the kernel splits them.
    pub(super) fn send(&self, to: SocketAddr, segment: usize, bytes: &[u8]) {
        for contents in bytes.chunks(segment * self.state.max_gso_segments()) {
            let segment_size = (contents.len() > segment).then_some(segment);
            let transmit = Transmit { destination: to, ecn: None, contents, segment_size, src_ip: None };
            let send = || self.state.try_send((&self.socket).into(), &transmit);
            let _ = self.socket.try_io(Interest::WRITABLE, send);
        }
    }

    /// Passes datagrams to `take`, with canonical addresses.
    pub(super) async fn receive(&self, take: impl Fn(&[u8], SocketAddr)) {
        let (mut buf, mut meta) = (vec![0; READ], [RecvMeta::default()]);
        loop {
            let receive = || self.state.recv((&self.socket).into(), &mut [IoSliceMut::new(&mut buf)], &mut meta);
            let Ok(_) = self.socket.async_io(Interest::READABLE, receive).await else {
                // Of an earlier datagram that could not be delivered.
                sleep(Duration::from_millis(1)).await;
                continue;
            };
            let [RecvMeta { addr, len, stride, .. }] = meta;
            let from = SocketAddr::new(addr.ip().to_canonical(), addr.port());
            buf[..len].chunks(stride.max(1)).for_each(|datagram| take(datagram, from));
        }
    }
}
