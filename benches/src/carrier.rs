//! Transports, and the connections that they carry from the near end to the far end.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::{Duration, Instant};

use crate::cable::Ends;
use crate::connection::Connection;
use crate::forwarder::Forwarder;
use crate::program::Program;
use crate::{quic, udp};

/// The longest time that establishing a connection may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// A transport for connections.
#[derive(Clone, Debug)]
pub enum Transport {
    /// The kernel's TCP; the sender uses this congestion control.
    Kernel(&'static str),
    /// quinn with its defaults.
    Quic,
    /// Two programs that forward between two local TCP connections.
    Forwarded(Forwarder),
}

/// A transport that is ready to carry connections. Dropping it ends its programs.
#[derive(Debug)]
pub struct Carrier<'a> {
    ends: &'a Ends,
    transport: Transport,
    listener: TcpListener,
    /// The address that the near program connects to.
    at: SocketAddr,
    /// The server and the client of a forwarder.
    pub programs: Vec<Program>,
}

impl<'a> Carrier<'a> {
    /// Starts the listener and, for a forwarder, its programs.
    pub fn start(transport: &Transport, ends: &'a Ends) -> Result<Carrier<'a>, String> {
        let (listener, at, programs) = match transport {
            Transport::Forwarded(forwarder) => {
                let listener = listen(ends, Ipv4Addr::LOCALHOST)?;
                let target = local(&listener)?;
                let listen = ends.far.within(|| free(ends.address))?;
                let at = ends.near.within(|| free(Ipv4Addr::LOCALHOST))?;
                let server = ends.far.within(|| Program::start(forwarder.server(listen, target)))?;
                // The server must listen before the client's first datagram.
                thread::sleep(Duration::from_millis(200));
                let client = ends.near.within(|| Program::start(forwarder.client(at, listen)))?;
                (listener, at, vec![server, client])
            }
            Transport::Kernel(_) | Transport::Quic => {
                let listener = listen(ends, ends.address)?;
                let at = local(&listener)?;
                (listener, at, Vec::new())
            }
        };
        Ok(Carrier { ends, transport: transport.clone(), listener, at, programs })
    }

    /// Sets the receive buffer of the far end of future connections to `bytes`, which the kernel does not adjust.
    /// Requires root.
    pub fn hold(&self, bytes: libc::c_int) -> Result<(), String> {
        set(&self.listener, libc::SOL_SOCKET, libc::SO_RCVBUFFORCE, &bytes.to_ne_bytes())
            .map_err(|error| format!("cannot set a receive buffer: {error}"))
    }

    /// Opens a new connection.
    pub fn connect(&mut self) -> Result<Connection, String> {
        if let Transport::Quic = self.transport {
            return quic::connect(self.ends);
        }
        let (near, far) = self.connect_tcp()?;
        let failed = |error: io::Error| format!("a TCP socket failed: {error}");
        if let Transport::Kernel(law) = self.transport {
            set_law(&near, law)?;
        }
        let ends = [near.try_clone().map_err(failed)?, far.try_clone().map_err(failed)?];
        let close = move || {
            // An error means that the end is closed already.
            ends.iter().for_each(|end| drop(end.shutdown(Shutdown::Both)));
        };
        Ok(Connection { writer: Box::new(near), reader: Box::new(far), close: Box::new(close) })
    }

    /// Opens a connection as two TCP sockets, after passing one byte from the near one to the far one.
    pub fn connect_tcp(&mut self) -> Result<(TcpStream, TcpStream), String> {
        let start = Instant::now();
        let near = self.until(start, |carrier| carrier.ends.near.within(|| Ok(TcpStream::connect(carrier.at))))?;
        let (far, _) = self.until(start, |carrier| Ok(carrier.listener.accept()))?;
        let greet = |mut near: &TcpStream, mut far: &TcpStream| {
            for socket in [near, far] {
                socket.set_nodelay(true)?;
                socket.set_nonblocking(false)?;
            }
            near.write_all(&[0])?;
            far.set_read_timeout(Some(TIMEOUT))?;
            far.read_exact(&mut [0])?;
            far.set_read_timeout(None)
        };
        greet(&near, &far).map_err(|error| format!("no byte comes through: {error}"))?;
        Ok((near, far))
    }

    /// Repeats `attempt` until it succeeds or [`TIMEOUT`] is over.
    fn until<T>(
        &mut self,
        start: Instant,
        mut attempt: impl FnMut(&Self) -> Result<io::Result<T>, String>,
    ) -> Result<T, String> {
        loop {
            match attempt(self)? {
                Ok(made) => return Ok(made),
                Err(error) if start.elapsed() > TIMEOUT => return Err(format!("no connection: {error}")),
                Err(_) => self.check()?,
            }
            thread::sleep(PAUSE);
        }
    }

    /// Returns an error if a program has ended by itself.
    pub fn check(&mut self) -> Result<(), String> {
        self.programs.iter_mut().try_for_each(Program::check)
    }
}

fn listen(ends: &Ends, address: Ipv4Addr) -> Result<TcpListener, String> {
    let failed = |error: io::Error| format!("cannot listen on {address}: {error}");
    ends.far.within(|| {
        let listener = TcpListener::bind((address, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(listener)
    })
}

fn local(listener: &TcpListener) -> Result<SocketAddr, String> {
    listener.local_addr().map_err(|error| format!("a listener has no address: {error}"))
}

/// An unused address.
fn free(address: Ipv4Addr) -> Result<SocketAddr, String> {
    udp::free(address).map_err(|error| format!("no free port: {error}"))
}

fn set_law(socket: &TcpStream, law: &str) -> Result<(), String> {
    let failed = |error| format!("this kernel has no TCP {law} ({error}); try: sudo modprobe tcp_{law}");
    set(socket, libc::IPPROTO_TCP, libc::TCP_CONGESTION, law.as_bytes()).map_err(failed)
}

fn set(socket: &impl AsRawFd, level: libc::c_int, option: libc::c_int, value: &[u8]) -> io::Result<()> {
    let len = value.len() as libc::socklen_t;
    // SAFETY: the value lives during the call and `len` is its length.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, value.as_ptr().cast(), len) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
