//! The sending end of a live stream.

mod calls;
mod telling;
#[cfg(test)]
mod tests;

pub use calls::Retry;
pub(super) use telling::name;

use std::collections::VecDeque;
use std::net::SocketAddr;

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::rng::Rng;
use thalweg_core::session::Session;
use thalweg_core::session::live::sender::{Config, Event, Sender};
use thalweg_core::session::live::{Ending, Kind, Metric};
use thalweg_core::time::{Span, Time};

use super::{REST, Station};
use crate::error::Error;
use crate::input::Input;
use crate::poll::{Interests, Ready};
use crate::report::Report;
use calls::Calls;
use telling::describe;

const CALLS: Metric = Metric {
    name: "calls_total",
    kind: Kind::Counter,
    help: "Sessions that have begun: the first, and one for each call after an end",
};

const REFUSED: Metric = Metric {
    name: "input_refused_datagrams_total",
    kind: Kind::Counter,
    help: "Datagrams at the input that cannot be carried: too long, or not what the input's scheme says",
};

const SKIPPED: Metric = Metric {
    name: "input_skipped_bytes_total",
    kind: Kind::Counter,
    help: "Bytes at an input of MPEG-TS that belong to no packet",
};

/// From so many datagrams in [`PERIOD`] on, their gaps are so short that waking for each would cost more than all else.
const DENSE: u32 = 60;
/// Over which density is measured.
const PERIOD: Span = Span::from_millis(10);
/// A receiver that has not answered for so long is asked for in words.
const PATIENCE: Span = Span::from_secs(1);

/// An input and the sessions that send it, one after the other.
#[derive(Debug)]
pub struct Sending {
    calls: Calls,
    to: SocketAddr,
    input: Input,
    density: Density,
    /// The time of this turn.
    now: Time,
    /// Whether media has come, or somebody has answered.
    has_begun: bool,
    /// True once it was reported that nobody answers this call.
    asked: bool,
    /// Where bare repair goes, while nobody has been told that the receiver does not take it.
    fec_port: Option<u16>,
    reports: VecDeque<Report>,
    /// Why it ends, once that is decided here.
    finishing: Option<&'static str>,
    ending: Option<Ending>,
}

impl Sending {
    /// Calls the receiver at once, and again as `retry` has it, and sends what `input` gives.
    pub fn new(config: Config, now: Time, rng: &Rng, retry: Retry, input: Input) -> Sending {
        Sending {
            to: config.to,
            fec_port: config.fec_to.map(|to| to.port()),
            calls: Calls::new(config, now, rng.fork("calls"), retry),
            input,
            density: Density::default(),
            now,
            has_begun: false,
            asked: false,
            reports: VecDeque::new(),
            finishing: None,
            ending: None,
        }
    }

    /// Its source of media.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// The end of the last session, once no other follows.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Sends what waits and says goodbye; only the first reason counts.
    fn part(&mut self, now: Time, why: &'static str) {
        if self.finishing.replace(self.finishing.unwrap_or(why)).is_some() {
            return;
        }
        let Sending { calls, input, .. } = self;
        input.finish(|payload| calls.session.handle_media(now, payload));
        match calls.again.take() {
            // Between two calls nobody is left to say goodbye to.
            Some((_, ending)) => self.end(if self.input.is_over() { ending } else { Ending::Bye }),
            None => calls.session.finish(now),
        }
    }

    /// Ends the station, and reports it.
    fn end(&mut self, ending: Ending) {
        self.ending = Some(ending);
        self.reports.push_back(telling::ended(ending, self.finishing.unwrap_or_default()));
    }

