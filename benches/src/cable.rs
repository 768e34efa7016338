//! Two ends of a path: network namespaces with `thalweg emulate` between them, or one computer's loopback.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use thalweg_net::error::Error;
use thalweg_net::testbed::{Namespace, ip};

use crate::place::Place;
use crate::program::Program;
use crate::scrap::Scrap;

/// The address of the far end; that of the near one is one below.
const FAR: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
const NEAR: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);

/// How long the emulator may take to make its devices.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where a client and its server are.
#[derive(Debug)]
pub struct Ends {
    /// The client's place.
    pub near: Place,
    /// The server's place.
    pub far: Place,
    /// The server, as the client sees it.
    pub address: Ipv4Addr,
}

impl Ends {
    /// Both on this computer, without any path between them.
    pub fn loopback() -> Ends {
        Ends { near: Place::Here, far: Place::Here, address: Ipv4Addr::LOCALHOST }
    }
}

/// A link of one rate in both directions, with losses behind it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Link {
    /// Megabits a second.
    pub megabits: u64,
    /// Both ways together, without waiting.
    pub rtt: Duration,
    /// Share of the packets that is lost, each way, independently.
    pub loss: f64,
}

impl Link {
    /// A lossy one, as tables call it.
    pub fn named(&self) -> String {
        format!("{} ms, {:.0} %", self.rtt.as_millis(), self.loss * 100.0)
    }

    /// As `thalweg emulate` reads it. The queue holds the packets of 1500 bytes that fill the path.
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

/// Two namespaces with an emulated path between them. All of it vanishes when it is dropped, the emulator first.
#[derive(Debug)]
pub struct Cable {
    emulator: Program,
    /// What it connects.
    pub ends: Ends,
    devices: [String; 2],
    _scenario: Scrap,
}

impl Cable {
    /// Lays one.
    pub fn lay(binary: &Path, link: &Link, seed: u64) -> Result<Cable, String> {
        static NTH: AtomicU32 = AtomicU32::new(0);
        let tag = format!("{}-{}", process::id(), NTH.fetch_add(1, Ordering::Relaxed));
        let scenario = Scrap::write(&link.scenario(seed))?;
        let devices = [format!("n{tag}"), format!("f{tag}")];
        let made = |name| Namespace::make(format!("thalweg-bench-{name}-{tag}")).map_err(|error| error.to_string());
        let (near, far) = (made("near")?, made("far")?);
        let mut command = Command::new(binary);
        command.arg("emulate").arg(scenario.path()).args(["--tun", &devices[0], "--tun-to", &devices[1]]);
        let mut emulator = Program::start(command)?;
        let start = Instant::now();
        while !devices.iter().all(|device| Path::new("/sys/class/net").join(device).exists()) {
            emulator.check()?;
            if start.elapsed() > PATIENCE {
                return Err("`thalweg emulate --tun` has made no devices".into());
            }
            thread::sleep(Duration::from_millis(10));
        }
        for (end, device, address) in [(&near, &devices[0], NEAR), (&far, &devices[1], FAR)] {
            connect(end, device, address).map_err(|error| error.to_string())?;
        }
        Ok(Cable {
            emulator,
            ends: Ends { near: Place::Apart(near), far: Place::Apart(far), address: FAR },
            devices,
            _scenario: scenario,
        })
    }

    /// Bytes of all IP packets that the near end has sent into it so far, and the far end.
    pub fn sent(&self) -> Result<[u64; 2], String> {
        Ok([self.ends.near.sent(&self.devices[0])?, self.ends.far.sent(&self.devices[1])?])
    }

    /// An error if the emulator has ended by itself.
    pub fn check(&mut self) -> Result<(), String> {
        self.emulator.check()
    }
}

/// Gives one end its device. The kernel keeps its defaults, but learns nothing from one connection for the next.
fn connect(end: &Namespace, device: &str, address: Ipv4Addr) -> Result<(), Error> {
    end.ip("link set lo up")?;
    end.set("ipv6/conf/default/disable_ipv6", "1")?;
    end.set("ipv4/tcp_no_metrics_save", "1")?;
    ip(&["link", "set", device, "netns", end.name()])?;
    end.ip(&format!("address add {address}/30 dev {device}"))?;
    // One segment a packet from TCP on; a queue to the emulator that outlasts a busy machine.
    end.ip(&format!("link set {device} gso_max_segs 1 txqueuelen 10000 up"))
}
