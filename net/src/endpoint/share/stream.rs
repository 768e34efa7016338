//! One stream of several.

use thalweg_core::law::rate::gca::Greediness;
use thalweg_core::law::rate::share::Id;
use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::{Config, Sender};
use thalweg_core::time::Time;
use thalweg_core::units::Rate;

use super::plan::Planned;
use super::{ALPHA, NEED, SATISFACTION, ShareEndpoint};
use crate::endpoint::{Endpoint, SenderEndpoint};
use crate::error::Error;
use crate::figures::Figures;
use crate::input::Input;
use crate::poll::{Interests, Ready};
use crate::report::Report;

/// A stream, and its place in the plan.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) id: Id,
    pub(super) planned: Planned,
    pub(super) endpoint: SenderEndpoint,
    pub(super) greediness: Greediness,
    /// The allowed rate that the law had when it was last read or set.
    pub(super) allowed: Option<Rate>,
    /// True if the plan does not have the stream any more.
    is_leaving: bool,
    /// The stream that begins once this one has ended.
    next: Option<Planned>,
    /// The error of an input that has failed.
    failed: Option<Error>,
}

impl Stream {
    /// Opens the input, and calls the receiver.
    ///
    /// # Errors
    /// The input cannot be opened.
    pub(super) fn begin(now: Time, id: Id, planned: Planned, rng: &Rng) -> Result<Stream, Error> {
        let input = Input::open(&planned.input)?;
        let config = Config { media: input.media(), ..planned.config.clone() };
        let mut endpoint = SenderEndpoint::new(config, now, rng, planned.retry, input).with_shed(planned.shed);
        endpoint.set_most(planned.most);
        let greediness = Greediness::default();
        Ok(Stream { id, planned, endpoint, greediness, allowed: None, is_leaving: false, next: None, failed: None })
    }

    /// The report of its start.
    pub(super) fn opening(&self) -> Report {
        let Planned { name, need, input, config, .. } = &self.planned;
        let text = format!("{input} to {}, need {need}", config.to);
        let report = Report::new("begun", text)
            .with("to", config.to)
            .with("input", input)
            .with_number("need_bps", need.as_bps() as f64);
        let local = self.endpoint.input().local();
        of_stream(local.into_iter().fold(report, |report, local| report.with("input_address", local)), name)
    }

    pub(super) fn session(&self) -> &Sender {
        self.endpoint.sender()
    }

    /// Takes a plan with other needs.
    pub(super) fn plan(&mut self, planned: Planned) {
        self.endpoint.set_most(planned.most);
        self.planned = planned;
    }

    pub(super) fn is_leaving(&self) -> bool {
        self.is_leaving
    }

    /// Ends gracefully; `next` begins afterwards.
    pub(super) fn leave(&mut self, now: Time, next: Option<Planned>) {
        self.is_leaving = true;
        self.next = next;
        self.endpoint.finish(now);
    }

    pub(super) fn take_next(&mut self) -> Option<Planned> {
        self.next.take()
    }

    /// Moves media; an input that fails ends the stream. Returns true if more may be waiting.
    pub(super) fn exchange(&mut self, now: Time, ready: &mut Ready) -> bool {
        let mut interests = Interests::new();
        self.endpoint.interests(&mut interests);
        let count = interests.count();
        // An input that fails has not taken all of its places.
        let mut own = ready.take_several(count);
        match self.endpoint.exchange(now, &mut own) {
            Ok(more) => more,
            Err(error) => {
                self.failed.get_or_insert(error);
                self.endpoint.finish(now);
                false
            }
        }
    }

    /// Sets the parameters of the law.
    pub(super) fn set_greediness(&mut self, greediness: Greediness) {
        self.greediness = greediness;
        self.endpoint.set_greediness(greediness);
    }

    pub(super) fn figures(&self) -> Figures {
        let figures = Figures::read(&self.endpoint);
        // Media beyond the law's rate is not sent: the rate of the input says nothing.
        let sent = figures.get("wire_rate_bps") / (1.0 + figures.get("overhead_ratio"));
        let lost = figures.get("loss_before_repair_ratio");
        let got = sent * (1.0 - if lost.is_finite() { lost } else { 0.0 });
        let need = self.planned.need.as_bps() as f64;
        let further = [(&NEED, need), (&SATISFACTION, got / need), (&ALPHA, self.greediness.alpha())];
        figures.of_stream(ShareEndpoint::SIDE, &self.planned.name, further)
    }

    /// The reports of this stream, with its name.
    pub(super) fn reports(&mut self) -> impl Iterator<Item = Report> {
        let name = self.planned.name.clone();
        let failed = self.failed.take().map(|error| Report::warning(format!("{error}; the stream ends")));
        let reports = failed.into_iter().chain(std::iter::from_fn(|| self.endpoint.poll_report()));
        reports.map(move |report| of_stream(report, &name))
    }
}

/// A report of the stream `name`.
pub(super) fn of_stream(report: Report, name: &str) -> Report {
    let text = if report.text.is_empty() { String::new() } else { format!("{name}: {}", report.text) };
    Report { text, ..report.with("stream", name) }
}
