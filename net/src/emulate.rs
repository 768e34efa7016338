//! The emulator: packets of other programs take the lab's paths, by the wall clock.

mod devices;
mod relay;
mod way;

use std::net::SocketAddr;

use thalweg_core::time::{Span, Time};
use thalweg_lab::scenario::Scenario;

use self::devices::Devices;
pub use self::relay::MAX_CLIENTS;
use self::relay::Relay;
pub use self::way::Way;
use crate::clock::{Clock, sharpen_timers};
use crate::error::Error;
use crate::signal::Stop;
use crate::tun::Name;

/// How often a run tells how it goes.
const TICK: Span = Span::from_secs(1);

/// Two paths between programs: a relay of UDP datagrams, or a cable between two TUN devices.
#[derive(Debug)]
pub struct Emulator {
    clock: Clock,
    ends: Ends,
    forward: Way,
    reverse: Way,
}

/// What the paths lead from and to.
#[derive(Debug)]
enum Ends {
    Relay(Relay),
    Devices(Devices),
}

impl Emulator {
    /// A relay of UDP datagrams from `listen` to `to`, whose paths start now.
    ///
    /// Each client has a socket of its own towards the server, so that the server tells them apart as well; all of them
    /// share the two paths.
    ///
    /// # Errors
    /// The address to listen on is not ours, or in use.
    pub fn relay(listen: SocketAddr, to: SocketAddr, scenario: Scenario) -> Result<Emulator, Error> {
        Ok(Emulator::between(Ends::Relay(Relay::open(listen, to)?), scenario))
    }

    /// A cable between two TUN devices, whose paths start now: what is routed into `client` comes out of `server` at the
    /// end of the forward path, and the other way round.
    ///
    /// The devices are made if there are none of these names, and vanish with the emulator.
    ///
    /// # Errors
    /// The kernel has no TUN devices, or does not let us have these.
    pub fn cable(client: &Name, server: &Name, scenario: Scenario) -> Result<Emulator, Error> {
        Ok(Emulator::between(Ends::Devices(Devices::open(client, server)?), scenario))
    }

    fn between(ends: Ends, scenario: Scenario) -> Emulator {
        let (forward, reverse) = (Way::new(scenario.forward), Way::new(scenario.reverse));
        Emulator { clock: Clock::start(), ends, forward, reverse }
    }

    /// Where a relay listens.
    pub fn local(&self) -> Option<SocketAddr> {
        match &self.ends {
            Ends::Relay(relay) => Some(relay.local()),
            Ends::Devices(_) => None,
        }
    }

    /// The time on its clock, which started with its paths.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// How many clients a relay knows.
    pub fn clients(&self) -> Option<usize> {
        match &self.ends {
            Ends::Relay(relay) => Some(relay.clients()),
            Ends::Devices(_) => None,
        }
    }

    /// From the clients to the server.
    pub fn forward(&self) -> &Way {
        &self.forward
    }

    /// From the server to the clients.
    pub fn reverse(&self) -> &Way {
        &self.reverse
    }

    /// Carries packets until `stop` is asked for, and calls `tick` once a second.
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

    /// Sleeps until a packet comes, one is due, or `until`; then does what there is to do.
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
