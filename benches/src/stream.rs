//! One measured stream: source, sender, perhaps a path, receiver and sink.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use thalweg_net::drops::dropped_datagrams;

use crate::contestant::Contestant;
use crate::passage::{self, Passage};
use crate::program::Program;
use crate::scrap::Scrap;
use crate::sink::Sink;
use crate::source::{PAYLOAD, Source};
use crate::tap::{Passed, Tap};
use crate::udp;

/// The time that a process has to start listening.
const START: Duration = Duration::from_millis(200);

/// The longest time that the first datagram may take from source to sink.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The wait for the last datagrams, longer than any contestant's latency.
const DRAIN: Duration = Duration::from_millis(1500);

/// The parameters of a measurement.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Bits of media per second.
    pub rate: f64,
    /// The time before the measured interval; after the first loss of an emulated path, if it has losses.
    pub warm_up: Duration,
    /// The duration of the measured interval.
    pub measured: Duration,
    /// The path that connects sender and receiver.
    pub path: Connection,
}

/// The path from sender to receiver.
#[derive(Clone, Debug)]
pub enum Connection {
    /// Loopback.
    Direct,
    /// A relay that records the packets.
    Tapped,
    /// The relay, followed by `thalweg emulate`.
    Emulated {
        /// The `thalweg` binary.
        binary: PathBuf,
        /// The scenario file.
        scenario: PathBuf,
        /// The seed of the scenario.
        seed: u64,
    },
}

/// The results of a measurement.
#[derive(Clone, Default, Debug)]
pub struct Outcome {
    /// Bits of media per second that the source sent; may be less than planned on a busy machine.
    pub rate: f64,
    /// The number of datagrams that the source sent.
    pub sent: usize,
    /// The number of them that never arrived at the sink.
    pub lost: usize,
    /// The number of runs of consecutive lost datagrams.
    pub bursts: usize,
    /// The delay from source to sink of each delivered datagram, in seconds.
    pub latencies: Vec<f64>,
    /// The user and system time of sender and receiver together, in seconds.
    pub cpu: f64,
    /// The peak resident memory of sender and receiver, in bytes.
    pub memory: [u64; 2],
    /// The number of datagrams that the kernel dropped at the sockets of all processes, since the start.
    pub dropped: u64,
    /// The counters of an emulated path.
    pub passage: Option<Passage>,
    /// The packets from sender to receiver; empty without a relay.
    pub wire: Vec<Passed>,
}

impl Outcome {
    /// The share of the datagrams that was never delivered.
    pub fn loss(&self) -> f64 {
        self.lost as f64 / self.sent as f64
    }

    /// CPU seconds per delivered gigabyte.
    pub fn cpu_per_gigabyte(&self) -> f64 {
        self.cpu / (self.latencies.len() * PAYLOAD) as f64 * 1e9
    }

    /// UDP payload bytes on the wire per byte of media, minus 1.
    pub fn overhead(&self) -> f64 {
        let wire: usize = self.wire.iter().map(|passed| passed.len).sum();
        wire as f64 / (self.sent * PAYLOAD) as f64 - 1.0
    }
}

/// Everything that runs. Fields are dropped in order; the programs begin with the sender, so senders end first.
struct Rig {
    programs: Vec<Program>,
    /// The emulator's output.
    record: Option<Scrap>,
    tap: Option<Tap>,
    source: Source,
    sink: Sink,
}

/// Runs `contestant` once.
pub fn run(contestant: &Contestant, plan: &Plan) -> Result<Outcome, String> {
    let mut rig = Rig::start(contestant, plan).map_err(|error| format!("{}: {error}", contestant.name))?;
    let outcome = rig.wait_for_media().and_then(|()| rig.wait_for_loss(plan)).and_then(|()| rig.measure(plan));
    outcome.map_err(|error| format!("{}: {error}\n{}", contestant.name, contestant.lines()))
}

impl Rig {
    fn start(contestant: &Contestant, plan: &Plan) -> Result<Rig, String> {
        let failed = |error: io::Error| format!("no socket on loopback: {error}");
        let sink = Sink::start().map_err(failed)?;
        let (input, listen) = (udp::free_address().map_err(failed)?, udp::free_address().map_err(failed)?);
        let receiver = Program::start(contestant.receiver(listen, sink.address()))?;
        let mut programs = vec![receiver];
        let (mut to, mut record) = (listen, None);
        if let Connection::Emulated { binary, scenario, seed } = &plan.path {
            let at = udp::free_address().map_err(failed)?;
            let file = Scrap::write("")?;
            programs.insert(0, Program::recorded(emulator(binary, scenario, *seed, at, to), file.path())?);
            (to, record) = (at, Some(file));
        }
        let tap = match plan.path {
            Connection::Direct => None,
            _ => Some(Tap::start(to).map_err(failed)?),
        };
        thread::sleep(START);
        let sender = contestant.sender(input, tap.as_ref().map_or(to, Tap::address));
        programs.insert(0, Program::start(sender)?);
        thread::sleep(START);
        Ok(Rig { programs, record, tap, source: Source::start(input, plan.rate).map_err(failed)?, sink })
    }

