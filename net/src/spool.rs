//! A file or a pipe, written without blocking on its reader.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::inherited;
use crate::poll::Interests;

/// Limit in bytes on data that waits for a reader: a second of 30 Mb/s.
const LIMIT: usize = 4 << 20;

/// Bytes queued for a file descriptor.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    waiting: Vec<u8>,
    written: usize,
    stuck: bool,
    dropped: u64,
}

impl Spool {
    /// Opens a device, or a named pipe, which may still lack a reader; overwrites any other file.
    pub(crate) fn file(path: &Path) -> io::Result<Spool> {
        let is_pipe = path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
        let mut options = OpenOptions::new();
        options.write(true);
        if is_pipe {
            // Opened for reading as well, a pipe stays open before its first reader comes and after the last has gone.
            options.read(true).custom_flags(OFlags::NONBLOCK.bits() as i32);
        } else {
            options.create(true).truncate(true);
        }
        Ok(Spool::new(options.open(path)?))
    }

    /// Standard output.
    pub(crate) fn stdout() -> io::Result<Spool> {
        Spool::inherited(&io::stdout(), "/proc/self/fd/1")
    }

    /// Standard error.
    pub(crate) fn stderr() -> io::Result<Spool> {
        Spool::inherited(&io::stderr(), "/proc/self/fd/2")
    }

    fn inherited(stream: &impl AsFd, path: &str) -> io::Result<Spool> {
        let shared = File::from(stream.as_fd().try_clone_to_owned()?);
        let own = inherited::own(&shared, path, OpenOptions::new().write(true));
        Ok(Spool::new(own.unwrap_or(shared)))
    }

    /// An open file.
    pub(crate) fn new(file: File) -> Spool {
        Spool { file, waiting: Vec::new(), written: 0, stuck: false, dropped: 0 }
    }

    /// Queues bytes, all or none of them.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        if self.waiting.len() - self.written + bytes.len() > LIMIT {
            self.dropped += 1;
            return;
        }
        if self.waiting.len() + bytes.len() > LIMIT {
            self.waiting.drain(..self.written);
            self.written = 0;
        }
        self.waiting.extend_from_slice(bytes);
    }

    /// Writes as much as the reader takes.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.stuck = false;
        while self.written < self.waiting.len() {
            match self.file.write(&self.waiting[self.written..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(len) => self.written += len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.stuck = true;
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        self.waiting.clear();
        self.written = 0;
        Ok(())
    }

    /// Registers the descriptors to wait for.
    pub(crate) fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        if self.stuck {
            interests.write(&self.file);
        } else {
            interests.nothing(&self.file);
        }
    }

    /// True if data waits for the reader.
    pub(crate) fn is_waiting(&self) -> bool {
        self.written < self.waiting.len()
    }

    /// Datagrams dropped because the spool was full.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    #[test]
    fn stalled_reader_loses_whole_datagrams_without_blocking() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let mut spool = Spool::new(File::from(std::os::fd::OwnedFd::from(writer)));
        rustix::fs::fcntl_setfl(&spool.file, OFlags::NONBLOCK).expect("a pipe may be set not to block");
        let datagrams = 2 * LIMIT / 1000;
        for nth in 0..datagrams {
            spool.put(&[nth as u8; 1000]);
            spool.flush().expect("a full pipe is no error");
        }
        assert!(spool.is_waiting() && spool.dropped() > 0);
        let kept = datagrams - spool.dropped() as usize;

        let mut received = vec![0; kept * 1000];
        let mut reader = reader;
        let mut at = 0;
        while at < received.len() {
            at += reader.read(&mut received[at..]).expect("what was kept");
            spool.flush().expect("the reader is back");
        }
        assert!(!spool.is_waiting());
        assert!(received.chunks(1000).enumerate().all(|(nth, chunk)| chunk == [nth as u8; 1000]));
    }

    #[test]
    fn closed_reader_is_an_error() {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let mut spool = Spool::new(File::from(std::os::fd::OwnedFd::from(writer)));
        spool.put(&[1]);
        assert_eq!(spool.flush().expect_err("nobody reads").kind(), io::ErrorKind::BrokenPipe);
    }
}
