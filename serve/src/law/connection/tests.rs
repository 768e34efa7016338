//! Rate control over QUIC and TCP, on loopback.

#[path = "../../../tests/common/trusting.rs"]
mod trusting;

use std::net::UdpSocket;
use std::time::Duration;

use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Endpoint, EndpointConfig, TokioRuntime};
use rustix::net::sockopt;
use tokio::runtime::Builder;
use tokio::time::{sleep, timeout};

use super::*;
use crate::http3::open;
use crate::limits::Limits;
use crate::places::Places;
use crate::tls::Identity;

const TIMEOUT: Duration = Duration::from_secs(30);

fn occupant() -> Arc<Occupant> {
    let places = Places::new(1);
    places.take([192, 0, 2, 1].into()).expect("a place").occupant().clone()
}

fn port() -> UdpSocket {
    UdpSocket::bind("127.0.0.1:0").expect("a port")
}

/// A connection on the server's side, and the endpoints of both sides.
async fn pair(law: &Law) -> (Connection, [Endpoint; 2]) {
    let identity = Identity::own("").expect("a certificate");
    let server = open(port(), &identity, law, Rate::from_mbps(1), &Limits::default()).expect("a server");
    let mut client = Endpoint::new(EndpointConfig::default(), None, port(), Arc::new(TokioRuntime)).expect("a client");
    let tls = QuicClientConfig::try_from(trusting::client(b"h3")).expect("TLS 1.3");
    client.set_default_client_config(ClientConfig::new(Arc::new(tls)));
    let connecting = client.connect(server.local_addr().expect("a port"), "localhost").expect("a call");
    tokio::spawn(async move {
        let connection = connecting.await.expect("a handshake");
        while let Ok(mut stream) = connection.accept_uni().await {
            let _ = stream.read_to_end(1 << 20).await;
        }
    });
    let incoming = server.accept().await.expect("a call");
    (incoming.accept().expect("a call").await.expect("a handshake"), [server, client])
}

/// Sends until the ceiling of the law's loss window, in segments, is as expected.
async fn until(connection: &Connection, is_so: impl Fn(u32) -> bool) {
    let sending = async {
        let cap = || TcpStream::of(&*connection.congestion_state()).expect("the law").law().cap();
        while !cap().is_some_and(&is_so) {
            let mut stream = connection.open_uni().await.expect("a stream");
            stream.write_all(&[0; 10_000]).await.expect("it is read");
            stream.finish().expect("it is open");
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(TIMEOUT, sending).await.expect("in time");
}

#[test]
fn quic_controller_gets_the_sum_of_the_video_rates() {
    let (law, _) = Law::choose(Some(Choice::TcpStream), &"no_such_law".parse().expect("a name"));
    let law = Arc::new(law);
    Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(async {
        let (connection, _ends) = pair(&law).await;
        // The segments that a round trip of 20 us to 5 s carries at 1 Mb/s, and at 1 Tb/s.
        let (slow, fast) = (|cap| cap < 600, |cap| cap > 1000);
        until(&connection, slow).await;
        let control = ConnectionRate::new(law.clone(), Transport::Quic(connection.clone()), Arc::default(), occupant());
        let (sound, picture) = (Rate::from_mbps(1), Rate::from_mbps(1_000_000));
        assert_eq!(control.play(sound), None);
        assert_eq!(control.play(picture), None);
        until(&connection, fast).await;
        // The end of the picture waits a moment; then the next piece of the sound is alone.
        control.end(picture, Span::from_millis(200));
        assert_eq!(control.take(1 << 20), Ok(1 << 20));
        assert_eq!(control.state().applied.expect("a rate").0, Rate::from_mbps(1_000_001));
        sleep(Duration::from_millis(200)).await;
        assert_eq!(control.take(1 << 20), Ok(1 << 20));
        until(&connection, slow).await;
    });
}

#[test]
fn paced_and_system_do_not_use_tcp_stream_over_quic() {
    for (choice, taken) in [(Choice::Paced, 10_000_000), (Choice::System, u64::MAX)] {
        let law = Arc::new(Law::choose(Some(choice), &"no_such_law".parse().expect("a name")).0);
        Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(async {
            let (connection, _ends) = pair(&law).await;
            assert!(TcpStream::of(&*connection.congestion_state()).is_none());
            let control = ConnectionRate::new(law.clone(), Transport::Quic(connection), Arc::default(), occupant());
            assert_eq!(control.play(Rate::from_mbps(8)), None);
            // Ten seconds of the video, or all of it.
            assert_eq!(control.take(u64::MAX), Ok(taken));
        });
    }
}

/// `reno`, which every kernel has, stands for the law; the accepted socket has it, as it would from a listener.
#[test]
fn download_has_system_control_over_tcp_and_a_high_ceiling_over_quic() {
    let (law, _) = Law::choose(Some(Choice::TcpStream), &"reno".parse().expect("a name"));
    let law = Arc::new(law);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let _client = std::net::TcpStream::connect(listener.local_addr().expect("a port")).expect("it listens");
    let socket = OwnedFd::from(listener.accept().expect("a connection").0);
    sockopt::set_tcp_congestion(&socket, "reno").expect("every kernel has it");
    let control = ConnectionRate::new(
        law.clone(),
        Transport::Tcp(socket.try_clone().expect("a socket")),
        Arc::default(),
        occupant(),
    );
    drop(Download::of(Arc::new(control)));
    let system = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").expect("Linux");
    let expected = if system.trim() == "reno" { "cubic" } else { system.trim() };
    assert_eq!(sockopt::tcp_congestion(&socket).expect("a name"), expected);
    Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(async {
        let (connection, _ends) = pair(&law).await;
        let control =
            Arc::new(ConnectionRate::new(law.clone(), Transport::Quic(connection.clone()), Arc::default(), occupant()));
        control.play(Rate::from_mbps(1));
        until(&connection, |cap| cap < 100).await;
        let download = Download::of(control.clone());
        until(&connection, |cap| cap > 100).await;
        drop(download);
        until(&connection, |cap| cap < 100).await;
    });
}
