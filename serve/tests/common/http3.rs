//! An HTTP/3 client that a test controls.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

use h3::client::{RequestStream, SendRequest};
use hyper::body::{Buf, Bytes};
use hyper::{Method, Request, Response};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, Endpoint, EndpointConfig, TokioRuntime, TransportConfig, VarInt};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::{TIMEOUT, trusting};

pub(crate) type Stream = RequestStream<h3_quinn::BidiStream<Bytes>, Bytes>;

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A client endpoint whose streams take `window` unread bytes.
pub(crate) fn endpoint(window: u32) -> Endpoint {
    endpoint_at("127.0.0.1:0", window)
}

/// The same at another address of this machine.
pub(crate) fn endpoint_at(address: &str, window: u32) -> Endpoint {
    let tls = QuicClientConfig::try_from(trusting::client(b"h3")).expect("TLS 1.3");
    let mut config = ClientConfig::new(Arc::new(tls));
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(window));
    config.transport_config(Arc::new(transport));
    let socket = UdpSocket::bind(address).expect("a port");
    let mut endpoint =
        Endpoint::new(EndpointConfig::default(), None, socket, Arc::new(TokioRuntime)).expect("an endpoint");
    endpoint.set_default_client_config(config);
    endpoint
}

pub(crate) async fn connect(endpoint: &Endpoint, server: SocketAddr) -> Connection {
    let connecting = endpoint.connect(server, "localhost").expect("a connection");
    timeout(TIMEOUT, connecting).await.expect("in time").expect("a handshake")
}

/// A client with a connection, and the handle for its requests.
pub(crate) struct Client {
    pub(crate) connection: Connection,
    pub(crate) requests: SendRequest<h3_quinn::OpenStreams, Bytes>,
}

impl Client {
    pub(crate) async fn new(endpoint: &Endpoint, server: SocketAddr) -> Client {
        let connection = connect(endpoint, server).await;
        let (mut driver, requests) =
            h3::client::new(h3_quinn::Connection::new(connection.clone())).await.expect("HTTP/3");
        tokio::spawn(async move { driver.wait_idle().await });
        Client { connection, requests }
    }

    pub(crate) async fn ask(&mut self, method: Method, path: &str, fields: &[(&str, &str)]) -> (Response<()>, Stream) {
        let mut request = Request::builder().method(method).uri(format!("https://localhost{path}"));
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        let exchange = async {
            let mut stream =
                self.requests.send_request(request.body(()).expect("a request")).await.expect("it is sent");
            stream.finish().await.expect("its end");
            (stream.recv_response().await.expect("an answer"), stream)
        };
        timeout(TIMEOUT, exchange).await.expect("in time")
    }

    pub(crate) async fn get(&mut self, path: &str, fields: &[(&str, &str)]) -> (Response<()>, Vec<u8>) {
        let (head, mut stream) = self.ask(Method::GET, path, fields).await;
        (head, read(&mut stream, usize::MAX).await)
    }
}

/// The bytes up to the end, or until there are `enough`.
pub(crate) async fn read(stream: &mut Stream, enough: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while bytes.len() < enough {
        let next = timeout(TIMEOUT, stream.recv_data()).await.expect("in time");
        let Some(mut next) = next.expect("a video") else { break };
        bytes.extend_from_slice(&next.copy_to_bytes(next.remaining()));
    }
    bytes
}
