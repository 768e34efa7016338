//! The sending end of several live streams, which share one socket and, by their needs, one path.
//!
//! A [`Plan`] gives the streams. Each is a [`SenderEndpoint`] with a GCA law; those of a group share by a
//! [`Group`](thalweg_core::law::rate::share::Group). A stream whose input or session fails is reported and ends alone.

mod groups;
mod plan;
mod stream;
#[cfg(test)]
mod tests;

pub use plan::{MAX_STREAMS, Plan, Planned, Plans};

use std::collections::VecDeque;
use std::net::SocketAddr;

use thalweg_core::law::rate::share::Id;
use thalweg_core::metric::{Kind, Metric};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::Event;
use thalweg_core::session::{Session, Transmit};
use thalweg_core::time::{Span, Time};
use thalweg_core::wire;

use super::{Endpoint, SenderEndpoint};
use crate::error::Error;
use crate::figures::Figures;
use crate::poll::{Interests, Ready};
use crate::report::Report;
use groups::Groups;
use stream::Stream;

pub(super) const NEED: Metric =
    Metric { name: "need_bps", kind: Kind::Gauge, help: "Average media rate that the stream needs" };
pub(super) const SATISFACTION: Metric = Metric {
    name: "satisfaction_ratio",
    kind: Kind::Gauge,
    help: "Rate of the media sent, less packets lost, over the rate that the stream needs, in the last second",
};
pub(super) const ALPHA: Metric =
    Metric { name: "alpha", kind: Kind::Gauge, help: "Alpha of the stream's GCA law; 1 is as greedy as a TCP" };

/// The endpoint of all streams. It is also their session: it passes each datagram to the stream that it is for.
#[derive(Debug)]
pub struct ShareEndpoint {
    streams: Vec<Stream>,
    groups: Groups,
    plans: Box<dyn Plans>,
    rng: Rng,
    /// Streams that have begun.
    begun: u32,
    /// The stream that is the next to send.
    turn: usize,
    finishing: bool,
    reports: VecDeque<Report>,
}

impl ShareEndpoint {
    /// Begins all streams of the first plan.
    ///
    /// # Errors
    /// There is no valid plan, or an input cannot be opened.
    pub fn new(now: Time, rng: &Rng, mut plans: Box<dyn Plans>) -> Result<ShareEndpoint, Error> {
        let plan = plans.poll().unwrap_or_else(|| Err(Error::new("plan", "none")))?;
        let mut endpoint = ShareEndpoint {
            streams: Vec::new(),
            groups: Groups::new(plan.coupling, plan.norm),
            plans,
            rng: rng.fork("share"),
            begun: 0,
            turn: 0,
            finishing: false,
            reports: VecDeque::new(),
        };
        for planned in plan.streams {
            endpoint.begin(now, planned)?;
        }
        Ok(endpoint)
    }

    /// Begins a stream.
    fn begin(&mut self, now: Time, planned: Planned) -> Result<(), Error> {
        let id = Id(self.begun);
        let rng = self.rng.fork(&format!("stream {}", id.0));
        let stream = Stream::begin(now, id, planned, &rng)?;
        self.reports.push_back(stream.opening());
        self.groups.join(now, &stream);
        self.streams.push(stream);
        self.begun += 1;
        Ok(())
    }

    /// Takes up a plan: ends the streams that it lacks, changes needs, and begins the streams that are new. A stream whose
    /// source, destination or options have changed ends, and begins again once it has.
    fn take_up(&mut self, now: Time, plan: Plan) {
        self.groups.set(now, plan.coupling, plan.norm, &self.streams);
        let mut planned = plan.streams;
        for stream in &mut self.streams {
            let place = planned.iter().position(|planned| planned.name == stream.planned.name);
            match place.map(|place| planned.swap_remove(place)) {
                Some(planned) if planned.is_same_stream(&stream.planned) && !stream.is_leaving() => {
                    let regrouped = planned.group != stream.planned.group;
                    if regrouped {
                        self.groups.leave(now, stream);
                    }
                    stream.plan(planned);
                    self.groups.join(now, stream);
                }
                next => {
                    self.groups.leave(now, stream);
                    stream.leave(now, next);
                }
            }
        }
        planned.sort_by(|a, b| a.name.cmp(&b.name));
        for planned in planned {
            self.begin_or_report(now, planned);
        }
    }

    fn begin_or_report(&mut self, now: Time, planned: Planned) {
        let name = planned.name.clone();
        if let Err(error) = self.begin(now, planned) {
            self.reports
                .push_back(Report::warning(format!("{name}: {error}; the stream does not begin")).with("stream", name));
        }
    }

