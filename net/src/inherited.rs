//! Standard input, output and error, which other processes may share.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;

use crate::watch::Watch;

/// The number of bytes that a writable file takes without blocking: a page of a pipe (pipe(7), PIPE_BUF).
const PIPE_BUF: usize = 4096;
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Standard input or output, read or written without blocking.
#[derive(Debug)]
pub(crate) struct Stream {
    file: File,
    /// True if a read or a write could block; poll(2) then comes first.
    could_wait: bool,
}

impl Stream {
    /// Standard input.
    pub(crate) fn stdin() -> io::Result<Stream> {
        Stream::new(&io::stdin(), "/proc/self/fd/0", OpenOptions::new().read(true))
    }

    /// Standard output.
    pub(crate) fn stdout() -> io::Result<Stream> {
        Stream::new(&io::stdout(), "/proc/self/fd/1", OpenOptions::new().write(true))
    }

    fn new(stream: &impl AsFd, path: &str, options: &mut OpenOptions) -> io::Result<Stream> {
        let shared = File::from(stream.as_fd().try_clone_to_owned()?);
        match own(&shared, path, options) {
            Some(file) => Ok(Stream { file, could_wait: false }),
            None => Ok(Stream { could_wait: !shared.metadata()?.is_file(), file: shared }),
        }
    }

    /// Has `watch` report under `token` when the stream becomes readable or writable.
    pub(crate) fn watch(&self, watch: &Watch, token: u64) -> io::Result<()> {
        watch.add(&self.file, token).map(drop)
    }

    /// Reads like [`Read::read`], or fails with [`ErrorKind::WouldBlock`].
    pub(crate) fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.ask(PollFlags::IN)?;
        self.file.read(buf)
    }

    /// Writes like [`Write::write`], or fails with [`ErrorKind::WouldBlock`].
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.ask(PollFlags::OUT)?;
        let most = if self.could_wait { PIPE_BUF } else { usize::MAX };
        self.file.write(&bytes[..bytes.len().min(most)])
    }

    fn ask(&self, wanted: PollFlags) -> io::Result<()> {
        match self.could_wait && poll(&mut [PollFd::new(&self.file, wanted)], Some(&AT_ONCE))? == 0 {
            true => Err(ErrorKind::WouldBlock.into()),
            false => Ok(()),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Opens a separate file description of a pipe: O_NONBLOCK must not be set on the one that other processes share.
pub(crate) fn own(shared: &File, path: &str, options: &mut OpenOptions) -> Option<File> {
    let is_pipe = shared.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo());
    is_pipe.then(|| options.custom_flags(OFlags::NONBLOCK.bits() as i32).open(path).ok()).flatten()
}

/// Ends standard output for its reader, although the process continues.
pub(crate) fn end_stdout() -> io::Result<()> {
    Ok(rustix::stdio::dup2_stdout(File::open("/dev/null")?)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::net::UnixStream;

    fn stream(file: impl Into<OwnedFd>) -> Stream {
        let file = file.into();
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        Stream::new(&file, &path, OpenOptions::new().read(true).write(true)).expect("a stream")
    }

    fn is_unready<T: std::fmt::Debug>(outcome: io::Result<T>) -> bool {
        outcome.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    }

    #[test]
    fn own_pipe_does_not_block_and_shared_one_keeps_its_mode() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        let shared = File::from(OwnedFd::from(reader.try_clone().expect("a copy")));
        let mut stream = stream(reader);
        assert!(is_unready(stream.read(&mut [0; 10])));
        writer.write_all(b"abc").expect("room");
        assert_eq!(stream.read(&mut [0; 10]).ok(), Some(3));
        let flags = rustix::fs::fcntl_getfl(&shared).expect("flags");
        assert!(!flags.contains(OFlags::NONBLOCK));
    }

    #[test]
    fn shared_socket_is_polled_before_reads_and_writes() {
        let (near, mut far) = UnixStream::pair().expect("a pair");
        let mut stream = stream(near);
        assert!(is_unready(stream.read(&mut [0; 10])));
        far.write_all(b"abc").expect("room");
        assert_eq!(stream.read(&mut [0; 10]).ok(), Some(3));
        let mut sent = 0;
        while let Ok(len) = stream.write(&[7; 1 << 16]) {
            sent += len;
        }
        let mut got = vec![0; sent];
        far.read_exact(&mut got).expect("what was sent");
        assert!(sent > PIPE_BUF && got.iter().all(|byte| *byte == 7));
        drop(far);
        assert_eq!(stream.read(&mut [0; 10]).ok(), Some(0));
    }
}
