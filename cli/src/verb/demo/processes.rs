//! Processes of this program, and what they report.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use thalweg_core::time::{Span, Time};
use thalweg_net::clock::Clock;
use thalweg_net::drops::dropped_datagrams;
use thalweg_net::error::plain;
use thalweg_net::signal::Stop;

use super::series::Series;

/// The longest time that processes may take to connect.
const CONNECT_TIMEOUT: Span = Span::from_secs(10);

/// The processes, which are killed when this value is dropped.
pub(super) struct Processes {
    processes: Vec<Process>,
    lines: Receiver<Line>,
}

struct Process {
    /// The name of its verb.
    name: String,
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
    /// Starts one process per command line, which begins with the verb; `--json` is added.
    pub(super) fn start(commands: &[Vec<String>], clock: Clock) -> Result<Processes, String> {
        let program =
            std::env::current_exe().map_err(|error| format!("cannot find this program: {}", plain(&error)))?;
        let (sender, lines) = channel();
        let start = |(index, words): (usize, &Vec<String>)| {
            let mut command = Command::new(&program);
            command.args(words).arg("--json").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
            Process::start(&words[0], command, index, clock, sender.clone())
        };
        let processes = commands.iter().enumerate().map(start).collect::<Result<Vec<_>, _>>()?;
        Ok(Processes { processes, lines })
    }

    /// Waits until the process `nth` has reported `event` `count` times.
    pub(super) fn wait_for(
        &mut self,
        nth: usize,
        event: &str,
        count: usize,
        clock: Clock,
        stop: &Stop,
    ) -> Result<(), String> {
        let start = clock.now();
        while self.series(nth).events(event).count() < count {
            let outcome = self.listen(Duration::from_millis(50));
            if stop.asked() {
                return Err("stopped".into());
            }
            outcome?;
            if clock.now().since(start) > CONNECT_TIMEOUT {
                return Err(format!("no connection within {CONNECT_TIMEOUT}"));
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

    /// The rows that the process `nth` has reported.
    pub(super) fn series(&self, nth: usize) -> &Series {
        &self.processes[nth].series
    }

    /// Processor time that the process `nth` has used so far.
    pub(super) fn cpu(&self, nth: usize) -> Option<Span> {
        self.processes[nth].cpu()
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
        verb: &str,
        mut command: Command,
        index: usize,
        clock: Clock,
        sender: Sender<Line>,
    ) -> Result<Process, String> {
        let name = format!("thalweg {verb}");
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
pub(super) fn free_ports<const N: usize>() -> Result<[SocketAddr; N], String> {
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
