//! The measured processes.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, mem};

/// The time that a process has to exit before it is killed.
const GRACE: Duration = Duration::from_secs(3);

/// A running process. Dropping it ends the process.
#[derive(Debug)]
pub struct Program {
    child: Child,
    line: String,
}

impl Program {
    /// Starts `command` without input, and discards its output.
    pub fn start(command: Command) -> Result<Program, String> {
        Program::telling(command, Stdio::null())
    }

    /// Starts `command`, and writes its standard error to `file`.
    pub fn recorded(command: Command, file: &Path) -> Result<Program, String> {
        let record = File::create(file).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
        Program::telling(command, record.into())
    }

    fn telling(mut command: Command, stderr: Stdio) -> Result<Program, String> {
        let line = command_line(&command);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(stderr);
        let child = command.spawn().map_err(|error| format!("cannot start `{line}`: {error}"))?;
        Ok(Program { child, line })
    }

    /// The process ID.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns an error if the process has ended by itself.
    pub fn check(&mut self) -> Result<(), String> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(format!("`{}` ended by itself ({status})", self.line)),
            Err(error) => Err(format!("`{}` is gone: {error}", self.line)),
        }
    }

    /// The user and system time of all threads so far.
    pub fn cpu(&self) -> Duration {
        // SAFETY: both pointers are to locals of the right types.
        unsafe {
            let (mut clock, mut time): (libc::clockid_t, libc::timespec) = (0, mem::zeroed());
            let found = libc::clock_getcpuclockid(self.pid(), &raw mut clock);
            assert_eq!(found, 0, "no CPU clock of `{}`", self.line);
            assert_eq!(libc::clock_gettime(clock, &raw mut time), 0, "no CPU time of `{}`", self.line);
            Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
        }
    }

    /// The peak resident memory, in bytes.
    pub fn peak_memory(&self) -> Option<u64> {
        self.status("VmHWM:")
    }

    /// The current resident memory, in bytes.
    pub fn memory(&self) -> Option<u64> {
        self.status("VmRSS:")
    }

    fn status(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let value = status.lines().find_map(|line| line.strip_prefix(name))?;
        value.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
    }

    fn pid(&self) -> libc::pid_t {
        self.child.id() as libc::pid_t
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: this call has no pointers; the process is ours and not waited for yet, so its ID is not reused.
        unsafe { libc::kill(self.pid(), libc::SIGINT) };
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) {
            if start.elapsed() > GRACE {
                // An error means that it has just exited.
                let _ = self.child.kill();
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Raises the limit of open files to `wanted` for this process and those that it starts.
pub fn allow_files(wanted: u64) -> Result<(), String> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointers are to a local of the right type.
    let result = unsafe {
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        limit.rlim_cur = limit.rlim_cur.max(wanted.min(limit.rlim_max));
        libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit)
    };
    if result == 0 && limit.rlim_cur >= wanted { Ok(()) } else { Err(format!("`ulimit -n` must be at least {wanted}")) }
}

/// The command as a shell command line.
pub fn command_line(command: &Command) -> String {
    let word = |word: &OsStr| {
        let word = word.to_string_lossy();
        let word = word.strip_suffix("/thalweg").map_or(&*word, |_| "thalweg");
        if word.contains(['&', '?', ' ']) { format!("'{word}'") } else { word.to_owned() }
    };
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(word).collect::<Vec<_>>().join(" ")
}
