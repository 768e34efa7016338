//! The environment of a test: its turn, its tools, its directory, its ports.

use std::fs::Permissions;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::common::wait_until;

/// A program that a test needs, and the packages that provide it.
pub(crate) struct Tool {
    program: &'static str,
    /// Arguments with which it succeeds at once.
    probe: &'static [&'static str],
    packages: &'static str,
}

pub(crate) const FFMPEG: Tool = Tool { program: "ffmpeg", probe: &["-version"], packages: "ffmpeg" };
pub(crate) const GSTREAMER: Tool = Tool {
    program: "gst-inspect-1.0",
    probe: &["--exists", "rtpmp2tdepay"],
    packages: "gstreamer1.0-tools gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad",
};
pub(crate) const VLC: Tool = Tool { program: "vlc", probe: &["--version"], packages: "vlc-bin vlc-plugin-base" };
pub(crate) const SRT: Tool = Tool { program: "srt-live-transmit", probe: &["-version"], packages: "srt-tools" };
pub(crate) const TSHARK: Tool = Tool { program: "tshark", probe: &["--version"], packages: "tshark" };
pub(crate) const PYTHON: Tool = Tool { program: "python3", probe: &["--version"], packages: "python3" };

impl Tool {
    fn is_here(&self) -> bool {
        let mut command = Command::new(self.program);
        command.args(self.probe).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let probed = unprivileged(&mut command, &std::env::temp_dir()).status();
        probed.is_ok_and(|status| status.success())
    }
}

/// One test's turn and directory, which is removed at its end.
pub(crate) struct Stage {
    directory: PathBuf,
    _turn: MutexGuard<'static, ()>,
}

/// One test at a time: two in real time would compete for the processors.
static TURN: Mutex<()> = Mutex::new(());
static STAGES: AtomicU32 = AtomicU32::new(0);

impl Stage {
    /// Waits for the test's turn; `None`, and a line with the reason, if it is to be skipped.
    pub(crate) fn enter(tools: &[Tool]) -> Option<Stage> {
        if std::env::var_os("THALWEG_TEST_ALL").is_none() {
            println!("skipped: real peers in real time, only with THALWEG_TEST_ALL=1");
            return None;
        }
        if let Some(Tool { program, packages, .. }) = tools.iter().find(|tool| !tool.is_here()) {
            println!("skipped: {program} does not run here (on Debian: apt-get install {packages})");
            return None;
        }
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let nth = STAGES.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("thalweg-peers-{}-{nth}", std::process::id()));
        std::fs::create_dir(&directory).expect("a temporary directory");
        // For programs that run as the user nobody.
        std::fs::set_permissions(&directory, Permissions::from_mode(0o777)).expect("our own directory");
        Some(Stage { directory, _turn: turn })
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A path in the test's directory.
    pub(crate) fn path(&self, name: &str) -> String {
        self.directory.join(name).display().to_string()
    }

    /// Writes a file into the test's directory.
    pub(crate) fn write(&self, name: &str, contents: &str) -> String {
        let path = self.path(name);
        std::fs::write(&path, contents).expect("the temporary directory can be written");
        path
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Makes `command` run as the user nobody, at home in `home`, if this process is root's: VLC refuses to run as root.
pub(crate) fn unprivileged<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    const NOBODY: u32 = 65534;
    if rustix::process::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY).env("HOME", home);
    }
    command
}

/// An even free port, with the next one free as well: RTP's receivers open both.
pub(crate) fn free_port() -> u16 {
    let free = |port| UdpSocket::bind((Ipv4Addr::LOCALHOST, port)).ok();
    let even = || {
        let first = free(0)?;
        let port = first.local_addr().ok()?.port();
        (port.is_multiple_of(2) && free(port + 1).is_some()).then_some(port)
    };
    (0..1000).find_map(|_| even()).expect("two free ports in a row")
}

/// True if a socket receives at a port of this machine.
pub(crate) fn is_open(port: u16) -> bool {
    let local = format!(":{port:04X} ");
    let tables = ["/proc/net/udp", "/proc/net/udp6"];
    tables.iter().any(|table| std::fs::read_to_string(table).is_ok_and(|text| text.contains(&local)))
}

/// Waits until a socket receives at a port of this machine.
pub(crate) fn wait_for_port(port: u16) {
    wait_until(&format!("receiver at port {port}"), || is_open(port));
}
