//! `thalweg kernel load`, under a name of the test's own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::Value;

use crate::common::run;

static NTH: AtomicU32 = AtomicU32::new(0);

/// A control that is loaded, until it is dropped.
pub(crate) struct Control(String);

impl Control {
    /// Loads a control; `None`, and a line with the reason, where no program can be fitted to the kernel.
    pub(crate) fn load(args: &[&str]) -> Option<Control> {
        let control = Control::named()?;
        let (code, out, error) = control.run("load", args);
        assert_eq!((code, out.as_str(), error.as_str()), (0, control.is_loaded().as_str(), ""));
        Some(control)
    }

    /// A control of the same kind that is not loaded yet.
    pub(crate) fn named() -> Option<Control> {
        if !Path::new("/sys/kernel/btf/vmlinux").exists() {
            println!("skipped: this kernel has no /sys/kernel/btf/vmlinux");
            return None;
        }
        let name = format!("t{}_{}", process::id(), NTH.fetch_add(1, Ordering::Relaxed));
        assert!(name.len() <= 15, "{name}");
        Some(Control(name))
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }

    /// The name, for threads that may outlive the test.
    pub(crate) fn lasting_name(&self) -> &'static str {
        Box::leak(self.0.clone().into_boxed_str())
    }

    /// Runs `thalweg kernel VERB`.
    pub(crate) fn run(&self, verb: &str, args: &[&str]) -> (i32, String, String) {
        run(&[&["kernel", verb, "--name", self.name()], args].concat())
    }

    /// The message of `load` where the control is not the default.
    pub(crate) fn is_loaded(&self) -> String {
        let choosing = format!("sysctl -w net.ipv4.tcp_congestion_control={}", self.name());
        format!("{} is loaded; choose it for all traffic with: {choosing}\n", self.name())
    }

    /// Checks that the verb fails in one line, which may also name the other controls that are loaded on this machine.
    pub(crate) fn is_refused_as_not_loaded(&self, verb: &str) {
        let (code, out, line) = self.run(verb, &[]);
        let expected = format!("thalweg: kernel: {} is not loaded", self.name());
        assert!(code == 1 && out.is_empty() && line.starts_with(&expected) && line.lines().count() == 1, "{line}");
    }

    /// The connections that `status` lists.
    pub(crate) fn connections(&self) -> Vec<Value> {
        let (code, out, error) = self.run("status", &["--json"]);
        assert_eq!(code, 0, "{error}");
        let status: Value = serde_json::from_str(&out).expect("JSON");
        status["connections"].as_array().expect("a list").clone()
    }

    /// The folder in which the control is pinned.
    pub(crate) fn folder(&self) -> PathBuf {
        Path::new("/sys/fs/bpf/thalweg").join(&self.0)
    }

    /// Compiles a program in C against `kernel/include`, and runs it with the name as its argument; it succeeds.
    pub(crate) fn in_c(&self, what: &str, source: &str, stdin: Stdio) {
        let program = std::env::temp_dir().join(format!("thalweg-{what}-{}", self.name()));
        let include = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernel/include");
        let mut compiler = Command::new("cc")
            .args(["-Wall", "-Werror", "-I", include, "-xc", "-", "-o"])
            .arg(&program)
            .stdin(Stdio::piped())
            .spawn()
            .expect("a C compiler");
        compiler.stdin.take().expect("piped").write_all(source.as_bytes()).expect("it reads");
        assert!(compiler.wait().expect("a child").success());
        let status = Command::new(&program).arg(self.name()).stdin(stdin).status().expect("it runs");
        std::fs::remove_file(&program).expect("it was there");
        assert!(status.success(), "{status}");
    }

    /// True if the kernel has the control.
    pub(crate) fn is_registered(&self) -> bool {
        let names = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control").expect("the list");
        names.split_whitespace().any(|name| name == self.name())
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = self.run("unload", &[]);
    }
}
