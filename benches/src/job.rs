//! Processes that run to completion, and the resources that they use.

use std::io::Read;
use std::mem;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::command_line;

/// The output and resource use of a finished process.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its standard output.
    pub output: String,
    /// User and system time, including its children's.
    pub cpu: Duration,
    /// The elapsed time.
    pub wall: Duration,
    /// The peak resident memory, in bytes.
    pub memory: u64,
}

impl Job {
    /// Runs `command` to completion; returns an error if it fails.
    pub fn run(mut command: Command) -> Result<Job, String> {
        let line = command_line(&command);
        let start = Instant::now();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().map_err(|error| format!("cannot start `{line}`: {error}"))?;
        let mut output = String::new();
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_string(&mut output).map_err(|error| format!("`{line}` cannot be read: {error}"))?;
        }
        let (status, usage) = wait(child.id());
        match status {
            0 => Ok(Job { output, cpu: cpu(&usage), wall: start.elapsed(), memory: usage.ru_maxrss as u64 * 1024 }),
            _ => Err(format!("`{line}` failed (wait status {status}); why is above")),
        }
    }

    /// The value of `name` in the last line of output, which is a JSON object.
    pub fn number(&self, name: &str) -> Result<f64, String> {
        let last = self.output.lines().next_back().unwrap_or_default();
        let value = last.split_once(&format!("\"{name}\":")).map(|(_, value)| value.trim_start());
        let number = value.and_then(|value| value.split([',', '}']).next()?.trim().parse().ok());
        number.ok_or_else(|| format!("no number '{name}' in: {last}"))
    }
}

/// Waits for the process; returns its wait status, and the resources that it and its children used.
fn wait(id: u32) -> (libc::c_int, libc::rusage) {
    // SAFETY: both pointers are to locals of the right types; the child is ours, and no other code waits for it.
    unsafe {
        let (mut status, mut usage) = (0, mem::zeroed());
        let ended = libc::wait4(id as libc::pid_t, &raw mut status, 0, &raw mut usage);
        assert_eq!(ended, id as libc::pid_t, "the child can be waited for");
        (status, usage)
    }
}

fn cpu(usage: &libc::rusage) -> Duration {
    let span = |time: libc::timeval| Duration::new(time.tv_sec as u64, time.tv_usec as u32 * 1000);
    span(usage.ru_utime) + span(usage.ru_stime)
}
