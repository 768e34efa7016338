//! A child process that takes media on its standard input, such as a player.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open, test_kill_process_group};
use thalweg_core::time::Span;

use crate::poll::{self, Interests, Ready};
use crate::spool::Spool;

/// The time between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
/// The time between two looks at processes that were asked to end.
const LOOK: Span = Span::from_millis(10);

/// A command of the shell that runs, and the data queued for it.
///
/// Its processes are a group of their own, so that signals of the terminal do not reach them. The group ends with this
/// value: by SIGTERM, and by SIGKILL if it still exists 2 s later, for which the drop waits.
#[derive(Debug)]
pub(crate) struct Exec {
    child: Child,
    /// Becomes readable when the child ends.
    pidfd: OwnedFd,
    /// None once the input has ended, or the child has closed it.
    input: Option<Spool>,
    is_finishing: bool,
    dropped: u64,
    status: Option<ExitStatus>,
}

impl Exec {
    /// Starts `command` with `/bin/sh -c`.
    pub(crate) fn start(command: &str) -> io::Result<Exec> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).stdin(Stdio::piped()).process_group(0);
        let mut child = shell.spawn()?;
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        let input = child.stdin.take().map(|stdin| File::from(OwnedFd::from(stdin)));
        if let Some(input) = &input {
            rustix::fs::fcntl_setfl(input, OFlags::NONBLOCK)?;
        }
        let input = input.map(Spool::new);
        Ok(Exec { child, pidfd, input, is_finishing: false, dropped: 0, status: None })
    }

    /// Queues bytes, all or none of them.
    pub(crate) fn put(&mut self, bytes: &[u8]) {
        if let Some(input) = &mut self.input {
            input.put(bytes);
            self.dropped = input.dropped();
        }
    }

    /// Writes as much as the child takes. A child that has closed its input is no error: it may still have work to do.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let Some(input) = &mut self.input else { return Ok(()) };
        let has_reader = match input.flush() {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => false,
            flushed => flushed.map(|()| true)?,
        };
        if !has_reader || self.is_finishing && !input.is_waiting() {
            self.input = None;
        }
        Ok(())
    }

    /// Ends the input of the child once it has taken the queued data.
    pub(crate) fn finish(&mut self) {
        self.is_finishing = true;
    }

    /// Registers the descriptors to wait for.
    pub(crate) fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        interests.read(&self.pidfd);
        if let Some(input) = &self.input {
            input.interests(interests);
        }
    }

    /// Continues with data that the child has left waiting, and notices its end.
    pub(crate) fn resume(&mut self, ready: &mut Ready) -> io::Result<()> {
        let has_ended = ready.take();
        if self.input.is_some() && ready.take() {
            self.flush()?;
        }
        if has_ended {
            self.status = self.child.try_wait()?;
        }
        Ok(())
    }

    /// The exit code of the child, once it has ended; 128 + N, as in a shell, if signal N has ended it.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        let status = self.status?;
        status.code().or_else(|| status.signal().map(|signal| 128 + signal))
    }

    /// True if data waits for the child.
    pub(crate) fn is_waiting(&self) -> bool {
        self.input.as_ref().is_some_and(Spool::is_waiting)
    }

    /// Datagrams dropped because the child was too slow.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Ends the group. Errors are ignored: its processes may end at any time.
    fn end(&mut self) {
        let group = Pid::from_child(&self.child);
        let deadline = Instant::now() + GRACE;
        let _ = kill_process_group(group, Signal::TERM);
        // The group exists as long as its first process was not waited for, so that the number is not another's.
        while test_kill_process_group(group).is_ok() {
            if Instant::now() >= deadline {
                let _ = kill_process_group(group, Signal::KILL);
                break;
            }
            let _ = self.child.try_wait();
            poll::sleep(LOOK);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Exec {
    fn drop(&mut self) {
        self.input = None;
        // A child that was waited for has given its number back, which may be another group's now.
        if self.status.is_none() {
            self.end();
        }
    }
}

#[cfg(test)]
mod tests;
