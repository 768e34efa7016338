//! Network namespaces on this machine, made by `ip netns`.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::process::Command;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use thalweg_net::error::{Error, plain};

/// A network namespace, which is removed on drop.
#[derive(Debug)]
pub struct Namespace(String);

impl Namespace {
    /// Creates a namespace.
    ///
    /// # Errors
    /// There is no `ip`, this process is not root, or the name is taken.
    pub fn make(name: String) -> Result<Namespace, Error> {
        ip(&["netns", "add", &name])?;
        Ok(Namespace(name))
    }

    /// The name of the namespace in `ip netns`.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Runs `ip` inside with these arguments, which blanks separate.
    ///
    /// # Errors
    /// The message of `ip`, in one line.
    pub fn ip(&self, args: &str) -> Result<(), Error> {
        ip(&["-n", self.name()].into_iter().chain(args.split(' ')).collect::<Vec<&str>>())
    }

    /// Runs `work` inside; sockets that are created there stay there.
    ///
    /// # Errors
    /// The namespace is gone, or the error of `work`.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> Result<T, Error> + Send) -> Result<T, Error> {
        let entering = || format!("network namespace {}", self.name());
        let file = File::open(format!("/run/netns/{}", self.name())).map_err(Error::io(entering()))?;
        let inside = || {
            // Applies to this thread alone, which ends with the work.
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
                .map_err(|errno| Error::io(entering())(errno.into()))?;
            work()
        };
        thread::scope(|scope| scope.spawn(inside).join().expect("what is done in a namespace does not panic"))
    }

    /// Sets a parameter below /proc/sys/net, if this kernel has it.
    ///
    /// # Errors
    /// The kernel does not take the value.
    pub fn set(&self, parameter: &str, value: &str) -> Result<(), Error> {
        // The file shows the namespace of the thread that opens it.
        self.within(|| match fs::write(format!("/proc/sys/net/{parameter}"), value) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Error::io(format!("{parameter} = {value}"))(error))
            }
            _ => Ok(()),
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        // An error cannot be reported from here; the leftover is visible in `ip netns`.
        let _ = ip(&["netns", "delete", self.name()]);
    }
}

/// Runs `ip` with these arguments.
///
/// # Errors
/// The message of `ip`, in one line.
pub(crate) fn ip(args: &[&str]) -> Result<(), Error> {
    let tried = || format!("ip {}", args.join(" "));
    let output = Command::new("ip").args(args).output();
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::new(tried(), "no such program (on Debian: apt-get install iproute2)"),
        _ => Error::new(tried(), plain(&error)),
    })?;
    match output.status.success() {
        true => Ok(()),
        false => Err(Error::new(tried(), String::from_utf8_lossy(&output.stderr).trim())),
    }
}
