//! A connection of the kernel's TCP that always has more to send, over a cable.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::net::sockopt;
use thalweg_core::units::Bytes;

use super::cable::{Cable, NEAR};
use crate::error::Error;

/// What is read or written in one call, bytes.
const PIECE: usize = 1 << 16;
/// So long no flow is silent that has not been stopped.
const SILENCE: Duration = Duration::from_secs(10);

/// A server at the near end sends to a client at the far end, until this is dropped.
#[derive(Debug)]
pub struct Flow {
    read: Arc<AtomicU64>,
    /// None once they are being stopped.
    ends: Option<Ends>,
}

#[derive(Debug)]
struct Ends {
    server: TcpStream,
    writer: JoinHandle<()>,
    reader: JoinHandle<()>,
}

impl Flow {
    /// Connects, under the congestion control that the kernel knows by this name, and begins to send.
    ///
    /// # Errors
    /// The kernel has no such control, or the ends do not come together.
    pub fn start(cable: &Cable, control: &str) -> Result<Flow, Error> {
        let listener = cable.near.within(|| TcpListener::bind((NEAR, 0)).map_err(Error::io("TCP server")))?;
        let address = listener.local_addr().map_err(Error::io("TCP server"))?;
        sockopt::set_tcp_congestion(&listener, control)
            .map_err(|errno| Error::io(format!("congestion control {control}"))(errno.into()))?;
        let client = cable.far.within(|| TcpStream::connect(address).map_err(Error::io("TCP client")))?;
        let (server, _) = listener.accept().map_err(Error::io("TCP server"))?;
        Flow::between(server, client).map_err(Error::io("TCP server"))
    }

    fn between(server: TcpStream, mut client: TcpStream) -> io::Result<Flow> {
        let (mut writing, read) = (server.try_clone()?, Arc::new(AtomicU64::new(0)));
        let count = Arc::clone(&read);
        // Resets can be lost like any packet.
        client.set_read_timeout(Some(SILENCE))?;
        let writer = thread::spawn(move || while writing.write_all(&[0; PIECE]).is_ok() {});
        let reader = thread::spawn(move || {
            let mut piece = vec![0; PIECE];
            while let Ok(length @ 1..) = client.read(&mut piece) {
                count.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
        Ok(Flow { read, ends: Some(Ends { server, writer, reader }) })
    }

    /// What the client has read so far.
    pub fn read(&self) -> Bytes {
        Bytes(self.read.load(Ordering::Relaxed))
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        let Some(Ends { server, writer, reader }) = self.ends.take() else { return };
        // Nothing is waited for that is still on its way: the last handle that is closed sends a reset.
        let _ = sockopt::set_socket_linger(&server, Some(Duration::ZERO));
        let _ = server.shutdown(Shutdown::Both);
        let _ = writer.join();
        drop(server);
        let _ = reader.join();
    }
}
