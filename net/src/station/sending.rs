//! The sending end of a live stream.

use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::Session;
use thalweg_core::session::live::sender::{Event, Sender};
use thalweg_core::session::live::{Ending, Kind, Metric};
use thalweg_core::time::{Span, Time};

use super::{REST, Station};
use crate::error::Error;
use crate::input::Input;
use crate::poll::{Interests, Ready};
use crate::report::Report;

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

/// An input and the session that sends it.
#[derive(Debug)]
pub struct Sending {
    session: Sender,
    input: Input,
    density: Density,
    /// Whether media has come, or somebody has answered.
    has_begun: bool,
    /// Where bare repair goes, while nobody has been told that the receiver does not take it.
    fec_port: Option<u16>,
    notice: Option<Report>,
    /// Why it ends, once that is decided here.
    finishing: Option<&'static str>,
    ending: Option<Ending>,
}

impl Sending {
    /// Sends what `input` gives; bare repair, if there is any, goes to `fec_port`.
    pub fn new(session: Sender, input: Input, fec_port: Option<u16>) -> Sending {
        let notice = None;
        Sending {
            session,
            input,
            fec_port,
            notice,
            density: Density::default(),
            has_begun: false,
            finishing: None,
            ending: None,
        }
    }

    /// How the stream ended, once it has.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Sends what waits and says goodbye; only the first reason counts.
    fn part(&mut self, now: Time, why: &'static str) {
        let Sending { session, input, finishing, .. } = self;
        if finishing.replace(finishing.unwrap_or(why)).is_none() {
            input.finish(|payload| session.handle_media(now, payload));
            session.finish(now);
        }
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
        Sender::METRICS.iter().chain([&REFUSED, &SKIPPED])
    }

    fn session(&mut self) -> &mut Sender {
        &mut self.session
    }

    fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error> {
        let Sending { session, input, density, has_begun, .. } = self;
        let connected = session.is_connected();
        *has_begun |= connected;
        density.tick(now);
        let more = input.read(now, ready, connected, |payload| {
            density.count += 1;
            *has_begun = true;
            session.handle_media(now, payload);
        })?;
        if input.is_over() {
            self.part(now, "the input is over");
        }
        Ok(more)
    }

    fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        self.input.interests(interests);
    }

    fn rest(&self) -> Span {
        // What no law paces leaves when it is looked at: below 63 Mb/s each datagram on its own, above in trains.
        if self.session.is_paced() || self.density.is_dense { REST } else { Span::ZERO }
    }

    fn next(&self) -> Option<Time> {
        self.input.next()
    }

    fn has_begun(&self) -> bool {
        self.has_begun
    }

    fn finish(&mut self, now: Time) {
        self.part(now, "stopped");
    }

    fn is_over(&self) -> bool {
        self.ending.is_some()
    }

    fn poll_report(&mut self) -> Option<Report> {
        if let Some(notice) = self.notice.take().or_else(|| self.input.poll_notice()) {
            return Some(notice);
        }
        let event = self.session.poll_event()?;
        if let Event::Ended(ending) = event {
            self.ending = Some(ending);
        }
        // None but Thalweg answers a hello.
        if let Event::Connected { .. } = event
            && let Some(port) = self.fec_port.take()
        {
            let text = format!("thalweg recv does not take repair at port {port}: without --fec-port it would");
            self.notice = Some(Report::warning(text));
        }
        Some(describe(event, self.finishing.unwrap_or_default()))
    }
}

impl Probe for Sending {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.session.probe(visit);
        visit(REFUSED.name, self.input.refused() as f64);
        visit(SKIPPED.name, self.input.skipped().0 as f64);
    }
}

/// `why` says why it says goodbye, if it does.
fn describe(event: Event, why: &str) -> Report {
    match event {
        Event::Connected { to, latency } => Report::new("connected", format!("connected to {to}, latency {latency}"))
            .with("to", to)
            .with_number("latency_seconds", latency.as_secs_f64()),
        Event::Moved { to } => Report::new("moved", format!("the receiver is at {to} now")).with("to", to),
        Event::TooShort { round_trip, needed } => Report::new(
            "too_short",
            format!(
                "repair comes too late on a round trip of {round_trip}: give --latency {}ms or more",
                needed.as_nanos().div_ceil(1_000_000)
            ),
        )
        .with_number("needed_seconds", needed.as_secs_f64()),
        Event::FewPackets { packets, needed } => Report::new(
            "few_packets",
            format!(
                "a block of repair covers {packets:.1} packets within this latency, and mends little: give --latency {}ms or \
                 more",
                needed.as_nanos().div_ceil(1_000_000)
            ),
        )
        .with_number("packets", packets)
        .with_number("needed_seconds", needed.as_secs_f64()),
        Event::InTime => Report::new("in_time", "the round trip is shorter, and repair comes in time"),
        Event::OverRate { greatest, unsent } => Report::new(
            "over_rate",
            format!("media is faster than --max-rate {greatest}: {unsent} more datagrams did not leave"),
        )
        .with_number("unsent_packets", unsent as f64),
        Event::Silent => Report::new("silent", "nothing comes back from the receiver; media waits, hellos go on"),
        Event::LowerRate(rate) => {
            Report::new("lower_rate", format!("loss stays too high: the source should come down to {rate}"))
                .with_number("rate_bps", rate.as_bps() as f64)
        }
        Event::RateRestored => Report::new("rate_restored", "the path carries the stream again"),
        Event::Ended(Ending::Bye) => Report::new("ended", format!("ended: {why}")).with("reason", name(Ending::Bye)),
        // A failure: people read of it in the line that the program fails with.
        Event::Ended(ending) => Report::new("ended", "").with("reason", name(ending)),
    }
}

/// What an ending is called in JSON.
pub(super) fn name(ending: Ending) -> &'static str {
    match ending {
        Ending::Bye => "bye",
        Ending::NoAnswer => "no_answer",
        Ending::Busy => "busy",
        Ending::Breaker => "breaker",
        Ending::Silent => "silent",
    }
}
