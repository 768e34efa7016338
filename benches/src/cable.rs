//! The two ends of a path: network namespaces with `thalweg emulate` between them, or one computer's loopback.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use thalweg_testbed::{FAR, Hosts, Tcp};

use crate::place::Place;
use crate::program::Program;
use crate::scrap::Scrap;

/// The longest time that the emulator may take to create its devices.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The places of a client and its server.
#[derive(Debug)]
pub struct Ends {
    /// The client's place.
    pub near: Place,
    /// The server's place.
    pub far: Place,
    /// The server's address, as the client sees it.
    pub address: Ipv4Addr,
}

impl Ends {
    /// Both ends on this computer, without any path between them.
    pub fn loopback() -> Ends {
        Ends { near: Place::Here, far: Place::Here, address: Ipv4Addr::LOCALHOST }
    }
}

/// A link with one rate for both directions, followed by random losses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Link {
    /// Megabits per second.
    pub megabits: u64,
    /// The round-trip time without queueing.
    pub rtt: Duration,
    /// The share of the packets that is lost in each direction, independently.
    pub loss: f64,
}

impl Link {
    /// The name of a lossy link in tables.
    pub fn named(&self) -> String {
        format!("{} ms, {:.0} %", self.rtt.as_millis(), self.loss * 100.0)
    }

    /// The scenario text for `thalweg emulate`. The queue holds as many packets of 1500 bytes as fill the path (at
    /// least 10).
    pub fn scenario(&self, seed: u64) -> String {
        let Link { megabits, loss, .. } = self;
        let one_way = self.rtt.as_micros() / 2;
        let queue = (megabits * self.rtt.as_micros() as u64 / 8 / 1500).max(10);
        let way = |name: &str| {
            let mut text = format!(
                "[{name}]\n[[{name}.element]]\nkind = \"drop_tail\"\nrate = \"{megabits}mbit\"\nqueue = {queue}\n"
            );
            if *loss > 0.0 {
                text += &format!("[[{name}.element]]\nkind = \"loss\"\nrate = {loss:?}\n");
            }
            text + &format!("[[{name}.element]]\nkind = \"wire\"\ndelay = \"{one_way}us\"\n")
        };
        format!("seed = {seed}\n{}{}", way("forward"), way("reverse"))
    }
}

/// Two namespaces with an emulated path between them. Dropping it removes everything, the emulator first.
#[derive(Debug)]
pub struct Cable {
    emulator: Program,
    /// The ends that it connects.
    pub ends: Ends,
    devices: [String; 2],
    _scenario: Scrap,
}

impl Cable {
    /// Creates the namespaces and starts the emulator.
    pub fn lay(binary: &Path, link: &Link, seed: u64) -> Result<Cable, String> {
        Cable::of(binary, Scrap::write(&link.scenario(seed))?)
    }

    /// Does the same with the path of a scenario file.
    pub fn of(binary: &Path, scenario: Scrap) -> Result<Cable, String> {
        let hosts = Hosts::make().map_err(|error| error.to_string())?;
        let devices = hosts.devices.clone();
        let mut command = Command::new(binary);
        command.arg("emulate").arg(scenario.path()).args(["--tun", &devices[0], "--tun-to", &devices[1]]);
        let mut emulator = Program::start(command)?;
        let start = Instant::now();
        while !devices.iter().all(|device| Path::new("/sys/class/net").join(device).exists()) {
            emulator.check()?;
            if start.elapsed() > TIMEOUT {
                return Err("`thalweg emulate --tun` has made no devices".into());
            }
            thread::sleep(Duration::from_millis(10));
        }
        hosts.connect(Tcp::Kernel).map_err(|error| error.to_string())?;
        let Hosts { near, far, .. } = hosts;
        Ok(Cable {
            emulator,
            ends: Ends { near: Place::Apart(near), far: Place::Apart(far), address: FAR },
            devices,
            _scenario: scenario,
        })
    }

    /// The bytes of all IP packets that the near end and the far end have sent into the path so far.
    pub fn sent(&self) -> Result<[u64; 2], String> {
        Ok([self.ends.near.sent(&self.devices[0])?, self.ends.far.sent(&self.devices[1])?])
    }

    /// Returns an error if the emulator has ended by itself.
    pub fn check(&mut self) -> Result<(), String> {
        self.emulator.check()
    }
}
