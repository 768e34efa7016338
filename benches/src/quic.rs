//! QUIC by quinn with its defaults and a self-signed certificate.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use quinn::{ClientConfig, Endpoint, EndpointConfig, RecvStream, SendStream, ServerConfig, TokioRuntime};
use tokio::runtime::Runtime;

use crate::cable::Ends;
use crate::certificate::{Certificate, NAME};
use crate::connection::Connection;

/// Opens a connection with one unidirectional stream.
pub fn connect(ends: &Ends) -> Result<Connection, String> {
    let failed = |why: &dyn std::fmt::Display| format!("quinn: {why}");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = Arc::new(runtime.map_err(|error| failed(&error))?);
    let (server_config, client_config) = configs().map_err(|error| failed(&error))?;
    let _inside = runtime.enter();
    let endpoint = |socket: UdpSocket, config| {
        Endpoint::new(EndpointConfig::default(), config, socket, Arc::new(TokioRuntime)).map_err(|error| failed(&error))
    };
    let socket = |address: Ipv4Addr| UdpSocket::bind((address, 0)).map_err(|error| failed(&error));
    let server = endpoint(ends.far.within(|| socket(ends.address))?, Some(server_config))?;
    let client = endpoint(ends.near.within(|| socket(Ipv4Addr::UNSPECIFIED))?, None)?;
    let to: SocketAddr = server.local_addr().map_err(|error| failed(&error))?;

    let (arrived, arrival) = channel();
    let accepting = server.clone();
    runtime.spawn(async move {
        let Some(Ok(connection)) = async { Some(accepting.accept().await?.await) }.await else { return };
        if let Ok(stream) = connection.accept_uni().await {
            // The receiver is gone once the bench is over.
            let _ = arrived.send(stream);
        }
        connection.closed().await;
    });
    let connecting = client.connect_with(client_config, to, NAME).map_err(|error| failed(&error))?;
    let connection = runtime.block_on(connecting).map_err(|error| failed(&error))?;
    let stream = runtime.block_on(connection.open_uni()).map_err(|error| failed(&error))?;
    let writer = Sending { runtime: Arc::clone(&runtime), stream };
    let reader = Receiving { runtime: Arc::clone(&runtime), arrival, stream: None };
    let close = move || {
        connection.close(0u32.into(), &[]);
        client.close(0u32.into(), &[]);
        server.close(0u32.into(), &[]);
    };
    Ok(Connection { writer: Box::new(writer), reader: Box::new(reader), close: Box::new(close) })
}

fn configs() -> Result<(ServerConfig, ClientConfig), Box<dyn std::error::Error>> {
    let Certificate { own, key, roots, .. } = Certificate::make()?;
    let server = ServerConfig::with_single_cert(vec![own], key)?;
    Ok((server, ClientConfig::with_root_certificates(Arc::new(roots))?))
}

struct Sending {
    runtime: Arc<Runtime>,
    stream: SendStream,
}

impl Write for Sending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.runtime.block_on(self.stream.write(bytes))?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Receiving {
    runtime: Arc<Runtime>,
    /// The stream, which the peer can accept only after something was written to it.
    arrival: Receiver<RecvStream>,
    stream: Option<RecvStream>,
}

impl Read for Receiving {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            none => none.insert(self.arrival.recv().map_err(io::Error::other)?),
        };
        Ok(self.runtime.block_on(stream.read(room))?.unwrap_or(0))
    }
}
