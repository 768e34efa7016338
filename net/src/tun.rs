//! TUN devices: IP packets from the kernel and to it (Linux, Documentation/networking/tuntap.rst).

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::str::FromStr;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

use crate::error::{Error, plain};

const CLONE_DEVICE: &str = "/dev/net/tun";
/// linux/if_tun.h: `_IOW('T', 202, int)`, although its argument is a `struct ifreq`.
const TUNSETIFF: Opcode = opcode::write::<i32>(b'T', 202);
/// linux/if_tun.h: IP packets, without a header in front of them.
const IFF_TUN: u16 = 0x0001;
const IFF_NO_PI: u16 = 0x1000;
/// linux/if.h: the length of a name with its terminating zero.
const IFNAMSIZ: usize = 16;

/// A valid name of a network device: 1 to 15 bytes, no `/`, `:`, `%` or white space.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name(String);

impl FromStr for Name {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Name, &'static str> {
        let plain = |c: char| c.is_ascii_graphic() && !matches!(c, '/' | ':' | '%');
        if text.is_empty() || text.len() >= IFNAMSIZ || !text.chars().all(plain) || matches!(text, "." | "..") {
            return Err("a device name has 1 to 15 printable ASCII characters, none of them / : or %");
        }
        Ok(Name(text.to_owned()))
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An open TUN device. It stays open when the device moves to another network namespace.
#[derive(Debug)]
pub struct Tun {
    fd: OwnedFd,
    name: Name,
}

impl Tun {
    /// Opens the device called `name`, or creates it; a created device vanishes with this value.
    ///
    /// Packets are whole: without `IFF_VNET_HDR` the kernel leaves neither segmentation nor checksums to this process.
    ///
    /// # Errors
    /// The kernel has no TUN devices, this process may not use one, or the name is taken.
    pub fn open(name: &Name) -> Result<Tun, Error> {
        let failed = |errno, what| Error::new(format!("TUN device {name}"), reason(errno, what));
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = rustix::fs::open(CLONE_DEVICE, flags, Mode::empty()).map_err(|errno| failed(errno, Step::Open))?;
        attach(fd.as_fd(), name).map_err(|errno| failed(errno, Step::Attach))?;
        Ok(Tun { fd, name: name.clone() })
    }

    /// The next packet from the kernel, if there is one; it must fit into `buffer`.
    ///
    /// # Errors
    /// The device is gone, as when its namespace was deleted.
    pub fn read<'buffer>(&self, buffer: &'buffer mut [u8]) -> Result<Option<&'buffer [u8]>, Error> {
        match rustix::io::read(&self.fd, &mut *buffer) {
            Ok(length) => Ok(Some(&buffer[..length])),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(Errno::BADFD) => Err(Error::new(format!("TUN device {}", self.name), "the device was deleted")),
            Err(errno) => Err(Error::io(format!("TUN device {}", self.name))(errno.into())),
        }
    }

    /// Passes a packet to the kernel. A packet that the kernel refuses is lost, as on a cable whose far end is
    /// unplugged: one to a device that is down, or one that corruption has made invalid as IP.
    pub fn write(&self, packet: &[u8]) {
        let _ = rustix::io::write(&self.fd, packet);
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// linux/if.h: `struct ifreq`, whose union has at most 24 bytes.
#[repr(C)]
struct Request {
    name: [u8; IFNAMSIZ],
    flags: u16,
    rest: [u8; 22],
}

fn attach(fd: BorrowedFd<'_>, name: &Name) -> Result<(), Errno> {
    let mut request = Request { name: [0; IFNAMSIZ], flags: IFF_TUN | IFF_NO_PI, rest: [0; 22] };
    request.name[..name.0.len()].copy_from_slice(name.0.as_bytes());
    // SAFETY: TUNSETIFF reads and writes one struct ifreq behind the pointer, at most the 40 bytes that a Request has, of
    // which every value is valid, and keeps no pointer to it.
    unsafe { ioctl(fd, Updater::<TUNSETIFF, Request>::new(&mut request)) }
}

#[derive(Clone, Copy)]
enum Step {
    Open,
    Attach,
}

fn reason(errno: Errno, step: Step) -> String {
    match (errno, step) {
        (Errno::NOENT | Errno::NODEV | Errno::NXIO, Step::Open) => {
            format!("no {CLONE_DEVICE}; load it with: modprobe tun")
        }
        (Errno::PERM | Errno::ACCESS, _) => "needs root (CAP_NET_ADMIN)".into(),
        (Errno::BUSY, Step::Attach) => "in use by another program".into(),
        (Errno::INVAL, Step::Attach) => "the device of this name is not a TUN device".into(),
        _ => plain(&io::Error::from(errno)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_names_follow_the_kernels_rules() {
        for good in ["a", "tun0", "left.1", "fifteen-letters"] {
            assert_eq!(good.parse::<Name>().map(|name| name.to_string()), Ok(good.to_owned()));
        }
        for bad in ["", ".", "..", "tun%d", "a b", "a/b", "a:b", "sixteen-letters.", "tün"] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }

    #[test]
    fn request_has_the_layout_of_struct_ifreq() {
        assert_eq!((size_of::<Request>(), std::mem::offset_of!(Request, flags)), (40, 16));
    }

    #[test]
    fn kernel_errors_have_plain_reasons() {
        assert_eq!(reason(Errno::NOENT, Step::Open), "no /dev/net/tun; load it with: modprobe tun");
        assert_eq!(reason(Errno::PERM, Step::Attach), "needs root (CAP_NET_ADMIN)");
        assert_eq!(reason(Errno::BUSY, Step::Attach), "in use by another program");
        assert_eq!(reason(Errno::MFILE, Step::Open), "too many open files");
    }
}