    /// Removes the streams that have ended, and begins those that take their place.
    fn remove_ended(&mut self, now: Time) {
        let (ended, streams): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.streams).into_iter().partition(|stream| stream.endpoint.is_over());
        self.streams = streams;
        for mut stream in ended {
            self.groups.leave(now, &stream);
            self.reports.extend(stream.reports());
            if let Some(next) = stream.take_next().filter(|_| !self.finishing) {
                self.begin_or_report(now, next);
            }
        }
    }

    /// Reads the plan again if it has changed.
    fn check_plan(&mut self, now: Time) {
        match self.plans.poll().filter(|_| !self.finishing) {
            Some(Ok(plan)) => {
                let text = format!("the configuration has changed: {} streams", plan.streams.len());
                self.reports.push_back(Report::new("reloaded", text).with_number("streams", plan.streams.len() as f64));
                self.take_up(now, plan);
            }
            Some(Err(error)) => {
                self.reports.push_back(Report::warning(format!("{error}; the previous configuration stays")));
            }
            None => {}
        }
    }
}

impl Session for ShareEndpoint {
    type Event = Event;

    /// Passes a datagram to the stream whose receiver has sent it. A receiver may have moved: then it is the stream that
    /// accepts the datagram.
    fn handle_datagram(&mut self, now: Time, from: SocketAddr, bytes: &[u8]) -> Result<(), wire::Error> {
        if let Some(stream) = self.streams.iter_mut().find(|stream| stream.planned.config.to == from) {
            return stream.endpoint.session().handle_datagram(now, from, bytes);
        }
        let mut outcome = Err(wire::Error::Unknown);
        for stream in &mut self.streams {
            outcome = outcome.or_else(|_| stream.endpoint.session().handle_datagram(now, from, bytes));
        }
        outcome
    }

    fn handle_timeout(&mut self, now: Time) {
        for stream in &mut self.streams {
            let session = stream.endpoint.session();
            if session.poll_timeout().is_some_and(|due| due <= now) {
                session.handle_timeout(now);
            }
        }
    }

    /// The next datagram. A stream sends until it must wait, then it is the turn of the next.
    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        for _ in 0..self.streams.len() {
            let place = self.turn % self.streams.len();
            if let Some(transmit) = self.streams[place].endpoint.session().poll_transmit(now, buf) {
                return Some(transmit);
            }
            self.turn = place + 1;
        }
        None
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.streams.iter().filter_map(|stream| stream.session().poll_timeout()).min()
    }

    /// None: the streams handle their own.
    fn poll_event(&mut self) -> Option<Event> {
        None
    }
}

impl Endpoint for ShareEndpoint {
    type Session = ShareEndpoint;

    const SIDE: &'static str = "share";

    fn metrics() -> impl Iterator<Item = &'static Metric> {
        SenderEndpoint::metrics().chain([&NEED, &SATISFACTION, &ALPHA])
    }

    fn session(&mut self) -> &mut ShareEndpoint {
        self
    }

    fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error> {
        let mut more = false;
        for stream in &mut self.streams {
            more |= stream.exchange(now, ready);
        }
        self.groups.couple(now, &mut self.streams, &mut self.reports);
        self.remove_ended(now);
        self.check_plan(now);
        Ok(more)
    }

    fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        self.streams.iter().for_each(|stream| stream.endpoint.interests(interests));
    }

    fn rest(&self) -> Span {
        self.streams.iter().map(|stream| stream.endpoint.rest()).min().unwrap_or(Span::ZERO)
    }

    fn next(&self) -> Option<Time> {
        let streams = self.streams.iter().filter_map(|stream| stream.endpoint.next());
        streams.chain(self.groups.next()).min()
    }

    fn figures(&self) -> Vec<Figures> {
        self.streams.iter().map(Stream::figures).collect()
    }

    fn finish(&mut self, now: Time) {
        self.finishing = true;
        self.streams.iter_mut().for_each(|stream| stream.endpoint.finish(now));
    }

    fn is_over(&self) -> bool {
        self.streams.is_empty()
    }

    fn poll_report(&mut self) -> Option<Report> {
        let of_streams = self.streams.iter_mut().find_map(|stream| stream.reports().next());
        of_streams.or_else(|| self.reports.pop_front())
    }
}

impl Probe for ShareEndpoint {
    /// Shows nothing: each stream has figures of its own.
    fn probe(&self, _visit: &mut Visitor<'_>) {}
}
