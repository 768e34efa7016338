//! The sending end of a live stream.

mod calls;
mod density;
mod keyed;
mod reports;
mod shed;
#[cfg(test)]
mod tests;

pub use calls::Retry;
pub(super) use reports::{Way, any, describe, ended, name};
pub use shed::Shed;

use std::collections::VecDeque;
use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::metric::{Kind, Metric};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::rng::Rng;
use thalweg_core::session::Session;
use thalweg_core::session::live::carried::Carried;
use thalweg_core::session::live::sender::{Config, Event, Sender};
use thalweg_core::session::live::{Ending, Media};
use thalweg_core::session::secure;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Rate;

use super::keys::{self, ENCRYPTED};
use super::{Endpoint, NOTICE_DELAY, REST};
use crate::error::Error;
use crate::input::Input;
use crate::poll::{Interests, Ready};
use crate::report::Report;
use calls::Calls;
use density::Density;
use shed::{PICTURES, Shedding};

const CALLS: Metric =
    Metric { name: "calls_total", kind: Kind::Counter, help: "Sessions started: the first, and one for each retry" };

const REFUSED: Metric = Metric {
    name: "input_refused_datagrams_total",
    kind: Kind::Counter,
    help: "Input datagrams refused: too long, or not in the format of the input's scheme",
};

const SKIPPED: Metric = Metric {
    name: "input_skipped_bytes_total",
    kind: Kind::Counter,
    help: "Bytes skipped at an MPEG-TS input because they belong to no packet",
};

/// An input and the sessions that send its media, one after the other.
#[derive(Debug)]
pub struct SenderEndpoint {
    calls: Calls,
    way: Way,
    input: Input,
    /// The highest media rate that the source is asked for.
    most: Option<Rate>,
    shedding: Shedding,
    density: Density,
    /// The time of this turn.
    now: Time,
    /// True if media has arrived, or a receiver has answered.
    has_begun: bool,
    /// True once it was reported that no receiver answers this call.
    reported_waiting: bool,
    /// The port of bare repair, until the warning that the receiver does not take it.
    fec_port: Option<u16>,
    reports: VecDeque<Report>,
    /// The reason of the end, once this side has decided to end.
    finishing: Option<&'static str>,
    ending: Option<Ending>,
    /// The reason for which the receiver has refused the handshake.
    refusal: Option<secure::Ending>,
}

impl SenderEndpoint {
    /// Calls the receiver at once, or listens, and again as `retry` says, and sends the media of `input`.
    pub fn new(config: Config, now: Time, rng: &Rng, retry: Retry, input: Input) -> SenderEndpoint {
        SenderEndpoint {
            way: Way { address: config.to, listens: config.listens },
            fec_port: config.fec_to.map(|to| to.port()),
            calls: Calls::new(config, now, rng.fork("calls"), retry),
            input,
            most: None,
            shedding: Shedding::default(),
            density: Density::default(),
            now,
            has_begun: false,
            reported_waiting: false,
            reports: VecDeque::new(),
            finishing: None,
            ending: None,
            refusal: None,
        }
    }

    /// Drops what `shed` says where the input is faster than its session allows; without this, datagrams.
    #[must_use]
    pub fn with_shed(self, shed: Shed) -> SenderEndpoint {
        SenderEndpoint { shedding: Shedding::new(shed), ..self }
    }

    /// Sets the highest media rate that the source is asked for.
    pub(super) fn set_most(&mut self, most: Rate) {
        self.most = Some(most);
    }

    /// The current session.
    pub(super) fn sender(&self) -> &Sender {
        &self.calls.session
    }

    /// Changes the parameters of GCA, for this session and those that follow.
    pub(super) fn set_greediness(&mut self, greediness: Greediness) {
        self.calls.set_greediness(greediness);
    }

    /// Replaces the rate that GCA's path allows, until its next report.
    pub(super) fn set_allowed_rate(&mut self, rate: Rate) {
        self.calls.session.set_allowed_rate(rate);
    }

    /// The source of media.
    pub fn input(&self) -> &Input {
        &self.input
    }

    /// The outcome of the last session, once no other follows.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Sends waiting media and says goodbye; only the first reason counts.
    fn shut_down(&mut self, now: Time, why: &'static str) {
        if self.finishing.replace(self.finishing.unwrap_or(why)).is_some() {
            return;
        }
        let SenderEndpoint { calls, input, shedding, .. } = self;
        let is_mpeg_ts = input.media() == Media::Mp2t;
        input.finish(|payload| shedding.pass(now, is_mpeg_ts, payload, &mut calls.session));
        match calls.again.take() {
            // Between two calls there is no receiver to say goodbye to.
            Some((_, ending)) => self.end(if self.input.is_over() { ending } else { Ending::Bye }),
            None => calls.session.finish(now),
        }
    }

    /// Ends the endpoint, and reports it.
    fn end(&mut self, ending: Ending) {
        self.ending = Some(ending);
        self.reports.push_back(reports::ended(ending, self.finishing.unwrap_or_default()));
    }

