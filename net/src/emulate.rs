//! The emulator: packets of other programs pass through the lab's paths in real time.

mod devices;
mod direction;
mod relay;

use std::net::SocketAddr;

use thalweg_core::time::{Span, Time};
use thalweg_lab::check::Leak;
use thalweg_lab::node::wifi::Cell;
use thalweg_lab::path::Side;
use thalweg_lab::scenario::Scenario;

use self::devices::Devices;
pub use self::direction::Direction;
use self::direction::Paths;
pub use self::relay::MAX_SOCKETS;
use self::relay::Relay;
use crate::clock::{Clock, sharpen_timers};
use crate::error::Error;
use crate::signal::Stop;
use crate::tun::Name;

/// Interval between calls of `tick` in [`Emulator::run`].
const TICK: Span = Span::from_secs(1);

/// Two paths between programs: relays of UDP datagrams, or a cable between two TUN devices.
#[derive(Debug)]
pub struct Emulator {
    clock: Clock,
    ends: Ends,
    paths: Paths,
}

/// The ends that the two paths connect.
#[derive(Debug)]
enum Ends {
    Relay(Relay),
    Devices(Devices),
}

impl Emulator {
    /// Relays of UDP datagrams, each from its first address to its second, which share the paths. With a cell there is
    /// one for each station, in the order of the scenario.
    ///
    /// Each client has a socket of its own towards its server, so that the server distinguishes clients as well.
    ///
    /// # Errors
    /// An address to listen on is not ours, or in use; or there are more or fewer relays than stations, or more than
    /// half of [`MAX_SOCKETS`].
    pub fn relay(pairs: &[(SocketAddr, SocketAddr)], scenario: Scenario) -> Result<Emulator, Error> {
        let paths = Paths::new(scenario);
        if pairs.is_empty() || pairs.len() > MAX_SOCKETS / 2 {
            return Err(Error::new("relays", format!("{}, expected 1 to {}", pairs.len(), MAX_SOCKETS / 2)));
        }
        if paths.cell().is_some() && paths.stations() != pairs.len() {
            let why = format!("{} of them, expected one for each of {} relays", paths.stations(), pairs.len());
            return Err(Error::new("stations", why));
        }
        Ok(Emulator { clock: Clock::start(), ends: Ends::Relay(Relay::open(pairs)?), paths })
    }

    /// A cable between two TUN devices, whose paths start now: a packet routed into `client` leaves from `server` at
    /// the end of the forward path, and vice versa. With a cell the addresses at the server's end are its stations;
    /// packets of no station are refused.
    ///
    /// Devices that do not exist are created, and vanish with the emulator.
    ///
    /// # Errors
    /// The kernel has no TUN devices, or denies access to these; or the stations of a cell have no addresses.
    pub fn cable(client: &Name, server: &Name, scenario: Scenario) -> Result<Emulator, Error> {
        let paths = Paths::new(scenario);
        if paths.lacks_addresses() {
            return Err(Error::new("stations", "each needs an 'address', by which packets of a TUN device find it"));
        }
        Ok(Emulator { clock: Clock::start(), ends: Ends::Devices(Devices::open(client, server)?), paths })
    }

    /// The addresses that relays listen on; none for a cable.
    pub fn local(&self) -> Vec<SocketAddr> {
        match &self.ends {
            Ends::Relay(relay) => relay.local(),
            Ends::Devices(_) => Vec::new(),
        }
    }

    /// The time since the paths started.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The number of clients that a relay knows; none for a cable.
    pub fn clients(&self) -> Option<usize> {
        match &self.ends {
            Ends::Relay(relay) => Some(relay.clients()),
            Ends::Devices(_) => None,
        }
    }

    /// The path from the clients to the server.
    pub fn forward(&self) -> Direction<'_> {
        self.paths.direction(Side::Forward)
    }

    /// The path from the server to the clients.
    pub fn reverse(&self) -> Direction<'_> {
        self.paths.direction(Side::Reverse)
    }

    /// The Wi-Fi cell behind the forward path.
    pub fn cell(&self) -> Option<&Cell> {
        self.paths.cell()
    }

    /// Checks that no packet was invented or forgotten.
    ///
    /// # Errors
    /// Names the element whose account does not balance.
    pub fn check(&self) -> Result<(), Leak> {
        self.paths.check()
    }

    /// Carries packets until a stop is requested, and calls `tick` once a second.
    ///
    /// # Errors
    /// The kernel would not wait, or a device is gone.
    pub fn run(&mut self, stop: &Stop, mut tick: impl FnMut(&Emulator)) -> Result<(), Error> {
        sharpen_timers();
        let mut next_tick = self.clock.now() + TICK;
        while !stop.asked() {
            self.turn(next_tick)?;
            let now = self.clock.now();
            if now >= next_tick {
                tick(self);
                next_tick = now.max(next_tick + TICK);
            }
        }
        Ok(())
    }

    /// Sleeps until a packet arrives, one is due, or `until`; then receives and delivers packets.
    fn turn(&mut self, until: Time) -> Result<(), Error> {
        let Emulator { clock, ends, paths } = self;
        let due = paths.next().into_iter().fold(until, Time::min);
        match ends {
            Ends::Relay(relay) => {
                relay.receive(clock, due, paths)?;
                relay.deliver(clock.now(), paths);
            }
            Ends::Devices(devices) => {
                devices.receive(clock, due, paths)?;
                devices.deliver(clock.now(), paths);
            }
        }
        Ok(())
    }
}
