//! Computers: the one that this runs on, and network namespaces on it, which are gone when their owner is.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::Command;
use std::thread;

/// A place with a network of its own.
#[derive(Debug)]
pub struct Namespace {
    /// None for the network that the bench itself is in.
    name: Option<String>,
}

impl Namespace {
    /// The network that the bench is in.
    pub fn host() -> Namespace {
        Namespace { name: None }
    }

    /// Makes one, whose loopback is up.
    pub fn make(name: String) -> Result<Namespace, String> {
        ip(&["netns", "add", &name])?;
        let made = Namespace { name: Some(name) };
        made.ip("link set lo up")?;
        Ok(made)
    }

    /// Why none can be made here; nothing if they can.
    pub fn missing() -> Option<&'static str> {
        // SAFETY: this call has no arguments.
        if unsafe { libc::geteuid() } != 0 {
            Some("network namespaces need root")
        } else if !Path::new("/dev/net/tun").exists() {
            Some("there is no /dev/net/tun")
        } else if Command::new("ip").arg("-V").output().is_err() {
            Some("there is no ip; on Debian: sudo apt-get install iproute2")
        } else {
            None
        }
    }

    /// What it is called.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Runs `ip` in it.
    pub fn ip(&self, args: &str) -> Result<(), String> {
        let place = self.name().map_or(vec![], |name| vec!["-n", name]);
        ip(&place.into_iter().chain(args.split(' ')).collect::<Vec<&str>>())
    }

    /// Does `work` in it; sockets and processes that are made there stay there.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
        let Some(name) = self.name() else { return work() };
        let failed = |error: io::Error| format!("cannot enter the network namespace {name}: {error}");
        let file = File::open(format!("/run/netns/{name}")).map_err(failed)?;
        let inside = || {
            // SAFETY: the descriptor is open; only this thread, which ends with the work, moves.
            match unsafe { libc::setns(file.as_raw_fd(), libc::CLONE_NEWNET) } {
                0 => work(),
                _ => Err(failed(io::Error::last_os_error())),
            }
        };
        thread::scope(|scope| scope.spawn(inside).join().expect("what is done in a namespace does not panic"))
    }

    /// Sets a parameter of the kernel's network, if the kernel has it.
    pub fn set(&self, parameter: &str, value: &str) -> Result<(), String> {
        // The file shows the namespace of the thread that opens it.
        self.within(|| match fs::write(format!("/proc/sys/net/{parameter}"), value) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!("cannot set {parameter}: {error}")),
            _ => Ok(()),
        })
    }

    /// Bytes of the IP packets that have been routed into `device`.
    pub fn sent(&self, device: &str) -> Result<u64, String> {
        let failed = |why: &dyn std::fmt::Display| format!("no counters of {device}: {why}");
        self.within(|| {
            let text = fs::read_to_string("/proc/thread-self/net/dev").map_err(|error| failed(&error))?;
            let line = text.lines().find_map(|line| line.trim_start().strip_prefix(&format!("{device}:")));
            // Eight columns of what was received stand before it.
            let bytes = line.and_then(|line| line.split_whitespace().nth(8)?.parse().ok());
            bytes.ok_or_else(|| failed(&"no such line in /proc/net/dev"))
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Some(name) = self.name() {
            // What is left over is seen in `ip netns`; there is nobody to tell.
            let _ = ip(&["netns", "delete", name]);
        }
    }
}

/// Runs `ip`.
pub fn ip(args: &[&str]) -> Result<(), String> {
    let line = args.join(" ");
    let output = Command::new("ip").args(args).output().map_err(|error| format!("cannot run ip: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("`ip {line}`: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