    /// Handles the session's events.
    fn handle_events(&mut self) {
        self.handle_notices();
        while self.ending.is_none()
            && let Some(mut event) = self.calls.session.poll_event()
        {
            let mut wait = None;
            match event {
                Event::Connected { .. } => self.calls.on_connected(self.now),
                Event::Busy => wait = Some(self.calls.on_busy(self.now)),
                Event::TooShort { ref mut needed, .. } | Event::FewPackets { ref mut needed, .. } => {
                    *needed = self.shedding.advise(self.now, &self.calls.session, *needed);
                }
                Event::Silent | Event::Left => wait = Some(self.calls.on_silent(self.now)),
                Event::Ended(ending) => {
                    match self.calls.on_ended(self.now, ending, self.finishing.is_none()) {
                        (ending, Some(wait)) => self.reports.push_back(reports::retry(self.way, ending, wait)),
                        (ending, None) => self.end(ending),
                    }
                    continue;
                }
                _ => {}
            }
            self.reports.push_back(describe(event, self.way, self.input.is_live(), wait));
            // Only Thalweg answers a hello.
            if let Event::Connected { .. } = event
                && let Some(port) = self.fec_port.take()
            {
                let text = format!("thalweg recv does not accept repair at port {port}; omit --fec-port");
                self.reports.push_back(Report::warning(text));
            }
        }
    }

    /// The time at which the user is asked to start a receiver, as none answers.
    fn notice_at(&self) -> Option<Time> {
        let waits = !self.reported_waiting && self.finishing.is_none() && self.calls.is_unanswered();
        waits.then(|| self.calls.since + NOTICE_DELAY)
    }
}

impl Endpoint for SenderEndpoint {
    type Session = Carried<Sender>;

    const SIDE: &'static str = "send";

    fn metrics() -> impl Iterator<Item = &'static Metric> {
        Sender::METRICS.iter().chain([&CALLS, &REFUSED, &SKIPPED, &PICTURES, &ENCRYPTED])
    }

    fn session(&mut self) -> &mut Carried<Sender> {
        &mut self.calls.session
    }

    fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error> {
        self.now = now;
        self.handle_events();
        if self.calls.turn(now) {
            self.reported_waiting = false;
        }
        if self.calls.again.is_some() {
            // Keeps the figures those of the last second while nothing is sent.
            self.calls.session.handle_timeout(now);
        }
        if self.notice_at().is_some_and(|due| due <= now) {
            self.reported_waiting = true;
            self.reports.push_back(reports::waiting(self.way, self.calls.session.is_encrypted()));
        }
        let is_mpeg_ts = self.input.media() == Media::Mp2t;
        self.calls.session.set_follows_budget(is_mpeg_ts && self.shedding.drops_pictures());
        let SenderEndpoint { calls, input, most, shedding, density, has_begun, .. } = self;
        let connected = calls.session.is_connected();
        *has_begun |= connected;
        density.tick(now);
        // A live input is read even without a receiver; its media is counted, and not sent.
        let is_wanted = connected || (*has_begun && input.is_live());
        let wanted = calls.session.wanted_rate();
        input.want(now, wanted.map(|wanted| most.map_or(wanted, |most| wanted.min(most))));
        let more = input.read(now, ready, is_wanted, |payload| {
            density.on_datagram();
            *has_begun = true;
            shedding.pass(now, is_mpeg_ts, payload, &mut calls.session);
        })?;
        self.reports.extend(self.shedding.report(now, &self.calls.session));
        if self.input.is_over() {
            self.shut_down(now, "end of the input");
        }
        Ok(more)
    }

    fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        self.input.interests(interests);
    }

    fn rest(&self) -> Span {
        // Unpaced datagrams are sent when they are read: below 63 Mb/s each on its own, above in trains.
        if self.calls.session.is_paced() || self.density.is_dense() { REST } else { Span::ZERO }
    }

    fn next(&self) -> Option<Time> {
        [self.input.next(), self.calls.next(), self.notice_at()].into_iter().flatten().min()
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn handle_unreachable(&mut self, now: Time) {
        self.calls.session.handle_unreachable(now);
    }

    fn finish(&mut self, now: Time) {
        self.shut_down(now, "stopped");
    }

    fn is_over(&self) -> bool {
        self.ending.is_some()
    }

    fn poll_report(&mut self) -> Option<Report> {
        self.handle_events();
        self.input.poll_notice().or_else(|| self.reports.pop_front())
    }
}

impl Probe for SenderEndpoint {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.calls.probe(visit);
        visit(CALLS.name, self.calls.count() as f64);
        visit(REFUSED.name, self.input.refused() as f64);
        visit(SKIPPED.name, self.input.skipped().0 as f64);
        visit(PICTURES.name, self.shedding.pictures() as f64);
        visit(ENCRYPTED.name, f64::from(u8::from(self.calls.session.is_encrypted())));
    }
}
