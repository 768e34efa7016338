//! Programs of a run on this machine.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use thalweg_net::error::Error;

/// The time in which a program ends that was asked to.
const GRACE: Duration = Duration::from_secs(5);
/// The interval at which its end is looked for.
const LOOK: Duration = Duration::from_millis(20);

/// A program that is killed on drop.
#[derive(Debug)]
pub(crate) struct Program(pub(crate) Child);

impl Program {
    /// Starts a program.
    ///
    /// # Errors
    /// The system refuses.
    pub(crate) fn start(command: &mut Command) -> Result<Program, Error> {
        let name = command.get_program().to_string_lossy().into_owned();
        command.spawn().map(Program).map_err(Error::io(name))
    }

    /// Asks it to end, so that it ends its own children, and waits for up to 5 s.
    pub(crate) fn end(mut self) {
        let _ = kill_process(Pid::from_child(&self.0), Signal::TERM);
        let until = Instant::now() + GRACE;
        while Instant::now() < until && matches!(self.0.try_wait(), Ok(None)) {
            thread::sleep(LOOK);
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The JSON objects that a program prints, one a line, until its end.
pub(crate) fn objects(lines: impl Read) -> impl Iterator<Item = Value> {
    BufReader::new(lines).lines().map_while(Result::ok).filter_map(|line| serde_json::from_str(&line).ok())
}
