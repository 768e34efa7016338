//! Two namespaces with an emulated path between them.

use std::path::PathBuf;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use serde_json::Value;

use thalweg_testbed::{Hosts, Tcp};

use crate::common::{Running, signal};

/// One test at a time: the computers that a test emulates need all the time of this one.
static TURN: Mutex<()> = Mutex::new(());
static NTH: AtomicU32 = AtomicU32::new(0);

/// The right to lay cables, held while a test runs.
pub(crate) struct Yard(MutexGuard<'static, ()>);

impl Yard {
    /// The turn of a test; `None`, and a line with the reason, where the tests cannot run.
    pub(crate) fn enter() -> Option<Yard> {
        let missing = if std::env::var_os("THALWEG_TEST_ALL").is_none() {
            "set THALWEG_TEST_ALL=1 to run it"
        } else if let Some(missing) = thalweg_testbed::missing() {
            missing
        } else {
            // Threads and programs that a test starts inherit this priority: they stand for computers of their own,
            // which do not wait for the other work of this one.
            rustix::process::setpriority_process(None, -15).expect("root may");
            return Some(Yard(TURN.lock().unwrap_or_else(PoisonError::into_inner)));
        };
        println!("skipped: {missing}");
        None
    }

    /// Lays a cable whose directions a scenario describes.
    pub(crate) fn lay(&self, scenario: &str) -> Cable {
        let Yard(_turn) = self;
        let tag = format!("{}-{}", process::id(), NTH.fetch_add(1, Ordering::Relaxed));
        let file = std::env::temp_dir().join(format!("thalweg-kernel-{tag}.toml"));
        std::fs::write(&file, scenario).expect("the temporary directory can be written");
        let hosts = Hosts::make().expect("root may");
        let [near, far] = &hosts.devices;
        let path = file.to_str().expect("a name in UTF-8");
        let emulator = Running::start(&["emulate", path, "--tun", near, "--tun-to", far]);
        emulator.event("listening");
        hosts.connect(Tcp::Textbook).expect("root may");
        Cable { hosts, emulator, file }
    }
}

/// A cable between two namespaces. All of it is removed when it is dropped.
pub(crate) struct Cable {
    pub(crate) hosts: Hosts,
    emulator: Running,
    file: PathBuf,
}

impl Cable {
    /// Gives the emulator priority over everything else, if the machine has the means.
    pub(crate) fn before_all_else(&self) {
        let emulator = self.emulator.child.id().to_string();
        let _ = Command::new("chrt").args(["--fifo", "--pid", "10", &emulator]).status();
    }

    /// Stops the path for a while; packets that wait are delivered afterwards.
    #[cfg_attr(not(feature = "kernel"), allow(dead_code, reason = "only videos are held up"))]
    pub(crate) fn hold(&self, span: Duration) {
        signal(&self.emulator.child, Signal::STOP);
        thread::sleep(span);
        signal(&self.emulator.child, Signal::CONT);
    }

    /// Ends the emulator, whose counts must balance; returns its last report.
    pub(crate) fn end(mut self) -> Value {
        self.emulator.interrupt();
        self.emulator.succeeds();
        serde_json::from_str(&self.emulator.last_line()).expect("JSON")
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}
