//! A connection of the kernel's TCP that always has more to send, between two hosts.

use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::Duration;

use rustix::net::sockopt;
use thalweg_core::units::Bytes;
use thalweg_net::error::Error;

use crate::hosts::{Hosts, NEAR};
use crate::transfer::Transfer;

/// Bytes read or written per call.
const PIECE: usize = 1 << 16;
/// Longest silence of a flow that was not stopped.
const SILENCE: Duration = Duration::from_secs(10);

/// A server at the near end that sends to a client at the far end, until this is dropped.
#[derive(Debug)]
pub struct Flow {
    /// The server and the transfer; none once the flow is being stopped.
    ends: Option<(TcpStream, Transfer)>,
}

impl Flow {
    /// Connects, under the congestion control of this name in the kernel, and begins to send.
    ///
    /// # Errors
    /// The kernel has no such control, or the ends do not connect.
    pub fn start(hosts: &Hosts, control: &str) -> Result<Flow, Error> {
        let listener = hosts.near.within(|| TcpListener::bind((NEAR, 0)).map_err(Error::io("TCP server")))?;
        let address = listener.local_addr().map_err(Error::io("TCP server"))?;
        sockopt::set_tcp_congestion(&listener, control)
            .map_err(|errno| Error::io(format!("congestion control {control}"))(errno.into()))?;
        let client = hosts.far.within(|| TcpStream::connect(address).map_err(Error::io("TCP client")))?;
        let (server, _) = listener.accept().map_err(Error::io("TCP server"))?;
        Flow::between(server, client).map_err(Error::io("TCP server"))
    }

    fn between(server: TcpStream, client: TcpStream) -> io::Result<Flow> {
        // The reset at the end can be lost like any packet.
        client.set_read_timeout(Some(SILENCE))?;
        let transfer = Transfer::start(server.try_clone()?, client, vec![0; PIECE]);
        Ok(Flow { ends: Some((server, transfer)) })
    }

    /// The bytes that the client has read so far.
    pub fn read(&self) -> Bytes {
        self.ends.as_ref().map_or(Bytes(0), |(_, transfer)| transfer.read())
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        let Some((server, transfer)) = self.ends.take() else { return };
        // Data in flight is not waited for: closing the last handle sends a reset.
        let _ = sockopt::set_socket_linger(&server, Some(Duration::ZERO));
        let _ = server.shutdown(Shutdown::Both);
        transfer.end(|| drop(server));
    }
}
