//! The receiving end of a live stream.

use std::collections::VecDeque;
use std::net::SocketAddr;

use thalweg_core::metric::Metric;
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::Session;
use thalweg_core::session::live::carried::{Carried, Notice};
use thalweg_core::session::live::receiver::{Event, Receiver};
use thalweg_core::session::live::{Ending, Media, other_version};
use thalweg_core::session::secure;
use thalweg_core::time::{Span, Time};

use super::keys::{self, ENCRYPTED};
use super::{Endpoint, NOTICE_DELAY, REST, latency, sender};
use crate::error::Error;
use crate::output::{Output, Outputs};
use crate::poll::{Interests, Ready};
use crate::report::Report;

/// A call to a sender that listens.
#[derive(Debug)]
struct Call {
    to: SocketAddr,
    /// The time at which the user is asked for a sender, unless one answers before.
    notice_at: Option<Time>,
}

impl Call {
    fn on_event(&mut self, now: Time, event: Event) {
        match event {
            Event::Started { .. } | Event::Busy | Event::OtherVersion { .. } => self.notice_at = None,
            Event::Ended(_) => self.notice_at = Some(now + NOTICE_DELAY),
            _ => {}
        }
    }

    /// Reports that no sender has answered yet, with or without a key.
    fn waiting(&self, has_key: bool) -> Report {
        let to = self.to;
        let listen = if to.ip().is_loopback() { to.to_string() } else { sender::any(to) };
        let guard = match has_key {
            true => " --key-file FILE",
            false if to.ip().is_loopback() => "",
            false => " --public",
        };
        let command = format!("thalweg send --listen {listen}{guard} --input -");
        Report::new("waiting", format!("waiting for a sender at {to}; start one there: {command}"))
            .with("to", to)
            .with("command", command)
    }
}

/// A receiving session, and the outputs for its media.
#[derive(Debug)]
pub struct ReceiverEndpoint {
    session: Carried<Receiver>,
    /// Events of the session not yet reported.
    events: VecDeque<Event>,
    outputs: Outputs,
    once: bool,
    finishing: bool,
    /// True if a stream has begun whose end was not reported.
    is_streaming: bool,
    /// The call to a sender, if this end calls.
    call: Option<Call>,
    /// Reports of the endpoint itself.
    reports: VecDeque<Report>,
    /// The reason for which the sender has refused the handshake.
    refusal: Option<secure::Ending>,
    ending: Option<Ending>,
}

impl ReceiverEndpoint {
    /// Passes every datagram to every output; with `once`, ends with the first stream.
    pub fn new(session: Carried<Receiver>, outputs: Vec<Output>, once: bool) -> ReceiverEndpoint {
        ReceiverEndpoint {
            session,
            events: VecDeque::new(),
            outputs: Outputs::new(outputs),
            once,
            finishing: false,
            is_streaming: false,
            call: None,
            reports: VecDeque::new(),
            refusal: None,
            ending: None,
        }
    }

    /// Reports that no sender at `to`, which the session calls, answers.
    #[must_use]
    pub fn calling(mut self, to: SocketAddr, now: Time) -> ReceiverEndpoint {
        self.call = Some(Call { to, notice_at: Some(now + NOTICE_DELAY) });
        self
    }

    /// The reason for which the sender has refused the handshake of a key, if it has: then there was no stream.
    pub fn refusal(&self) -> Option<secure::Ending> {
        self.refusal
    }

    /// The outcome of the last stream, if one has ended.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// Asks the user for a sender once none has answered for a while.
    fn check_call(&mut self, now: Time) {
        if let Some(call) = &mut self.call
            && call.notice_at.take_if(|due| *due <= now).is_some()
        {
            self.reports.push_back(call.waiting(self.session.is_encrypted()));
        }
    }

    fn close(&mut self) {
        self.finishing = true;
        self.outputs.finish();
    }
}

impl Endpoint for ReceiverEndpoint {
    type Session = Carried<Receiver>;

    const SIDE: &'static str = "recv";

