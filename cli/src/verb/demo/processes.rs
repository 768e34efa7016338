//! The three processes of a run: `send`, `emulate` and `recv`, on ports of their own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use thalweg_core::time::{Span, Time};
use thalweg_net::clock::Clock;
use thalweg_net::drops::dropped_datagrams;
use thalweg_net::error::plain;
use thalweg_net::signal::Stop;

use super::series::Series;

/// Latency from input to output, given to both endpoints.
pub(super) const LATENCY: &str = "90ms";

/// The longest time that `send` and `recv` may take to connect.
const CONNECT_TIMEOUT: Span = Span::from_secs(10);

/// The processes, which are killed when this value is dropped.
pub(super) struct Processes {
    processes: [Process; 3],
    lines: Receiver<Line>,
    /// The address that takes the video.
    pub(super) input: SocketAddr,
}

/// The indices of the processes, in the order in which they start.
const RECV: usize = 0;
const EMULATE: usize = 1;
const SEND: usize = 2;

struct Process {
    name: &'static str,
    child: Child,
    series: Series,
    /// The last five lines that are not JSON.
    words: Vec<String>,
}

/// A line that a process has written to standard error.
struct Line {
    index: usize,
    at: Time,
    text: String,
}

impl Processes {
    /// Starts the processes; the received video goes to `output`.
    pub(super) fn start(repair: &str, scenario: &Path, output: SocketAddr, clock: Clock) -> Result<Processes, String> {
        let [input, uplink, downlink] = free_ports()?;
        let program =
            std::env::current_exe().map_err(|error| format!("cannot find this program: {}", plain(&error)))?;
        let command = |words: &[&str]| {
            let mut command = Command::new(&program);
            command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            command
        };
        let (to, listen) = (uplink.to_string(), downlink.to_string());
        let (source, sink) = (format!("udp://{input}"), format!("udp://{output}"));
        let mut emulate = command(&["emulate"]);
        emulate.arg(scenario).args(["--listen", &to, "--to", &listen, "--json"]);
        let recv = command(&["recv", "--listen", &listen, "--output", &sink, "--latency", LATENCY, "--json"]);
        let mut send =
            command(&["send", "--input", &source, "--to", &to, "--repair", repair, "--latency", LATENCY, "--json"]);
        send.args(["--retry", "never"]);
        let (sender, lines) = channel();
        let processes = [
            Process::start("thalweg recv", recv, RECV, clock, sender.clone())?,
            Process::start("thalweg emulate", emulate, EMULATE, clock, sender.clone())?,
            Process::start("thalweg send", send, SEND, clock, sender)?,
        ];
        Ok(Processes { processes, lines, input })
    }

    /// Waits until `send` reports that it is connected.
    pub(super) fn connect(&mut self, clock: Clock, stop: &Stop) -> Result<(), String> {
        let start = clock.now();
        while !self.send().has_event("connected") {
            let outcome = self.listen(Duration::from_millis(50));
            if stop.asked() {
                return Err("stopped".into());
            }
            outcome?;
            if clock.now().since(start) > CONNECT_TIMEOUT {
                return Err(format!("send and recv did not connect within {CONNECT_TIMEOUT}"));
            }
        }
        Ok(())
    }

    /// Reads the processes' lines for `time`; fails if a process has ended.
    pub(super) fn listen(&mut self, time: Duration) -> Result<(), String> {
        self.receive(time);
        if self.processes.iter_mut().all(Process::is_running) {
            return Ok(());
        }
        // Its last lines may still be in the pipe.
        self.receive(Duration::from_millis(100));
        Err(self.processes.iter_mut().filter_map(Process::early_exit).collect::<Vec<_>>().join("; "))
    }

    fn receive(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.processes[line.index].receive(line);
        }
    }

    pub(super) fn send(&self) -> &Series {
        &self.processes[SEND].series
    }

    pub(super) fn recv(&self) -> &Series {
        &self.processes[RECV].series
    }

    /// Processor time that sender and receiver have used so far.
    pub(super) fn cpu(&self) -> Option<Span> {
        Some(self.processes[SEND].cpu()? + self.processes[RECV].cpu()?)
    }

    /// Rows that the relay has reported.
    pub(super) fn emulate(&self) -> &Series {
        &self.processes[EMULATE].series
    }

    /// Datagrams that the kernel dropped at the sockets of the processes and of this one.
    pub(super) fn dropped_by_kernel(&self) -> u64 {
        let pids = self.processes.iter().map(|process| process.child.id()).chain([std::process::id()]);
        // Without /proc the count is unknown.
        pids.map(|pid| dropped_datagrams(pid).unwrap_or(0)).sum()
    }
}

impl Process {
    fn start(
        name: &'static str,
        mut command: Command,
        index: usize,
        clock: Clock,
        sender: Sender<Line>,
    ) -> Result<Process, String> {
        let mut child = command.spawn().map_err(|error| format!("cannot start {name}: {}", plain(&error)))?;
        if let Some(stderr) = child.stderr.take() {
            std::thread::spawn(move || {
                for text in BufReader::new(stderr).lines().map_while(Result::ok) {
                    if sender.send(Line { index, at: clock.now(), text }).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Process { name, child, series: Series::default(), words: Vec::new() })
    }

    fn receive(&mut self, line: Line) {
        match serde_json::from_str(&line.text) {
            Ok(row) => self.series.push(line.at, row),
            Err(_) if line.text.trim().is_empty() => {}
            Err(_) => {
                self.words.push(line.text);
                self.words.drain(..self.words.len().saturating_sub(5));
            }
        }
    }

    fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// The reason of an early exit, if the process has ended.
    fn early_exit(&mut self) -> Option<String> {
        let why = match self.child.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let words = if self.words.is_empty() { String::new() } else { format!(": {}", self.words.join(" / ")) };
        Some(format!("{} ended early ({why}){words}", self.name))
    }

    /// Processor time of the process, which Linux counts in hundredths of a second; unknown elsewhere.
    fn cpu(&self) -> Option<Span> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        cpu_of(&stat)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process may have ended on its own.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Free ports. All are bound at the same time, so that they differ.
fn free_ports<const N: usize>() -> Result<[SocketAddr; N], String> {
    let bind = |_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|socket| Ok((socket.local_addr()?, socket)));
    let held: Result<Vec<_>, _> = (0..N).map(bind).collect();
    let held = held.map_err(|error| format!("cannot find free UDP ports on 127.0.0.1: {}", plain(&error)))?;
    Ok(std::array::from_fn(|nth| held[nth].0))
}

/// The fields utime and stime of proc(5)'s stat, which follow the command's name and its closing bracket.
fn cpu_of(stat: &str) -> Option<Span> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Span::from_millis((ticks()? + ticks()?) * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_after_a_name_with_brackets() {
        let stat = "42 (a ) b) S 1 42 42 0 -1 4194304 100 0 0 0 150 25 0 0 20 0 1 0 5 0 0";
        assert_eq!(cpu_of(stat), Some(Span::from_millis(1750)));
        assert_eq!(cpu_of("nonsense"), None);
    }

    #[test]
    fn ports_are_free_and_differ() {
        let [one, two] = free_ports::<2>().expect("loopback has ports");
        assert_ne!(one, two);
    }
}
