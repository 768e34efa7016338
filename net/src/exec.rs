//! A child process that takes media on its standard input, such as a player, or gives it on its standard output, such as an
//! encoder.

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

/// True if the shell knows neither a program nor a word of its own by this name.
pub(crate) fn is_unknown(name: &str) -> bool {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "command -v -- \"$1\"", "sh", name]).stdin(Stdio::null()).stdout(Stdio::null());
    shell.stderr(Stdio::null()).status().is_ok_and(|status| !status.success())
}

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
    /// True once its group has no process left.
    is_gone: bool,
}

impl Exec {
    /// Starts `command` with `/bin/sh -c`.
    pub(crate) fn start(command: &str) -> io::Result<Exec> {
        Exec::spawn(command, Stdio::inherit())
    }

    /// Starts `command` as a source of media. Returns its standard output, too, which does not block.
    pub(crate) fn source(command: &str) -> io::Result<(Exec, File)> {
        let mut exec = Exec::spawn(command, Stdio::piped())?;
        let output = exec.child.stdout.take().map(|stdout| File::from(OwnedFd::from(stdout)));
        let output = output.ok_or(io::ErrorKind::BrokenPipe)?;
        rustix::fs::fcntl_setfl(&output, OFlags::NONBLOCK)?;
        Ok((exec, output))
    }

    fn spawn(command: &str, output: Stdio) -> io::Result<Exec> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).stdin(Stdio::piped()).stdout(output).process_group(0);
        let mut child = shell.spawn()?;
        let pidfd = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
        let input = child.stdin.take().map(|stdin| File::from(OwnedFd::from(stdin)));
        if let Some(input) = &input {
            rustix::fs::fcntl_setfl(input, OFlags::NONBLOCK)?;
        }
        let input = input.map(Spool::new);
        Ok(Exec { child, pidfd, input, is_finishing: false, dropped: 0, status: None, is_gone: false })
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

    /// Continues with data that a player has left waiting, and notices its end.
    pub(crate) fn resume(&mut self, ready: &mut Ready) -> io::Result<()> {
        if self.continue_input(ready)? {
            self.status = self.child.try_wait()?;
            // The number of the group is given back with the child, and may be another group's from now on.
            self.is_gone = self.status.is_some();
        }
        Ok(())
    }

    /// Continues with data that a source has left waiting; returns true once it has ended. The rest of its group is then
    /// asked to end, before the number of the group is given back.
    pub(crate) fn resume_source(&mut self, ready: &mut Ready) -> io::Result<bool> {
        let has_ended = self.continue_input(ready)?;
        if has_ended {
            self.ask_to_end();
            self.is_gone();
        }
        Ok(has_ended)
    }

    /// Continues with data that the child has left waiting; returns true once it has ended.
    fn continue_input(&mut self, ready: &mut Ready) -> io::Result<bool> {
        let has_ended = ready.take();
        if self.input.is_some() && ready.take() {
            self.flush()?;
        }
        Ok(has_ended)
    }

    /// Asks the group to end, by SIGTERM.
    pub(crate) fn ask_to_end(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Ends the group, by SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    /// Errors are ignored: processes may end at any time.
    fn signal(&self, signal: Signal) {
        if !self.is_gone {
            let _ = kill_process_group(Pid::from_child(&self.child), signal);
        }
    }

    /// True once the group has no process left.
    pub(crate) fn is_gone(&mut self) -> bool {
        if !self.is_gone {
            self.status = self.status.or_else(|| self.child.try_wait().ok().flatten());
            // A process that is left keeps the number of the group.
            self.is_gone = self.status.is_some() && test_kill_process_group(Pid::from_child(&self.child)).is_err();
        }
        self.is_gone
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

    /// Ends the group, and waits for its end.
    fn end(&mut self) {
        let deadline = Instant::now() + GRACE;
        self.ask_to_end();
        while !self.is_gone() {
            if Instant::now() >= deadline {
                self.kill();
                break;
            }
            poll::sleep(LOOK);
        }
        let _ = self.child.wait();
    }
}

impl Drop for Exec {
    fn drop(&mut self) {
        self.input = None;
        if !self.is_gone {
            self.end();
        }
    }
}

#[cfg(test)]
mod tests;
