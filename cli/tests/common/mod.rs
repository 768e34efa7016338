//! The binary as its users run it.
#![allow(dead_code, reason = "every test file uses a part of it")]

pub(crate) mod bursts;
pub(crate) mod relay;
pub(crate) mod stream;
pub(crate) mod ts;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// The longest wait, enough for the slowest machine; a test that waits so long has failed.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Runs `thalweg` to its end; returns exit code, standard output, standard error.
pub(crate) fn run(args: &[&str]) -> (i32, String, String) {
    run_with(args, Stdio::null())
}

/// Runs `thalweg` as [`run`] does, with a given standard input.
pub(crate) fn run_with(args: &[&str], stdin: Stdio) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thalweg"));
    let output = command.args(args).stdin(stdin).output().expect("the binary runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code().expect("an exit code"), text(output.stdout), text(output.stderr))
}

/// A file with a new shared key.
pub(crate) fn key(name: &str) -> String {
    let path = format!("{}/{}-{name}.key", env!("CARGO_TARGET_TMPDIR"), std::process::id());
    let _ = std::fs::remove_file(&path);
    assert_eq!(run(&["keygen", &path]).0, 0);
    path
}

/// The page that Prometheus gets at `address`.
pub(crate) fn scrape(address: &str) -> String {
    let mut connection = TcpStream::connect(address).expect("it listens");
    connection.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    connection.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").expect("a request");
    let mut page = String::new();
    connection.read_to_string(&mut page).expect("a page");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    page
}

/// Waits until `is_so` returns true.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < deadline, "no {what} in time");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sends a signal to a running process.
pub(crate) fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it still runs");
}

/// A running `thalweg`, which reports events in JSON.
pub(crate) struct Running {
    pub(crate) child: Child,
    lines: Receiver<String>,
}

impl Running {
    /// Starts it with `--json`; standard input and output, which carry media, are piped.
    pub(crate) fn start(args: &[&str]) -> Running {
        let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
            .args(args)
            .arg("--json")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Running { child, lines }
    }

    /// Waits for a line that `wanted` accepts; every line must be a JSON object.
    pub(crate) fn wait_for(&self, what: &str, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        let deadline = Instant::now() + TIMEOUT;
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let value: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                    assert!(value["t"].is_number() && value["side"].is_string(), "{line}");
                    if wanted(&value) {
                        return value;
                    }
                    seen.push(line);
                }
                Err(RecvTimeoutError::Timeout) => panic!("no {what} in time; there was\n{}", seen.join("\n")),
                Err(RecvTimeoutError::Disconnected) => panic!("ended before {what}; there was\n{}", seen.join("\n")),
            }
        }
    }

    /// Waits for an event.
    pub(crate) fn event(&self, name: &str) -> Value {
        self.wait_for(name, |value| value["event"] == name)
    }

    /// The address that an opening event names.
    pub(crate) fn address(&self, event: &str, key: &str) -> String {
        self.event(event)[key].as_str().expect("an address").to_owned()
    }

    /// Asks it to stop, as Ctrl-C does.
    pub(crate) fn interrupt(&self) {
        signal(&self.child, Signal::INT);
    }

    /// All remaining lines of a process that has ended.
    pub(crate) fn rest(&self) -> Vec<String> {
        self.lines.iter().collect()
    }

    /// The last line of a process that has ended.
    pub(crate) fn last_line(&self) -> String {
        self.lines.iter().last().expect("it has written a line")
    }

    /// Waits for the end of the process, which must be a success.
    #[track_caller]
    pub(crate) fn succeeds(&mut self) {
        let status = self.end();
        assert!(status.success(), "{status}; its last lines were\n{}", self.rest().join("\n"));
    }

    /// Waits for the end of the process.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status;
            }
            assert!(Instant::now() < deadline, "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
