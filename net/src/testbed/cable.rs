//! Two namespaces, and an emulated path from the one to the other.

use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use thalweg_lab::scenario::Scenario;

use super::namespace::{Namespace, ip};
use crate::emulate::Emulator;
use crate::error::Error;
use crate::signal::Stop;
use crate::tun;

/// The address of the near end, from which the forward path leads.
pub const NEAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 1));
/// The address of the far end.
pub const FAR: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 77, 0, 2));

/// Cables that this process has laid: their devices have names of their own.
static LAID: AtomicU32 = AtomicU32::new(0);

/// Why no cable can be laid here; none if one can.
pub fn missing() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        Some("it needs root")
    } else if !Path::new("/dev/net/tun").exists() {
        Some("there is no /dev/net/tun")
    } else if Command::new("ip").arg("-V").output().is_err() {
        Some("there is no ip (on Debian: apt-get install iproute2)")
    } else {
        None
    }
}

/// Two computers with a path between them.
#[derive(Debug)]
pub struct Cable {
    /// Where the forward path begins.
    pub near: Namespace,
    /// Where it ends.
    pub far: Namespace,
    stop: Stop,
    emulator: Option<JoinHandle<Result<(), Error>>>,
}

impl Cable {
    /// Lays one with the paths of a scenario, which start now.
    ///
    /// # Errors
    /// As [`missing`] has it, or the kernel refuses a device.
    pub fn lay(scenario: Scenario) -> Result<Cable, Error> {
        let tag = format!("{}-{}", process::id(), LAID.fetch_add(1, Ordering::Relaxed));
        let near = Namespace::make(format!("thalweg-near-{tag}"))?;
        let far = Namespace::make(format!("thalweg-far-{tag}"))?;
        let (near_device, far_device) = (device(format!("n{tag}"))?, device(format!("f{tag}"))?);
        let emulator = Emulator::cable(&near_device, &far_device, scenario)?;
        plug(&near, &near_device, NEAR)?;
        plug(&far, &far_device, FAR)?;
        let stop = Stop::default();
        let asked = stop.clone();
        let emulator = thread::spawn(move || carry(emulator, &asked));
        Ok(Cable { near, far, stop, emulator: Some(emulator) })
    }

    /// Takes it away.
    ///
    /// # Errors
    /// A device was gone, or a path's books do not balance.
    pub fn end(mut self) -> Result<(), Error> {
        self.stop.ask();
        let emulator = self.emulator.take().expect("it ends once");
        emulator.join().map_err(|_| Error::new("emulator", "it panicked"))?
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.stop.ask();
        if let Some(emulator) = self.emulator.take() {
            // Whoever wants to know how it went ends it.
            let _ = emulator.join();
        }
    }
}

fn device(name: String) -> Result<tun::Name, Error> {
    name.parse().map_err(|why| Error::new(format!("TUN device {name}"), why))
}

/// Gives one end of a cable its TUN device and its address, and its TCP nothing that a textbook's does not have.
///
/// # Errors
/// The kernel refuses it.
pub fn plug(end: &Namespace, device: &impl Display, address: IpAddr) -> Result<(), Error> {
    let settings = [
        ("ipv6/conf/default/disable_ipv6", "1"),
        ("ipv4/tcp_no_metrics_save", "1"),
        ("ipv4/tcp_timestamps", "0"),
        ("ipv4/tcp_rmem", "4096 131072 33554432"),
        ("ipv4/tcp_wmem", "4096 131072 33554432"),
    ];
    settings.iter().try_for_each(|(parameter, value)| end.set(parameter, value))?;
    ip(&["link", "set", &device.to_string(), "netns", end.name()])?;
    end.ip(&format!("address add {address}/30 dev {device}"))?;
    // One segment a packet from TCP on; a queue to the emulator that outlasts a busy machine.
    end.ip(&format!("link set {device} gso_max_segs 1 txqueuelen 10000 up"))
}

fn carry(mut emulator: Emulator, stop: &Stop) -> Result<(), Error> {
    // It stands for a network, which waits for nothing else that runs here; where the machine has the means, that is.
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    let _ = Command::new("chrt").args(["--fifo", "--pid", "10", &thread]).output();
    emulator.run(stop, |_| ())?;
    for way in [emulator.forward(), emulator.reverse()] {
        way.check().map_err(|leak| Error::new("emulated path", leak))?;
    }
    Ok(())
}