    /// Takes in the session's events.
    fn hear(&mut self) {
        while self.ending.is_none()
            && let Some(event) = self.calls.session.poll_event()
        {
            let mut wait = None;
            match event {
                Event::Connected { .. } => self.calls.on_connected(self.now),
                Event::Busy => wait = Some(self.calls.on_busy(self.now)),
                Event::Silent | Event::Left => wait = Some(self.calls.on_silent(self.now)),
                Event::Ended(ending) => {
                    match self.calls.on_ended(self.now, ending, self.finishing.is_none()) {
                        (ending, Some(wait)) => self.reports.push_back(telling::retry(self.to, ending, wait)),
                        (ending, None) => self.end(ending),
                    }
                    continue;
                }
                _ => {}
            }
            self.reports.push_back(describe(event, self.input.is_live(), wait));
            // None but Thalweg answers a hello.
            if let Event::Connected { .. } = event
                && let Some(port) = self.fec_port.take()
            {
                let text = format!("thalweg recv does not take repair at port {port}: without --fec-port it would");
                self.reports.push_back(Report::warning(text));
            }
        }
    }

    /// The time at which a receiver that does not answer is asked for in words.
    fn asks_at(&self) -> Option<Time> {
        let waits = !self.asked && self.finishing.is_none() && self.calls.is_unanswered();
        waits.then(|| self.calls.since + PATIENCE)
    }
}

/// How densely datagrams come.
#[derive(Debug, Default)]
struct Density {
    since: Time,
    count: u32,
    is_dense: bool,
}

impl Density {
    fn tick(&mut self, now: Time) {
        if now.since(self.since) >= PERIOD {
            *self = Density { since: now, count: 0, is_dense: self.count >= DENSE };
        }
    }
}

impl Station for Sending {
    type Session = Sender;

    const SIDE: &'static str = "send";

    fn metrics() -> impl Iterator<Item = &'static Metric> {
        Sender::METRICS.iter().chain([&CALLS, &REFUSED, &SKIPPED])
    }

    fn session(&mut self) -> &mut Sender {
        &mut self.calls.session
    }

    fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error> {
        self.now = now;
        self.hear();
        if self.calls.turn(now) {
            self.asked = false;
        }
        if self.calls.again.is_some() {
            // Figures are of the last second also while nothing is sent.
            self.calls.session.handle_timeout(now);
        }
        if self.asks_at().is_some_and(|due| due <= now) {
            self.asked = true;
            self.reports.push_back(telling::waiting(self.to));
        }
        let Sending { calls, input, density, has_begun, .. } = self;
        let connected = calls.session.is_connected();
        *has_begun |= connected;
        density.tick(now);
        // A live input runs on while nobody listens; what it gives is counted, and does not leave.
        let is_wanted = connected || (*has_begun && input.is_live());
        let more = input.read(now, ready, is_wanted, |payload| {
            density.count += 1;
            *has_begun = true;
            calls.session.handle_media(now, payload);
        })?;
        if self.input.is_over() {
            self.part(now, "the input is over");
        }
        Ok(more)
    }

    fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        self.input.interests(interests);
    }

    fn rest(&self) -> Span {
        // What no law paces leaves when it is looked at: below 63 Mb/s each datagram on its own, above in trains.
        if self.calls.session.is_paced() || self.density.is_dense { REST } else { Span::ZERO }
    }

    fn next(&self) -> Option<Time> {
        [self.input.next(), self.calls.next(), self.asks_at()].into_iter().flatten().min()
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn handle_unreachable(&mut self, now: Time) {
        self.calls.session.handle_unreachable(now);
    }

    fn finish(&mut self, now: Time) {
        self.part(now, "stopped");
    }

    fn is_over(&self) -> bool {
        self.ending.is_some()
    }

    fn poll_report(&mut self) -> Option<Report> {
        self.hear();
        self.input.poll_notice().or_else(|| self.reports.pop_front())
    }
}

impl Probe for Sending {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.calls.probe(visit);
        visit(CALLS.name, self.calls.count() as f64);
        visit(REFUSED.name, self.input.refused() as f64);
        visit(SKIPPED.name, self.input.skipped().0 as f64);
    }
}
