//! The loop: one thread that turns a station between its peer's socket, its media and the clock.

use thalweg_core::session::Session;
use thalweg_core::time::{Span, Time};

use crate::clock::Clock;
use crate::error::{Error, plain};
use crate::figures::Figures;
use crate::metrics::Server;
use crate::poll::{self, Interests, Ready};
use crate::report::Report;
use crate::reporter::Audience;
use crate::signal::Stop;
use crate::station::Station;
use crate::udp::{Inbox, Outbox, Socket};

/// How often figures are told.
const TICK: Span = Span::from_secs(1);
/// What leaves in one turn is made in so long, or in the next: who comes, asks or waits for the end is heard in between,
/// however far a rate is above what the machine makes.
const BREATH: Span = Span::from_millis(2);
/// How long a polite end may take.
const GRACE: Span = Span::from_secs(2);

/// Everything that a stream needs to run.
#[derive(Debug)]
pub struct Driver<T> {
    /// Its zero is the zero of every time that a session sees.
    pub clock: Clock,
    /// Who may ask for the end.
    pub stop: Stop,
    /// The way to the peer.
    pub peer: Socket,
    /// The end that is driven.
    pub station: T,
    /// Who may ask for metrics.
    pub metrics: Option<Server>,
    /// Who is told what happens.
    pub audience: Box<dyn Audience>,
}

impl<T: Station> Driver<T> {
    /// Runs until the station is over or somebody asks for the end, and gives the station back.
    ///
    /// # Errors
    /// The media's outside is gone, or the kernel refuses to wait.
    pub fn run(self) -> Result<T, Error> {
        let now = self.clock.now();
        let mut turning = Turning {
            driver: self,
            inbox: Inbox::new(),
            outbox: Outbox::new(),
            looked: now,
            tick: now + TICK,
            give_up: None,
            told_unsent: false,
        };
        let outcome = turning.run();
        turning.tell();
        if outcome.is_err() {
            // The other end need not find out by silence. What failed is told by whoever gets it.
            turning.part();
        }
        let Driver { clock, station, mut audience, .. } = turning.driver;
        audience.leave(clock.now(), &Figures::read(&station));
        outcome.map(|()| station)
    }
}

/// A driver under way.
struct Turning<T> {
    driver: Driver<T>,
    inbox: Inbox,
    outbox: Outbox,
    looked: Time,
    tick: Time,
    give_up: Option<Time>,
    told_unsent: bool,
}

impl<T: Station> Turning<T> {
    fn run(&mut self) -> Result<(), Error> {
        let mut more = true;
        loop {
            let mut ready = self.wait(more)?;
            let now = self.driver.clock.now();
            more = self.turn(now, &mut ready)?;
            if self.driver.station.is_over() || self.give_up.is_some_and(|at| now >= at) {
                return Ok(());
            }
        }
    }

    /// One turn: what came in, what is due, what goes out.
    fn turn(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error> {
        let mut more = ready.take() && self.receive(now);
        let station = &mut self.driver.station;
        if station.session().poll_timeout().is_some_and(|at| at <= now) {
            station.session().handle_timeout(now);
        }
        more |= station.exchange(now, ready)?;
        more |= self.transmit(now);
        self.tell();
        if let Some(server) = &mut self.driver.metrics {
            let station = &self.driver.station;
            server.serve(now, ready, || Figures::read(station).to_prometheus());
        }
        if now >= self.tick {
            self.tick = self.tick.max(now - TICK) + TICK;
            // What has been told in this turn was told later than it began, and a row is stamped like an event.
            let Driver { clock, station, audience, .. } = &mut self.driver;
            audience.see(clock.now(), &Figures::read(station));
        }
        if self.give_up.is_none() && self.driver.stop.asked() {
            self.give_up = Some(now + GRACE);
            self.part();
            more = true;
        }
        Ok(more)
    }

    /// Begins a polite end, and sends what it says at once.
    fn part(&mut self) {
        let now = self.driver.clock.now();
        self.driver.station.finish(now);
        self.transmit(now);
    }

    fn receive(&mut self, now: Time) -> bool {
        let more = self.driver.peer.receive(&mut self.inbox);
        for (from, datagram) in self.inbox.datagrams() {
            // A session counts what it refuses.
            let _ = self.driver.station.session().handle_datagram(now, from, datagram);
        }
        if self.driver.peer.take_unreachable() {
            self.driver.station.handle_unreachable(now);
        }
        more
    }

    /// Sends what is due; whether there may be more.
    fn transmit(&mut self, now: Time) -> bool {
        let Driver { clock, station, peer, .. } = &mut self.driver;
        let until = clock.now() + BREATH;
        let mut more = false;
        while !more && let Some(transmit) = station.session().poll_transmit(now, self.outbox.room()) {
            self.outbox.push(peer, transmit.to, transmit.len);
            more = clock.now() >= until;
        }
        self.outbox.flush(peer);
        more
    }

    fn tell(&mut self) {
        let Driver { clock, peer, station, audience, .. } = &mut self.driver;
        while let Some(report) = station.poll_report() {
            audience.hear(clock.now(), &report);
        }
        if !self.told_unsent
            && let Some(error) = peer.take_error()
        {
            self.told_unsent = true;
            let text = format!("sending from {}: {}; trying on", peer.local(), plain(&error));
            audience.hear(clock.now(), &Report::warning(text));
        }
    }

    /// Sleeps until something happens or is due; not at all if more is waiting.
    fn wait(&mut self, more: bool) -> Result<Ready, Error> {
        let Driver { clock, stop, peer, station, metrics, .. } = &mut self.driver;
        let dues = [
            station.session().poll_timeout(),
            station.next(),
            metrics.as_ref().and_then(Server::next),
            self.give_up,
            Some(self.tick),
        ];
        let due = dues.into_iter().flatten().min().unwrap_or(self.tick);
        let rest = station.rest();
        let look = self.looked + rest;
        if !more {
            // One waking serves both, where they are not far apart.
            let wake = if due <= look + rest / 4 { due } else { look };
            poll::sleep(wake.since(clock.now()));
            if clock.now() < look {
                return Ok(Ready::NOTHING);
            }
        }
        let mut interests = Interests::new();
        interests.read(peer);
        station.interests(&mut interests);
        if let Some(server) = metrics {
            server.interests(&mut interests);
        }
        let now = clock.now();
        let timeout = if more || stop.asked() { Span::ZERO } else { due.since(now) };
        let ready = interests.wait(timeout).map_err(Error::io("waiting"))?;
        self.looked = if timeout == Span::ZERO { now } else { clock.now() };
        Ok(ready)
    }
}

#[cfg(test)]
mod tests;
