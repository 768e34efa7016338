//! Two namespaces whose devices an emulator creates.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};

use thalweg_net::error::Error;

use crate::namespace::{Namespace, ip};

/// The address of the near end, from which the forward path leads.
pub const NEAR: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// The address of the far end.
pub const FAR: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);

/// Hosts that this process has created: the number keeps names of devices unique.
static CREATED: AtomicU32 = AtomicU32::new(0);

/// The reason that no hosts can be created here; none if they can.
pub fn missing() -> Option<&'static str> {
    if !rustix::process::geteuid().is_root() {
        Some("needs root")
    } else if !Path::new("/dev/net/tun").exists() {
        Some("no /dev/net/tun")
    } else if Command::new("ip").arg("-V").output().is_err() {
        Some("no program ip (on Debian: apt-get install iproute2)")
    } else {
        None
    }
}

/// Two hosts on this machine, which are removed on drop.
#[derive(Debug)]
pub struct Hosts {
    /// The host at which the forward path begins.
    pub near: Namespace,
    /// The host at which it ends.
    pub far: Namespace,
    /// The names of the TUN devices of the near and the far host, which the emulator creates.
    pub devices: [String; 2],
}

/// The settings of the hosts' TCP. Metrics of one connection are never kept for the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tcp {
    /// The kernel's defaults.
    Kernel,
    /// Nothing that a textbook's TCP lacks, and buffers that bound no window.
    Textbook,
}

impl Hosts {
    /// Creates the hosts, without their devices.
    ///
    /// # Errors
    /// The reason that [`missing`] names.
    pub fn make() -> Result<Hosts, Error> {
        let tag = format!("{}-{}", process::id(), CREATED.fetch_add(1, Ordering::Relaxed));
        let near = Namespace::make(format!("thalweg-near-{tag}"))?;
        let far = Namespace::make(format!("thalweg-far-{tag}"))?;
        Ok(Hosts { near, far, devices: [format!("n{tag}"), format!("f{tag}")] })
    }

    /// Gives each host its device, which must exist, and its address.
    ///
    /// # Errors
    /// The kernel refuses a setting.
    pub fn connect(&self, tcp: Tcp) -> Result<(), Error> {
        let [near, far] = &self.devices;
        [(&self.near, near, NEAR), (&self.far, far, FAR)].into_iter().try_for_each(|(host, device, address)| {
            host.ip("link set lo up")?;
            tcp.settings().iter().try_for_each(|(parameter, value)| host.set(parameter, value))?;
            ip(&["link", "set", device, "netns", host.name()])?;
            host.ip(&format!("address add {address}/30 dev {device}"))?;
            // One segment per packet from TCP; a queue to the emulator that outlasts a busy machine.
            host.ip(&format!("link set {device} gso_max_segs 1 txqueuelen 10000 up"))
        })
    }
}

impl Tcp {
    /// Parameters below /proc/sys/net.
    fn settings(self) -> &'static [(&'static str, &'static str)] {
        const TEXTBOOK: [(&str, &str); 6] = [
            ("ipv6/conf/default/disable_ipv6", "1"),
            ("ipv4/tcp_no_metrics_save", "1"),
            ("ipv4/tcp_timestamps", "0"),
            // A socket that begins under the machine's default may be BBR's, and stays paced under any other control.
            ("ipv4/tcp_congestion_control", "reno"),
            ("ipv4/tcp_rmem", "4096 131072 33554432"),
            ("ipv4/tcp_wmem", "4096 131072 33554432"),
        ];
        match self {
            Tcp::Kernel => &TEXTBOOK[..2],
            Tcp::Textbook => &TEXTBOOK,
        }
    }
}
