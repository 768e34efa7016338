//! Plain UDP on loopback: batches of datagrams without any offload, as an ordinary encoder or player uses them, and the
//! kernel's own arrival times.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{array, fmt, mem, ptr};

use libc::{c_int, c_void};

/// The largest number of datagrams that one call sends or receives.
pub const BATCH: usize = 64;

/// The receive buffer of one datagram, large enough for any contestant's.
const SLOT: usize = 2048;

/// The buffer of one arrival time.
const CONTROL: usize = 64;

/// The socket buffer size that every socket requests.
const BUFFER: c_int = 4 << 20;

/// The time in nanoseconds, on the clock of the kernel's arrival times.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Sets the timer slack of this thread and of those that it starts to 1 us (default: 50 us), so that sleeps end on
/// time.
pub fn sharpen_timers() {
    // SAFETY: this call has no pointers.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_000 as libc::c_ulong) };
}

/// A socket on a free loopback port, with big buffers; reads give up after 20 ms.
pub fn loopback() -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(("127.0.0.1", 0))?;
    for option in [libc::SO_RCVBUF, libc::SO_SNDBUF] {
        set(&socket, option, BUFFER)?;
    }
    set(&socket, libc::SO_TIMESTAMPNS, 1)?;
    socket.set_read_timeout(Some(Duration::from_millis(20)))?;
    Ok(socket)
}

/// An unused loopback address.
pub fn free_address() -> io::Result<SocketAddr> {
    free(Ipv4Addr::LOCALHOST)
}

/// An unused address of this host.
pub fn free(host: Ipv4Addr) -> io::Result<SocketAddr> {
    UdpSocket::bind((host, 0))?.local_addr()
}

fn set(socket: &UdpSocket, option: c_int, value: c_int) -> io::Result<()> {
    let len = mem::size_of::<c_int>() as libc::socklen_t;
    // SAFETY: `value` lives during the call and `len` is its size.
    let result =
        unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, (&raw const value).cast(), len) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A batch of received datagrams.
pub struct Inbox {
    bytes: Box<[[u8; SLOT]; BATCH]>,
    control: Box<[[u64; CONTROL / 8]; BATCH]>,
    lens: [usize; BATCH],
    stamps: [u64; BATCH],
    filled: usize,
}

impl Default for Inbox {
    fn default() -> Inbox {
        let bytes = Box::new([[0; SLOT]; BATCH]);
        let control = Box::new([[0; CONTROL / 8]; BATCH]);
        Inbox { bytes, control, lens: [0; BATCH], stamps: [0; BATCH], filled: 0 }
    }
}

impl Inbox {
    /// Replaces the batch by the datagrams that have arrived; waits for the first if `wait`. Returns their number; zero
    /// is no error.
    pub fn receive(&mut self, socket: &UdpSocket, wait: bool) -> io::Result<usize> {
        let mut pieces: [libc::iovec; BATCH] =
            array::from_fn(|i| libc::iovec { iov_base: self.bytes[i].as_mut_ptr().cast(), iov_len: SLOT });
        let mut messages: [libc::mmsghdr; BATCH] = array::from_fn(|i| {
            // SAFETY: all zero is a valid header.
            let mut message: libc::mmsghdr = unsafe { mem::zeroed() };
            message.msg_hdr.msg_iov = &raw mut pieces[i];
            message.msg_hdr.msg_iovlen = 1;
            message.msg_hdr.msg_control = self.control[i].as_mut_ptr().cast();
            message.msg_hdr.msg_controllen = CONTROL as _;
            message
        });
        let flags = if wait { libc::MSG_WAITFORONE } else { libc::MSG_DONTWAIT };
        // SAFETY: every header points to one buffer and to space for control data, all alive and as long as they say.
        let count = unsafe {
            libc::recvmmsg(socket.as_raw_fd(), messages.as_mut_ptr(), BATCH as u32, flags as _, ptr::null_mut())
        };
        self.filled = 0;
        if count < 0 {
            let error = io::Error::last_os_error();
            let nothing = [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted, io::ErrorKind::ConnectionRefused];
            return if nothing.contains(&error.kind()) { Ok(0) } else { Err(error) };
        }
        self.filled = count as usize;
        for (i, message) in messages.iter().enumerate().take(self.filled) {
            self.lens[i] = message.msg_len as usize;
            self.stamps[i] = stamp(&message.msg_hdr).unwrap_or_else(now);
        }
        Ok(self.filled)
    }

    /// The arrival time and the bytes of each datagram.
    pub fn datagrams(&self) -> impl Iterator<Item = (u64, &[u8])> {
        (0..self.filled).map(|i| (self.stamps[i], &self.bytes[i][..self.lens[i].min(SLOT)]))
    }
}

/// The arrival time in a datagram's control data.
fn stamp(header: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel has filled the control data that `header` points to; it is aligned and alive.
    unsafe {
        let message = libc::CMSG_FIRSTHDR(header);
        if message.is_null() || (*message).cmsg_type != libc::SCM_TIMESTAMPNS {
            return None;
        }
        let time: libc::timespec = ptr::read_unaligned(libc::CMSG_DATA(message).cast());
        Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }
}

impl fmt::Debug for Inbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox").field("filled", &self.filled).finish_non_exhaustive()
    }
}

/// Sends up to [`BATCH`] datagrams over a connected socket, each as a separate packet. A closed port is no error.
pub fn send_all(socket: &UdpSocket, datagrams: &[&[u8]]) -> io::Result<()> {
    assert!(datagrams.len() <= BATCH);
    let mut pieces: [libc::iovec; BATCH] = array::from_fn(|i| {
        let bytes = datagrams.get(i).copied().unwrap_or_default();
        libc::iovec { iov_base: bytes.as_ptr().cast::<c_void>().cast_mut(), iov_len: bytes.len() }
    });
    let mut messages: [libc::mmsghdr; BATCH] = array::from_fn(|i| {
        // SAFETY: all zero is a valid header.
        let mut message: libc::mmsghdr = unsafe { mem::zeroed() };
        message.msg_hdr.msg_iov = &raw mut pieces[i];
        message.msg_hdr.msg_iovlen = 1;
        message
    });
    let mut sent = 0;
    while sent < datagrams.len() {
        let left = &mut messages[sent..datagrams.len()];
        // SAFETY: every header points to one piece that is alive and as long as it says; the kernel only reads it.
        let count = unsafe { libc::sendmmsg(socket.as_raw_fd(), left.as_mut_ptr(), left.len() as u32, 0) };
        if count < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::ConnectionRefused {
                return Err(error);
            }
        }
        sent += count.max(0) as usize;
    }
    Ok(())
}
