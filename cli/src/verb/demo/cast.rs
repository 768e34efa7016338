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

/// From input to output, given to both ends.
pub(super) const LATENCY: &str = "90ms";

/// How long `send` and `recv` may take to find each other.
const PATIENCE: Span = Span::from_secs(10);

/// The processes, which end with this value.
pub(super) struct Cast {
    actors: [Actor; 3],
    lines: Receiver<Line>,
    /// Where the film goes in.
    pub(super) input: SocketAddr,
}

/// The parts, in the order in which they enter.
const RECV: usize = 0;
const EMULATE: usize = 1;
const SEND: usize = 2;

struct Actor {
    name: &'static str,
    process: Child,
    series: Series,
    /// The last words that are not JSON.
    words: Vec<String>,
}

/// A line that an actor has said.
struct Line {
    actor: usize,
    at: Time,
    text: String,
}

impl Cast {
    /// Starts the processes; what arrives goes to `output`.
    pub(super) fn enter(repair: &str, scenario: &Path, output: SocketAddr, clock: Clock) -> Result<Cast, String> {
        let [input, uplink, downlink] = free_ports()?;
        let program =
            std::env::current_exe().map_err(|error| format!("cannot find my own program: {}", plain(&error)))?;
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
        let (tell, lines) = channel();
        let actors = [
            Actor::enter("thalweg recv", recv, RECV, clock, tell.clone())?,
            Actor::enter("thalweg emulate", emulate, EMULATE, clock, tell.clone())?,
            Actor::enter("thalweg send", send, SEND, clock, tell)?,
        ];
        Ok(Cast { actors, lines, input })
    }

    /// Waits until the stream stands.
    pub(super) fn connect(&mut self, clock: Clock, stop: &Stop) -> Result<(), String> {
        let start = clock.now();
        while !self.send().tells("connected") {
            let heard = self.listen(Duration::from_millis(50));
            if stop.asked() {
                return Err("stopped".into());
            }
            heard?;
            if clock.now().since(start) > PATIENCE {
                return Err(format!("send and recv did not find each other within {PATIENCE}"));
            }
        }
        Ok(())
    }

    /// Takes what the actors say for `time`.
    pub(super) fn listen(&mut self, time: Duration) -> Result<(), String> {
        self.hear(time);
        if self.actors.iter_mut().all(Actor::is_here) {
            return Ok(());
        }
        // Its last words may still be under way.
        self.hear(Duration::from_millis(100));
        Err(self.actors.iter_mut().filter_map(Actor::farewell).collect::<Vec<_>>().join("; "))
    }

    fn hear(&mut self, time: Duration) {
        let end = Instant::now() + time;
        while let Ok(line) = self.lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            self.actors[line.actor].hear(line);
        }
    }

    pub(super) fn send(&self) -> &Series {
        &self.actors[SEND].series
    }

    pub(super) fn recv(&self) -> &Series {
        &self.actors[RECV].series
    }

    /// Processor time that sender and receiver have used so far.
    pub(super) fn cpu(&self) -> Option<Span> {
        Some(self.actors[SEND].cpu()? + self.actors[RECV].cpu()?)
    }

    /// Counts that the relay has reported.
    pub(super) fn emulate(&self) -> &Series {
        &self.actors[EMULATE].series
    }

    /// Datagrams that this machine has dropped in front of its own sockets, those of the processes and this one's.
    pub(super) fn dropped_by_kernel(&self) -> u64 {
        let processes = self.actors.iter().map(|actor| actor.process.id()).chain([std::process::id()]);
        // Without /proc nothing is known.
        processes.map(|pid| dropped_datagrams(pid).unwrap_or(0)).sum()
    }
}

impl Actor {
    fn enter(
        name: &'static str,
        mut command: Command,
        actor: usize,
        clock: Clock,
        tell: Sender<Line>,
    ) -> Result<Actor, String> {
        let mut process = command.spawn().map_err(|error| format!("cannot start {name}: {}", plain(&error)))?;
        if let Some(voice) = process.stderr.take() {
            std::thread::spawn(move || {
                for text in BufReader::new(voice).lines().map_while(Result::ok) {
                    if tell.send(Line { actor, at: clock.now(), text }).is_err() {
                        break;
                    }
                }
            });
        }
        Ok(Actor { name, process, series: Series::default(), words: Vec::new() })
    }

    fn hear(&mut self, line: Line) {
        match serde_json::from_str(&line.text) {
            Ok(row) => self.series.push(line.at, row),
            Err(_) if line.text.trim().is_empty() => {}
            Err(_) => {
                self.words.push(line.text);
                self.words.drain(..self.words.len().saturating_sub(5));
            }
        }
    }

    fn is_here(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// Why it left before the end, if it did.
    fn farewell(&mut self) -> Option<String> {
        let why = match self.process.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => status.to_string(),
            Err(error) => error.to_string(),
        };
        let words = if self.words.is_empty() { String::new() } else { format!(": {}", self.words.join(" / ")) };
        Some(format!("{} ended early ({why}){words}", self.name))
    }

    /// Linux counts in hundredths of a second; elsewhere this is unknown.
    fn cpu(&self) -> Option<Span> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).ok()?;
        cpu_of(&stat)
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        // It may have ended on its own.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Ports that nobody holds now. All are held at once while they are looked for, so that they differ.
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
    fn processor_time_is_read_past_a_hostile_name() {
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