    fn wait_for_media(&mut self) -> Result<(), String> {
        let start = Instant::now();
        while self.sink.count() == 0 {
            self.programs.iter_mut().try_for_each(Program::check)?;
            if start.elapsed() > TIMEOUT {
                return Err("nothing was delivered".into());
            }
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Waits until an emulated path has lost its first packet.
    fn wait_for_loss(&mut self, plan: &Plan) -> Result<(), String> {
        let (Connection::Emulated { scenario, seed, .. }, Some(tap)) = (&plan.path, &self.tap) else { return Ok(()) };
        let first = passage::first_loss(scenario, *seed)?.unwrap_or(0);
        while tap.count() < first {
            self.programs.iter_mut().try_for_each(Program::check)?;
            thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    fn measure(mut self, plan: &Plan) -> Result<Outcome, String> {
        thread::sleep(plan.warm_up);
        let (first, began, before) = (self.source.sent() as usize, udp::now(), self.cpu());
        thread::sleep(plan.measured);
        let (end, ended, after) = (self.source.sent() as usize, udp::now(), self.cpu());
        let memory = [0, self.programs.len() - 1].map(|i| self.programs[i].peak_memory().unwrap_or(0));
        thread::sleep(DRAIN);
        self.programs.iter_mut().try_for_each(Program::check)?;
        let dropped = self.dropped()?;
        drop(self.programs);
        let passage = self.record.map(|file| Passage::read(file.path())).transpose()?;
        let failed = |error: io::Error| format!("a socket on loopback failed: {error}");
        let sent = self.source.stop().map_err(failed)?;
        let delivered = self.sink.stop().map_err(failed)?;
        let mut wire = self.tap.map_or(Ok(Vec::new()), Tap::stop).map_err(failed)?;
        wire.retain(|passed| (began..ended).contains(&passed.at));
        if delivered.damaged > 0 {
            return Err(format!("{} datagrams were damaged", delivered.damaged));
        }
        let came = delivered.at.get(first..end.min(delivered.at.len())).unwrap_or_default();
        let latencies = latencies(&sent[first..end], came);
        let (lost, bursts) = (end - first - latencies.len(), bursts(came, end - first));
        let rate = ((end - first) * PAYLOAD * 8) as f64 / (ended - began) as f64 * 1e9;
        let cpu = (after - before).as_secs_f64();
        Ok(Outcome { rate, sent: end - first, lost, bursts, latencies, cpu, memory, dropped, passage, wire })
    }

    /// The number of datagrams that the kernel has dropped at the sockets of all processes and of this one.
    fn dropped(&self) -> Result<u64, String> {
        let processes = self.programs.iter().map(Program::id).chain([std::process::id()]);
        let drops: io::Result<Vec<u64>> = processes.map(dropped_datagrams).collect();
        drops.map(|drops| drops.iter().sum()).map_err(|error| format!("dropped datagrams cannot be counted: {error}"))
    }

    fn cpu(&self) -> Duration {
        // The emulator, if any, is between sender and receiver.
        let ends = [self.programs.first(), self.programs.last()];
        ends.into_iter().flatten().map(Program::cpu).sum()
    }
}

/// The number of runs of consecutive datagrams among the first `sent` that were never delivered; positions beyond the
/// end of `came` count as such.
fn bursts(came: &[Option<u64>], sent: usize) -> usize {
    let is_lost = |nth: usize| came.get(nth).is_none_or(Option::is_none);
    (0..sent).filter(|&nth| is_lost(nth) && (nth == 0 || !is_lost(nth - 1))).count()
}

fn latencies(sent: &[u64], came: &[Option<u64>]) -> Vec<f64> {
    sent.iter().zip(came).filter_map(|(sent, at)| Some(at.as_ref()?.saturating_sub(*sent) as f64 / 1e9)).collect()
}

fn emulator(
    binary: &Path,
    scenario: &Path,
    seed: u64,
    listen: std::net::SocketAddr,
    to: std::net::SocketAddr,
) -> Command {
    let mut command = Command::new(binary);
    command.arg("emulate").arg(scenario).args(["--seed", &seed.to_string()]);
    command.args(["--listen", &listen.to_string(), "--to", &to.to_string(), "--json"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_never_came_are_one_burst() {
        let came = [Some(1), None, None, Some(2), None, Some(3)];
        assert_eq!((bursts(&came, 6), bursts(&came, 8), bursts(&[], 3), bursts(&came[..1], 1)), (2, 3, 1, 0));
    }
}
