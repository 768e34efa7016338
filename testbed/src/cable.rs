//! Two namespaces, and an emulated path between them.

use std::process::Command;
use std::thread::{self, JoinHandle};

use thalweg_lab::scenario::Scenario;
use thalweg_net::emulate::Emulator;
use thalweg_net::error::Error;
use thalweg_net::signal::Stop;
use thalweg_net::tun;

use crate::hosts::{Hosts, Tcp};

/// Two hosts with a path between them.
#[derive(Debug)]
pub struct Cable {
    /// Its ends.
    pub hosts: Hosts,
    stop: Stop,
    emulator: Option<JoinHandle<Result<(), Error>>>,
}

impl Cable {
    /// Creates a cable with the paths of a scenario, which start now.
    ///
    /// # Errors
    /// Something that the two hosts need is missing, or the kernel refuses a device.
    pub fn lay(scenario: Scenario) -> Result<Cable, Error> {
        let hosts = Hosts::make()?;
        let [near, far] = [device(&hosts.devices[0])?, device(&hosts.devices[1])?];
        let emulator = Emulator::cable(&near, &far, scenario)?;
        hosts.connect(Tcp::Textbook)?;
        let stop = Stop::default();
        let asked = stop.clone();
        let emulator = thread::spawn(move || carry(emulator, &asked));
        Ok(Cable { hosts, stop, emulator: Some(emulator) })
    }

    /// Removes the cable.
    ///
    /// # Errors
    /// A device was gone, or the packet counts of a path do not balance.
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
            // Callers that need the outcome call `end`.
            let _ = emulator.join();
        }
    }
}

fn device(name: &str) -> Result<tun::Name, Error> {
    name.parse().map_err(|why| Error::new(format!("TUN device {name}"), why))
}

fn carry(mut emulator: Emulator, stop: &Stop) -> Result<(), Error> {
    // The emulator stands for a network, which waits for nothing else on this machine; hence real-time priority, if
    // granted.
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    let _ = Command::new("chrt").args(["--fifo", "--pid", "10", &thread]).output();
    emulator.run(stop, |_| ())?;
    emulator.check().map_err(|leak| Error::new("emulated path", leak))
}