    fn metrics() -> impl Iterator<Item = &'static Metric> {
        Receiver::METRICS.iter().chain(Outputs::METRICS).chain([&ENCRYPTED])
    }

    fn session(&mut self) -> &mut Carried<Receiver> {
        &mut self.session
    }

    fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error> {
        self.outputs.resume(ready)?;
        self.check_call(now);
        // Media that is polled next belongs to the stream that began last.
        while let Some(event) = self.session.poll_event() {
            if matches!(event, Event::Started { .. } | Event::Ended(_)) {
                self.outputs.end_stream();
            }
            if let Some(call) = &mut self.call {
                call.on_event(now, event);
            }
            self.events.push_back(event);
        }
        let mut any = false;
        while let Some(datagram) = self.session.poll_media(now) {
            self.outputs.write(now, datagram);
            any = true;
        }
        if any {
            self.outputs.flush()?;
        }
        Ok(false)
    }

    fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        self.outputs.interests(interests);
    }

    fn rest(&self) -> Span {
        REST
    }

    fn next(&self) -> Option<Time> {
        self.call.as_ref()?.notice_at
    }

    fn finish(&mut self, _now: Time) {
        self.session.finish();
        self.close();
        if std::mem::take(&mut self.is_streaming) {
            let stopped = Report::new("ended", "ended: stopped").with("reason", sender::name(Ending::Bye));
            self.reports.push_back(stopped);
        }
    }

    fn is_over(&self) -> bool {
        self.finishing && !self.outputs.is_waiting()
    }

    fn poll_report(&mut self) -> Option<Report> {
        if let Some(report) = self.outputs.poll_report() {
            return Some(report);
        }
        if let Some(report) = self.reports.pop_front() {
            return Some(report);
        }
        if let Some(notice) = self.session.poll_notice() {
            if let Notice::Refused(ending) = notice {
                self.refusal = Some(ending);
                self.close();
            }
            return Some(keys::describe(notice, "sender"));
        }
        let event = self.events.pop_front().or_else(|| self.session.poll_event())?;
        match event {
            Event::Started { .. } => self.is_streaming = true,
            // The report of the stop has said so before.
            Event::Ended(_) if self.finishing && !self.is_streaming => return self.poll_report(),
            Event::Ended(_) => self.is_streaming = false,
            _ => {}
        }
        if let Event::Ended(ending) = event {
            self.ending = Some(ending);
            if self.once {
                self.close();
            }
        }
        Some(describe(event, self.once, if self.call.is_some() { "calling" } else { "listening" }))
    }
}

impl Probe for ReceiverEndpoint {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.session.probe(visit);
        self.outputs.probe(visit);
        visit(ENCRYPTED.name, f64::from(u8::from(self.session.is_encrypted())));
    }
}

/// Describes an event; afterwards the session is still listening or calling, as `still` says.
fn describe(event: Event, once: bool, still: &str) -> Report {
    match event {
        Event::Started { from, media, latency, round_trip } => {
            let media = match media {
                Media::Opaque => "datagrams",
                Media::Mp2t => "MPEG-TS",
            };
            let started = Report::new("started", format!("receiving {media} from {from}"));
            latency::with(started.with("from", from).with("media", media), latency, round_trip)
        }
        Event::LatencyRaised { from, to, round_trip } => latency::raised(from, to, round_trip),
        Event::Moved { from } => Report::new("moved", format!("the sender is now at {from}")).with("from", from),
        Event::Early { latency, after, memory } => Report::new(
            "early",
            format!(
                "a latency of {latency} at this rate needs more than {} MiB: media is delivered after {after}; use a \
                 shorter --latency",
                memory.0 >> 20
            ),
        )
        .with_number("latency_seconds", after.as_secs_f64()),
        Event::OtherVersion { from, version } => {
            Report::new("other_version", format!("the sender at {from} {}", other_version(version)))
                .with("from", from)
                .with_number("version", version.into())
        }
        Event::Busy => Report::new("busy", format!("the sender has another receiver; still {still}")),
        Event::Silent => Report::new("silent", format!("no media from the sender; still {still}")),
        Event::Ended(ending) => {
            let text = match ending {
                Ending::Bye => "ended: the sender closed the stream".to_owned(),
                // A failure: people read of it in the error message of the program.
                _ if once => String::new(),
                _ => format!("ended: the sender went silent without a goodbye; still {still}"),
            };
            Report::new("ended", text).with("reason", sender::name(ending))
        }
        event => Report::unknown(&event),
    }
}
