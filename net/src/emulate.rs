//! The emulator: packets of other programs pass through the lab's paths in real time.

mod devices;
mod direction;
mod relay;

use std::net::SocketAddr;

use thalweg_core::time::{Span, Time};
use thalweg_lab::scenario::Scenario;

use self::devices::Devices;
pub use self::direction::Direction;
pub use self::relay::MAX_CLIENTS;
use self::relay::Relay;
use crate::clock::{Clock, sharpen_timers};
use crate::error::Error;
use crate::signal::Stop;
use crate::tun::Name;

/// Interval between calls of `tick` in [`Emulator::run`].
const TICK: Span = Span::from_secs(1);

/// Two paths between programs: a relay of UDP datagrams, or a cable between two TUN devices.
#[derive(Debug)]
pub struct Emulator {
    clock: Clock,
    ends: Ends,
    forward: Direction,
    reverse: Direction,
}

/// The ends that the two paths connect.
#[derive(Debug)]
enum Ends {
    Relay(Relay),
    Devices(Devices),
}

impl Emulator {
    /// A relay of UDP datagrams from `listen` to `to`, whose paths start now.
    ///
    /// Each client has a socket of its own towards the server, so that the server distinguishes clients as well; all of
    /// them share the two paths.
    ///
    /// # Errors
    /// The address to listen on is not ours, or in use.
    pub fn relay(listen: SocketAddr, to: SocketAddr, scenario: Scenario) -> Result<Emulator, Error> {
        Ok(Emulator::between(Ends::Relay(Relay::open(listen, to)?), scenario))
    }

    /// A cable between two TUN devices, whose paths start now: a packet routed into `client` leaves from `server` at
    /// the end of the forward path, and vice versa.
    ///
    /// Devices that do not exist are created, and vanish with the emulator.
    ///
    /// # Errors
    /// The kernel has no TUN devices, or denies access to these.
    pub fn cable(client: &Name, server: &Name, scenario: Scenario) -> Result<Emulator, Error> {
        Ok(Emulator::between(Ends::Devices(Devices::open(client, server)?), scenario))
    }

    fn between(ends: Ends, scenario: Scenario) -> Emulator {
        let (forward, reverse) = (Direction::new(scenario.forward), Direction::new(scenario.reverse));
        Emulator { clock: Clock::start(), ends, forward, reverse }
    }

    /// The address that a relay listens on; none for a cable.
    pub fn local(&self) -> Option<SocketAddr> {
        match &self.ends {
            Ends::Relay(relay) => Some(relay.local()),
            Ends::Devices(_) => None,
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
    pub fn forward(&self) -> &Direction {
        &self.forward
    }

    /// The path from the server to the clients.
    pub fn reverse(&self) -> &Direction {
        &self.reverse
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
        let Emulator { clock, ends, forward, reverse } = self;
        let due = [forward.next(), reverse.next()].into_iter().flatten().fold(until, Time::min);
        match ends {
            Ends::Relay(relay) => {
                relay.receive(clock, due, forward, reverse)?;
                relay.deliver(clock.now(), forward, reverse);
            }
            Ends::Devices(devices) => {
                devices.receive(clock, due, forward, reverse)?;
                devices.deliver(clock.now(), forward, reverse);
            }
        }
        Ok(())
    }
}
