//! Two namespaces with an emulated path between them.

use std::path::PathBuf;
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use serde_json::Value;

use thalweg_net::testbed::{self, FAR, NEAR, Namespace};

use crate::common::{Running, signal};

/// Two computers cannot share the time of one: one test at a time.
static TURN: Mutex<()> = Mutex::new(());
static NTH: AtomicU32 = AtomicU32::new(0);

/// The right to lay cables, held while a test runs.
pub(crate) struct Yard(MutexGuard<'static, ()>);

impl Yard {
    /// None, and a line that says why, where the tests cannot run.
    pub(crate) fn enter() -> Option<Yard> {
        let missing = if std::env::var_os("THALWEG_TEST_ALL").is_none() {
            "set THALWEG_TEST_ALL=1 to run it"
        } else if let Some(missing) = testbed::missing() {
            missing
        } else {
            // Threads and programs that a test starts inherit this: they stand for computers of their own, which do not
            // wait for what else runs on this one.
            rustix::process::setpriority_process(None, -15).expect("root may");
            return Some(Yard(TURN.lock().unwrap_or_else(PoisonError::into_inner)));
        };
        println!("skipped: {missing}");
        None
    }

    /// Lays a cable whose directions are those of a scenario.
    pub(crate) fn lay(&self, scenario: &str) -> Cable {
        let Yard(_turn) = self;
        let tag = format!("{}-{}", process::id(), NTH.fetch_add(1, Ordering::Relaxed));
        let file = std::env::temp_dir().join(format!("thalweg-kernel-{tag}.toml"));
        std::fs::write(&file, scenario).expect("the temporary directory can be written");
        let devices = [format!("n{tag}"), format!("f{tag}")];
        let near = Namespace::make(format!("thalweg-near-{tag}")).expect("root may");
        let far = Namespace::make(format!("thalweg-far-{tag}")).expect("root may");
        let path = file.to_str().expect("a name in UTF-8");
        let emulator = Running::start(&["emulate", path, "--tun", &devices[0], "--tun-to", &devices[1]]);
        emulator.event("listening");
        for (end, device, address) in [(&near, &devices[0], NEAR), (&far, &devices[1], FAR)] {
            testbed::plug(end, device, address).expect("root may");
        }
        let [near_device, _] = devices;
        Cable { near, far, near_device, emulator, file }
    }
}

/// A cable between two namespaces. All of it vanishes when it is dropped.
pub(crate) struct Cable {
    pub(crate) near: Namespace,
    pub(crate) far: Namespace,
    /// The device of the near end.
    #[cfg_attr(not(feature = "kernel"), allow(dead_code, reason = "only films are cut off"))]
    pub(crate) near_device: String,
    emulator: Running,
    file: PathBuf,
}

impl Cable {
    /// Lets the emulator run whenever it has something to do, whatever else does, if the machine has the means.
    pub(crate) fn before_all_else(&self) {
        let emulator = self.emulator.child.id().to_string();
        let _ = Command::new("chrt").args(["--fifo", "--pid", "10", &emulator]).status();
    }

    /// Lets nothing through for a while; what waits then goes on.
    #[cfg_attr(not(feature = "kernel"), allow(dead_code, reason = "only films are held up"))]
    pub(crate) fn hold(&self, span: Duration) {
        signal(&self.emulator.child, Signal::STOP);
        thread::sleep(span);
        signal(&self.emulator.child, Signal::CONT);
    }

    /// Ends the emulator, whose books must balance; what it told last.
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
