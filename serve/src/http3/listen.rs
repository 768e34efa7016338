//! The QUIC port, and limits on its connections.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::sync::Arc;

use quinn::crypto::rustls::QuicServerConfig;
use quinn::{Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig, VarInt};
use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
use thalweg_core::law::window::tcp_stream::Variant;
use thalweg_core::units::Rate;
use thalweg_quic::TcpStreamConfig;

use super::connection;
use crate::body::QUIC_SEND_WINDOW;
use crate::law::Law;
use crate::limits::Limits;
use crate::shared::Shared;
use crate::tls::Identity;

/// Limit on concurrent requests of a connection.
const REQUESTS: u32 = 32;
/// Limit on a client's unidirectional streams; HTTP/3 has three, and the rest are of types that the server may ignore.
const CONTROLS: u32 = 8;
/// Limits in bytes on unread data of a request, and of all requests of a connection.
const STREAM: u32 = 64 << 10;
const STREAMS: u32 = 256 << 10;
/// Limits on connections that wait to be accepted, and on their bytes.
const NEW: usize = 1024;
const NEW_BYTES: u64 = 4 << 20;
/// Size in bytes of the kernel's buffers for datagrams, if it permits as much: for bursts of many connections.
const DATAGRAMS: usize = 4 << 20;
/// Number of other ports that are tried if any will do.
const TRIES: usize = 20;

/// Opens a TCP port and the UDP port of the same number.
pub(crate) fn bind(at: SocketAddr) -> io::Result<(TcpListener, UdpSocket)> {
    let mut tries = TRIES;
    loop {
        let tcp = TcpListener::bind(at)?;
        match UdpSocket::bind(tcp.local_addr()?) {
            Ok(udp) => return Ok((tcp, udp)),
            Err(error) if at.port() == 0 && error.kind() == io::ErrorKind::AddrInUse && tries > 0 => tries -= 1,
            Err(error) => return Err(error),
        }
    }
}

/// Opens QUIC on a port; `rate` is that of connections whose video is not known yet.
///
/// # Errors
/// The system's reason.
pub(crate) fn open(
    socket: UdpSocket,
    identity: &Identity,
    law: &Law,
    rate: Rate,
    limits: &Limits,
) -> io::Result<Endpoint> {
    let _ = (set_socket_recv_buffer_size(&socket, DATAGRAMS), set_socket_send_buffer_size(&socket, DATAGRAMS));
    let tls = identity.over_quic().map_err(io::Error::other)?;
    let tls = QuicServerConfig::try_from(tls).map_err(io::Error::other)?;
    let mut config = ServerConfig::with_crypto(Arc::new(tls));
    config.transport_config(Arc::new(transport(law, rate, limits)?));
    config.max_incoming(NEW).incoming_buffer_size(u64::from(STREAM)).incoming_buffer_size_total(NEW_BYTES);
    Endpoint::new(EndpointConfig::default(), Some(config), socket, Arc::new(TokioRuntime))
}

fn transport(law: &Law, rate: Rate, limits: &Limits) -> io::Result<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(REQUESTS))
        .max_concurrent_uni_streams(VarInt::from_u32(CONTROLS))
        .max_idle_timeout(Some(limits.request.try_into().map_err(io::Error::other)?))
        .stream_receive_window(VarInt::from_u32(STREAM))
        .receive_window(VarInt::from_u32(STREAMS))
        .send_window(QUIC_SEND_WINDOW)
        // HTTP/3 datagrams are not used here.
        .datagram_receive_buffer_size(None);
    if let Some(thresholds) = law.thresholds_over_quic() {
        let variant = Variant { thresholds, ..Variant::default() };
        let config = TcpStreamConfig { rate, variant };
        transport.congestion_controller_factory(Arc::new(config));
    }
    Ok(transport)
}

/// Accepts connections as long as there are places, which they share with those over TCP.
pub(crate) async fn listen(endpoint: Endpoint, shared: Arc<Shared>) {
    while let Some(incoming) = endpoint.accept().await {
        // Once more than half of the places are taken, a client must validate its address first (RFC 9000 §8.1.2).
        let few = shared.places.free() * 2 < shared.limits.connections;
        if few && incoming.may_retry() && !incoming.remote_address_validated() {
            let _ = incoming.retry();
            continue;
        }
        let Some(place) = shared.places.take(incoming.remote_address().ip()) else {
            // A browser then continues over TCP, where it may wait.
            incoming.refuse();
            continue;
        };
        let occupant = place.occupant().clone();
        shared.admit(place, connection::serve(incoming, shared.clone(), occupant));
    }
}
