//! Files that are read at positions, also without waiting for a disk.

use std::fs::File;
use std::io::{self, ErrorKind, IoSliceMut};
use std::os::unix::fs::FileExt;

use rustix::io::{Errno, ReadWriteFlags, preadv2};

/// A file that is read at positions.
pub(super) trait ReadAt {
    /// Reads at `offset`; zero bytes at the end of the file.
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Fills `buf` from `offset` on.
    fn read_exact_at(&self, mut buf: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !buf.is_empty() {
            match self.read_at(buf, offset) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    buf = &mut buf[read..];
                    offset += read as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl ReadAt for File {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, buf, offset)
    }
}

/// The part of a file that is in memory. [`ErrorKind::WouldBlock`] is the error of another part, and of all parts where the
/// file system does not support it.
#[derive(Debug)]
pub(super) struct Resident<'a>(pub(super) &'a File);

impl ReadAt for Resident<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        match preadv2(self.0, &mut [IoSliceMut::new(buf)], offset, ReadWriteFlags::NOWAIT) {
            Err(Errno::AGAIN | Errno::OPNOTSUPP | Errno::NOSYS) => Err(ErrorKind::WouldBlock.into()),
            read => Ok(read?),
        }
    }
}
