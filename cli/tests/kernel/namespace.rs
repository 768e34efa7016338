//! A network namespace, which is gone when its test ends, well or not.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;
use std::thread::{self, JoinHandle};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A namespace with a name of its own.
pub(crate) struct Namespace(String);

impl Namespace {
    /// Makes one.
    pub(crate) fn make(name: String) -> Namespace {
        ip(&["netns", "add", &name]);
        Namespace(name)
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }

    /// Runs `ip` inside.
    pub(crate) fn ip(&self, args: &str) {
        let words: Vec<&str> = ["-n", self.name()].into_iter().chain(args.split(' ')).collect();
        ip(&words);
    }

    /// Starts a thread inside.
    pub(crate) fn spawn<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
        let file = File::open(format!("/run/netns/{}", self.name())).expect("a namespace");
        thread::spawn(move || {
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network)).expect("root may enter it");
            work()
        })
    }

    /// Sets a kernel parameter of this namespace, if the kernel knows it.
    pub(crate) fn set(&self, parameter: &'static str, value: &'static str) {
        // The file shows the namespace of the thread that opens it.
        let written = self.spawn(move || std::fs::write(format!("/proc/sys/net/{parameter}"), value));
        if let Err(error) = written.join().expect("no panic") {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{parameter}: {error}");
        }
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "delete", self.name()]).status();
    }
}

/// Runs `ip`.
pub(crate) fn ip(args: &[&str]) {
    let output = Command::new("ip").args(args).output().expect("iproute2");
    assert!(output.status.success(), "ip {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr));
}
