//! The receiving end of a live stream.

use std::collections::VecDeque;

use thalweg_core::metric::Metric;
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::Session;
use thalweg_core::session::live::carried::Carried;
use thalweg_core::session::live::receiver::{Event, Receiver};
use thalweg_core::session::live::{Ending, Media, other_version};
use thalweg_core::time::{Span, Time};

use super::keys::{self, ENCRYPTED};
use super::{Endpoint, REST, sender};
use crate::error::Error;
use crate::output::{Output, Outputs};
use crate::poll::{Interests, Ready};
use crate::report::Report;

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
    stopped: Option<Report>,
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
            stopped: None,
            ending: None,
        }
    }

    /// The outcome of the last stream, if one has ended.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
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
        // Media that is polled next belongs to the stream that began last.
        while let Some(event) = self.session.poll_event() {
            if matches!(event, Event::Started { .. } | Event::Ended(_)) {
                self.outputs.end_stream();
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
        None
    }

    fn finish(&mut self, _now: Time) {
        self.session.finish();
        self.close();
        if std::mem::take(&mut self.is_streaming) {
            self.stopped = Some(Report::new("ended", "ended: stopped").with("reason", sender::name(Ending::Bye)));
        }
    }

    fn is_over(&self) -> bool {
        self.finishing && !self.outputs.is_waiting()
    }

    fn poll_report(&mut self) -> Option<Report> {
        if let Some(report) = self.outputs.poll_report() {
            return Some(report);
        }
        if let Some(stopped) = self.stopped.take() {
            return Some(stopped);
        }
        if let Some(notice) = self.session.poll_notice() {
            return Some(keys::describe(notice));
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
        Some(describe(event, self.once))
    }
}

impl Probe for ReceiverEndpoint {
    fn probe(&self, visit: &mut Visitor<'_>) {
        self.session.probe(visit);
        self.outputs.probe(visit);
        visit(ENCRYPTED.name, f64::from(u8::from(self.session.is_encrypted())));
    }
}

fn describe(event: Event, once: bool) -> Report {
    match event {
        Event::Started { from, media, latency } => {
            let media = match media {
                Media::Opaque => "datagrams",
                Media::Mp2t => "MPEG-TS",
            };
            Report::new("started", format!("receiving {media} from {from}, latency {latency}"))
                .with("from", from)
                .with("media", media)
                .with_number("latency_seconds", latency.as_secs_f64())
        }
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
        Event::Silent => Report::new("silent", "no media from the sender; still listening"),
        Event::Ended(ending) => {
            let text = match ending {
                Ending::Bye => "ended: the sender closed the stream",
                // A failure: people read of it in the error message of the program.
                _ if once => "",
                _ => "ended: the sender went silent without a goodbye; still listening",
            };
            Report::new("ended", text).with("reason", sender::name(ending))
        }
        event => Report::unknown(&event),
    }
}
