//! The sending end of a measurement: media of a constant rate, without an input.

use std::collections::VecDeque;

use thalweg_core::metric::Metric;
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::Session;
use thalweg_core::session::live::carried::{Carried, Notice};
use thalweg_core::session::live::sender::{Event, Sender};
use thalweg_core::session::live::{Ending, MAX_SEALED_PAYLOAD};
use thalweg_core::session::secure;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};

use super::sender::{Way, describe, ended};
use super::{Endpoint, REST};
use crate::error::Error;
use crate::poll::{Interests, Ready};
use crate::report::Report;

/// The time after the media in which the last packets arrive and are reported, beside the latency: a report a second.
const AFTER: Span = Span::from_millis(1500);

/// Media that is produced for a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Load {
    /// Its rate, without headers.
    pub rate: Rate,
    /// The bytes of each datagram, 8 to [`MAX_SEALED_PAYLOAD`].
    pub payload: Bytes,
    /// The time for which it is produced.
    pub time: Span,
}

/// A session that sends media once it has a receiver, and ends after it.
#[derive(Debug)]
pub struct MeasureEndpoint {
    session: Carried<Sender>,
    way: Way,
    load: Load,
    /// The time of this turn.
    now: Time,
    /// The time of the first datagram.
    began: Option<Time>,
    produced: u64,
    /// True once the goodbye is asked for.
    is_finishing: bool,
    reports: VecDeque<Report>,
    ending: Option<Ending>,
    refusal: Option<secure::Ending>,
}

impl MeasureEndpoint {
    /// A measurement with `load` to the receiver that `session` calls at `to`.
    ///
    /// # Panics
    /// The load has no rate, or datagrams of an impossible length.
    pub fn new(session: Carried<Sender>, to: std::net::SocketAddr, load: Load) -> MeasureEndpoint {
        let lengths = 8..=MAX_SEALED_PAYLOAD as u64;
        assert!(load.rate.as_bps() > 0 && lengths.contains(&load.payload.0), "impossible: {load:?}");
        MeasureEndpoint {
            session,
            way: Way { address: to, listens: false },
            load,
            now: Time::ZERO,
            began: None,
            produced: 0,
            is_finishing: false,
            reports: VecDeque::new(),
            ending: None,
            refusal: None,
        }
    }

    /// The outcome of the session; none before its end.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// The reason for which the receiver has refused the handshake of a key, if it has.
    pub fn refusal(&self) -> Option<secure::Ending> {
        self.refusal
    }

    /// True if all media was produced.
    pub fn is_complete(&self) -> bool {
        self.load.rate.time_for(self.load.payload * self.produced) >= self.load.time
    }

    /// The time at which the next datagram is produced, or, after the last one, the session ends.
    fn due(&self) -> Option<Time> {
        let began = self.began.filter(|_| !self.is_finishing)?;
        let next = self.load.rate.time_for(self.load.payload * self.produced);
        Some(began + if next < self.load.time { next } else { self.load.time + self.session.latency() + AFTER })
    }

    /// Produces the media that is due, and asks for the end once it is.
    fn produce(&mut self, now: Time) {
        while self.due().is_some_and(|due| due <= now) {
            if self.is_complete() {
                self.is_finishing = true;
                self.session.finish(now);
                return;
            }
            let mut payload = [0; MAX_SEALED_PAYLOAD];
            payload[..8].copy_from_slice(&self.produced.to_be_bytes());
            self.session.handle_media(now, &payload[..self.load.payload.0 as usize]);
            self.produced += 1;
        }
    }

    fn handle_events(&mut self) {
        while let Some(notice) = self.session.poll_notice() {
            if let Notice::Refused(ending) = notice {
                (self.refusal, self.ending) = (Some(ending), Some(Ending::NoAnswer));
            }
        }
        while self.ending.is_none()
            && let Some(event) = self.session.poll_event()
        {
            match event {
                Event::Connected { .. } => {
                    self.began.get_or_insert(self.now);
                }
                Event::Silent | Event::Left => self.end(Ending::Silent),
                Event::Ended(ending) => self.end(ending),
                _ => {}
            }
            if self.ending.is_none() {
                self.reports.push_back(describe(event, self.way, true, None));
            }
        }
    }

    fn end(&mut self, ending: Ending) {
        self.ending = Some(ending);
        self.reports.push_back(ended(ending, if self.is_complete() { "all packets were sent" } else { "stopped" }));
    }
}

impl Endpoint for MeasureEndpoint {
    type Session = Carried<Sender>;

    const SIDE: &'static str = "advise";

    fn metrics() -> impl Iterator<Item = &'static Metric> {
        Sender::METRICS.iter()
    }

    fn session(&mut self) -> &mut Carried<Sender> {
        &mut self.session
    }

    fn exchange(&mut self, now: Time, _ready: &mut Ready) -> Result<bool, Error> {
        self.now = now;
        self.handle_events();
        self.produce(now);
        Ok(false)
    }

    fn interests<'a>(&'a self, _interests: &mut Interests<'a>) {}

    fn rest(&self) -> Span {
        if self.session.is_paced() { REST } else { Span::ZERO }
    }

    fn next(&self) -> Option<Time> {
        self.due()
    }

    fn has_begun(&self) -> bool {
        self.began.is_some()
    }

    fn handle_unreachable(&mut self, now: Time) {
        self.session.handle_unreachable(now);
    }

    fn finish(&mut self, now: Time) {
        self.is_finishing = true;
        self.session.finish(now);
    }

    fn is_over(&self) -> bool {
        self.ending.is_some()
    }

    fn poll_report(&mut self) -> Option<Report> {
        self.handle_events();
        self.reports.pop_front()
    }
}

impl Probe for MeasureEndpoint {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.session.probe(visit);
    }
}
