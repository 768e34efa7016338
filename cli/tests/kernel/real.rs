//! `thalweg lab reproduce tcp-stream --real`, as far as it can be tested in a short time.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::cable::Yard;
use crate::control::Control;

/// Namespaces of this process: their names end in its number and one of their own.
fn namespaces(process: u32) -> usize {
    let wanted = format!("-{process}-");
    let all = fs::read_dir("/run/netns").map(|entries| entries.flatten().collect::<Vec<_>>()).unwrap_or_default();
    all.iter().filter(|entry| entry.file_name().to_string_lossy().contains(&wanted)).count()
}

#[test]
fn what_is_interrupted_leaves_nothing_behind() {
    let Some(_yard) = Yard::enter() else { return };
    // Taken only for the line that it prints where the kernel takes no programs.
    let Some(_control) = Control::named() else { return };
    let page = std::env::temp_dir().join(format!("thalweg-real-{}.html", std::process::id()));
    let mut child = Command::new(env!("CARGO_BIN_EXE_thalweg"))
        .args(["lab", "reproduce", "tcp-stream", "--real", "--out"])
        .arg(&page)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // The lab's runs come first, a minute or so in a build for tests.
    let deadline = Instant::now() + Duration::from_secs(300);
    while namespaces(child.id()) < 2 {
        assert!(Instant::now() < deadline && child.try_wait().expect("a child").is_none(), "no cable");
        thread::sleep(Duration::from_millis(50));
    }
    thread::sleep(Duration::from_secs(2));
    let process = Pid::from_child(&child);
    kill_process(process, Signal::INT).expect("it is there");
    let number = child.id();
    let output = child.wait_with_output().expect("a child");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted by SIGINT before the first run was completed"), "{said}");
    assert_eq!(namespaces(number), 0);
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("the list");
    assert!(!known.contains(&format!("r{number}")), "{known}");
    assert!(!Path::new(&page).exists());
}
