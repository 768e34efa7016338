//! A quinn server and a quinn client over the lab's links, in virtual time.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn_proto::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TransportConfig, VarInt};
use rustls::RootCertStore;
use rustls::pki_types::PrivateKeyDer;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;
use thalweg_lab::node::Node;
use thalweg_lab::packet::{Body, Packet};
use thalweg_lab::path::Path;
use thalweg_quic::{TcpStream, TcpStreamConfig};

use crate::host::Host;

const SERVER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), 443);
const CLIENT: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)), 50_000);

/// A server and a client, joined by a forward and a backward path.
pub(crate) struct Pair {
    began: Instant,
    now: Time,
    server: Host,
    client: Host,
    pub(crate) forward: Path,
    backward: Path,
}

impl Pair {
    pub(crate) fn new(config: TcpStreamConfig, forward: Path, backward: Path) -> Pair {
        let began = Instant::now();
        let (server_config, client_config) = configs(config);
        let endpoint = |server: Option<ServerConfig>, seed| {
            let mut config = EndpointConfig::default();
            config.rng_seed(Some([seed; 32]));
            Endpoint::new(Arc::new(config), server.map(Arc::new), true, None)
        };
        let server = Host::new(endpoint(Some(server_config), 1), CLIENT);
        let mut client = Host::new(endpoint(None, 2), SERVER);
        client.connect(began, client_config);
        Pair { began, now: Time::ZERO, server, client, forward, backward }
    }

    /// Runs until `until`; returns the bytes that the client has read since the last call.
    pub(crate) fn run(&mut self, until: Time) -> Bytes {
        let before = self.client.bytes;
        loop {
            self.settle();
            match self.next().filter(|&next| next <= until) {
                Some(next) => self.now = next.max(self.now),
                None => break,
            }
        }
        self.now = until;
        Bytes(self.client.bytes - before)
    }

    /// The server's controller; the server must have a connection.
    pub(crate) fn control(&self) -> TcpStream {
        let (_, connection) = self.server.connection.as_ref().expect("a connection");
        TcpStream::of(connection.congestion_state()).expect("the server's is ours")
    }

    /// Packets that the server declared lost.
    pub(crate) fn lost(&self) -> u64 {
        self.server.connection.as_ref().map_or(0, |(_, connection)| connection.stats().path.lost_packets)
    }

    /// Handles everything that is due now.
    fn settle(&mut self) {
        let (now, instant) = (self.now, self.instant());
        loop {
            let arrived = self.forward.hand_out(now).packet;
            if let Some(Packet { body: Body::Datagram(bytes), .. }) = &arrived {
                self.client.handle(instant, bytes);
            }
            let answered = self.backward.hand_out(now).packet;
            if let Some(Packet { body: Body::Datagram(bytes), .. }) = &answered {
                self.server.handle(instant, bytes);
            }
            let sent = self.server.poll(instant).map(|bytes| Packet::datagram(0, bytes.to_vec()));
            let replied = self.client.poll(instant).map(|bytes| Packet::datagram(0, bytes.to_vec()));
            if arrived.is_none() && answered.is_none() && sent.is_none() && replied.is_none() {
                return;
            }
            if let Some(packet) = sent {
                self.forward.accept(now, packet);
            }
            if let Some(packet) = replied {
                self.backward.accept(now, packet);
            }
        }
    }

    fn next(&mut self) -> Option<Time> {
        let began = self.began;
        // Rounded up: an endpoint woken too early would be woken at the same time for ever.
        let time = |due: Instant| Time::ZERO + Span::from_nanos(due.saturating_duration_since(began).as_nanos() as u64);
        let timeouts = [self.server.timeout().map(time), self.client.timeout().map(time)];
        timeouts.into_iter().chain([self.forward.next(), self.backward.next()]).flatten().min()
    }

    fn instant(&self) -> Instant {
        self.began + Duration::from_nanos(self.now.as_nanos())
    }
}

fn configs(control: TcpStreamConfig) -> (ServerConfig, ClientConfig) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a name");
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let mut server = ServerConfig::with_single_cert(vec![certificate.clone()], key).expect("a certificate");
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(Arc::new(control));
    server.transport_config(Arc::new(transport));
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a certificate");
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).expect("roots");
    let mut transport = TransportConfig::default();
    // The client's flow control must not limit the server.
    transport.stream_receive_window(VarInt::from_u32(64 << 20)).receive_window(VarInt::from_u32(64 << 20));
    client.transport_config(Arc::new(transport));
    (server, client)
}
