//! The event loop: one thread that drives an endpoint between its peer's socket, its media and the clock.

use thalweg_core::session::Session;
use thalweg_core::time::{Span, Time};

use crate::clock::Clock;
use crate::endpoint::Endpoint;
use crate::error::{Error, plain};
use crate::figures::to_prometheus;
use crate::metrics::Server;
use crate::poll::{self, Interests, Ready};
use crate::report::Report;
use crate::reporter::Audience;
use crate::signal::Stop;
use crate::udp::{Inbox, Outbox, Socket};

/// Interval between reports of figures.
const TICK: Span = Span::from_secs(1);
/// Time that one turn may spend on generating datagrams; the rest is sent in the next. In between, the loop receives,
/// answers metrics requests and notices a stop, however far a rate exceeds what the machine can generate.
const TRANSMIT_TIME: Span = Span::from_millis(2);
/// Time limit of a graceful end.
const GRACE: Span = Span::from_secs(2);

/// The components of a running stream.
#[derive(Debug)]
pub struct Driver<T> {
    /// The clock, whose zero is the zero of every time that a session sees.
    pub clock: Clock,
    /// The flag that requests the end.
    pub stop: Stop,
    /// The socket to the peer.
    pub peer: Socket,
    /// The endpoint that is driven.
    pub endpoint: T,
    /// The server for metrics, if there is one.
    pub metrics: Option<Server>,
    /// The receiver of events and figures.
    pub audience: Box<dyn Audience>,
}

impl<T: Endpoint> Driver<T> {
    /// Runs until the endpoint is over or a stop is requested, and returns the endpoint.
    ///
    /// # Errors
    /// No input or output is left, or the kernel refuses to wait.
    pub fn run(self) -> Result<T, Error> {
        let now = self.clock.now();
        let mut event_loop = EventLoop {
            driver: self,
            inbox: Inbox::new(),
            outbox: Outbox::new(),
            polled: now,
            tick: now + TICK,
            give_up: None,
            reported_unsent: false,
        };
        let outcome = event_loop.run();
        event_loop.report();
        if outcome.is_err() {
            // Spares the peer a timeout. The caller reports the error itself.
            event_loop.shut_down();
        }
        let Driver { clock, endpoint, mut audience, .. } = event_loop.driver;
        audience.on_end(clock.now(), &endpoint.figures());
        outcome.map(|()| endpoint)
    }
}

/// A running driver.
struct EventLoop<T> {
    driver: Driver<T>,
    inbox: Inbox,
    outbox: Outbox,
    polled: Time,
    tick: Time,
    give_up: Option<Time>,
    reported_unsent: bool,
}

impl<T: Endpoint> EventLoop<T> {
    fn run(&mut self) -> Result<(), Error> {
        let mut more = true;
        loop {
            let mut ready = self.wait(more)?;
            let unread = ready.take() && self.receive();
            let now = self.driver.clock.now();
            more = self.turn(now, &mut ready)? || unread;
            if self.driver.endpoint.is_over() || self.give_up.is_some_and(|at| now >= at) {
                return Ok(());
            }
        }
    }

    /// Runs the rest of a turn: handles timeouts, exchanges media, sends and reports. Returns true if more work is waiting.
    fn turn(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error> {
        let endpoint = &mut self.driver.endpoint;
        if endpoint.session().poll_timeout().is_some_and(|at| at <= now) {
            endpoint.session().handle_timeout(now);
        }
        let mut more = endpoint.exchange(now, ready)?;
        more |= self.transmit(now);
        self.report();
        if let Some(server) = &mut self.driver.metrics {
            let endpoint = &self.driver.endpoint;
            server.serve(now, ready, || to_prometheus(&endpoint.figures()));
        }
        if now >= self.tick {
            self.tick = self.tick.max(now - TICK) + TICK;
            // Events of this turn are stamped later than `now`; the row of figures must not be stamped earlier than
            // those.
            let Driver { clock, endpoint, audience, .. } = &mut self.driver;
            audience.on_figures(clock.now(), &endpoint.figures());
        }
        if self.give_up.is_none() && self.driver.stop.asked() {
            self.give_up = Some(now + GRACE);
            self.shut_down();
            more = true;
        }
        Ok(more)
    }

    /// Begins a graceful end, and sends its datagrams at once.
    fn shut_down(&mut self) {
        let now = self.driver.clock.now();
        self.driver.endpoint.finish(now);
        self.transmit(now);
    }

    /// Reads datagrams and passes them on; returns true if there may be more.
    fn receive(&mut self) -> bool {
        let more = self.driver.peer.receive(&mut self.inbox);
        // The clock comes after the datagrams: those that arrive while the process is preempted in between would have
        // arrival times that are too early.
        let now = self.driver.clock.now();
        for (from, datagram) in self.inbox.datagrams() {
            // The session counts the datagrams that it refuses.
            let _ = self.driver.endpoint.session().handle_datagram(now, from, datagram);
        }
        if self.driver.peer.take_unreachable() {
            self.driver.endpoint.handle_unreachable(now);
        }
        more
    }

    /// Sends due datagrams; returns true if there may be more.
    fn transmit(&mut self, now: Time) -> bool {
        let Driver { clock, endpoint, peer, .. } = &mut self.driver;
        let until = clock.now() + TRANSMIT_TIME;
        let mut more = false;
        while !more && let Some(transmit) = endpoint.session().poll_transmit(now, self.outbox.space()) {
            self.outbox.push(peer, transmit.to, transmit.len);
            more = clock.now() >= until;
        }
        self.outbox.flush(peer);
        more
    }

    fn report(&mut self) {
        let Driver { clock, peer, endpoint, audience, .. } = &mut self.driver;
        while let Some(report) = endpoint.poll_report() {
            audience.on_report(clock.now(), &report);
        }
        if !self.reported_unsent
            && let Some(error) = peer.take_error()
        {
            self.reported_unsent = true;
            let text = format!("sending from {}: {}; retrying", peer.local(), plain(&error));
            audience.on_report(clock.now(), &Report::warning(text));
        }
    }

    /// Sleeps until an event or a deadline; does not sleep if `more` is true.
    fn wait(&mut self, more: bool) -> Result<Ready, Error> {
        let Driver { clock, stop, peer, endpoint, metrics, .. } = &mut self.driver;
        let dues = [
            endpoint.session().poll_timeout(),
            endpoint.next(),
            metrics.as_ref().and_then(Server::next),
            self.give_up,
            Some(self.tick),
        ];
        let due = dues.into_iter().flatten().min().unwrap_or(self.tick);
        let rest = endpoint.rest();
        let poll_at = self.polled + rest;
        if !more {
            // One wake-up serves both if they are close together.
            let wake = if due <= poll_at + rest / 4 { due } else { poll_at };
            poll::sleep(wake.since(clock.now()));
            if clock.now() < poll_at {
                return Ok(Ready::NOTHING);
            }
        }
        let mut interests = Interests::new();
        interests.read(peer);
        endpoint.interests(&mut interests);
        if let Some(server) = metrics {
            server.interests(&mut interests);
        }
        let now = clock.now();
        let timeout = if more || stop.asked() { Span::ZERO } else { due.since(now) };
        let ready = interests.wait(timeout).map_err(Error::io("waiting"))?;
        self.polled = if timeout == Span::ZERO { now } else { clock.now() };
        Ok(ready)
    }
}

#[cfg(test)]
mod tests;
