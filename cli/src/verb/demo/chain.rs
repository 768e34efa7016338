//! The three processes of a run: `send`, `emulate` and `recv`, on ports of their own.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use thalweg_core::time::Span;
use thalweg_net::clock::Clock;
use thalweg_net::signal::Stop;

use super::processes::{Processes, free_ports};
use super::series::Series;

/// Latency from input to output, given to both endpoints.
pub(super) const LATENCY: &str = "90ms";

/// The indices of the processes, in the order in which they start.
const RECV: usize = 0;
const EMULATE: usize = 1;
const SEND: usize = 2;

/// The processes of a run.
pub(super) struct Chain {
    processes: Processes,
    /// The address that takes the video.
    pub(super) input: SocketAddr,
}

impl Chain {
    /// Starts the processes; the received video goes to `output`.
    pub(super) fn start(repair: &str, scenario: &Path, output: SocketAddr, clock: Clock) -> Result<Chain, String> {
        let [input, uplink, downlink] = free_ports()?;
        let (scenario, to, listen) = (scenario.display().to_string(), uplink.to_string(), downlink.to_string());
        let (source, sink) = (format!("udp://{input}"), format!("udp://{output}"));
        let recv = ["recv", "--listen", &listen, "--output", &sink, "--latency", LATENCY];
        let emulate = ["emulate", &scenario, "--listen", &to, "--to", &listen];
        let send =
            ["send", "--input", &source, "--to", &to, "--repair", repair, "--latency", LATENCY, "--retry", "never"];
        let commands: [&[&str]; 3] = [&recv, &emulate, &send];
        let commands = commands.map(|words| words.iter().map(|word| (*word).to_owned()).collect());
        Ok(Chain { processes: Processes::start(&commands, clock)?, input })
    }

    /// Waits until `send` reports that it is connected.
    pub(super) fn connect(&mut self, clock: Clock, stop: &Stop) -> Result<(), String> {
        self.processes.wait_for(SEND, "connected", 1, clock, stop)
    }

    /// Reads the processes' lines for `time`; fails if a process has ended.
    pub(super) fn listen(&mut self, time: Duration) -> Result<(), String> {
        self.processes.listen(time)
    }

    pub(super) fn send(&self) -> &Series {
        self.processes.series(SEND)
    }

    pub(super) fn recv(&self) -> &Series {
        self.processes.series(RECV)
    }

    pub(super) fn emulate(&self) -> &Series {
        self.processes.series(EMULATE)
    }

    /// Processor time that sender and receiver have used so far.
    pub(super) fn cpu(&self) -> Option<Span> {
        Some(self.processes.cpu(SEND)? + self.processes.cpu(RECV)?)
    }

    /// Datagrams that the kernel dropped at the sockets of the processes and of this one.
    pub(super) fn dropped_by_kernel(&self) -> u64 {
        self.processes.dropped_by_kernel()
    }
}
