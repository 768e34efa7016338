//! The receiving end of a live stream.

use std::collections::VecDeque;

use thalweg_core::metric::{Kind, Metric};
use thalweg_core::probe::{Probe, Visitor};
use thalweg_core::session::Session;
use thalweg_core::session::live::receiver::{Event, Receiver};
use thalweg_core::session::live::{Ending, Media, other_version};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Bytes;

use super::{Endpoint, REST, sender};
use crate::error::Error;
use crate::output::Output;
use crate::poll::{Interests, Ready};
use crate::report::Report;

const DROPPED: Metric = Metric {
    name: "output_dropped_datagrams_total",
    kind: Kind::Counter,
    help: "Datagrams dropped because an output could not take them",
};

const SKIPPED: Metric = Metric {
    name: "output_skipped_bytes_total",
    kind: Kind::Counter,
    help: "Bytes skipped at an MPEG-TS output because they belong to no packet",
};

/// A receiving session, and the outputs for its media.
#[derive(Debug)]
pub struct ReceiverEndpoint {
    session: Receiver,
    /// Events of the session not yet reported.
    events: VecDeque<Event>,
    outputs: Vec<Output>,
    dropped_by_lost_outputs: u64,
    skipped_by_lost_outputs: Bytes,
    lost_outputs: Vec<Error>,
    once: bool,
    finishing: bool,
    /// True if a stream has begun whose end was not reported.
    is_streaming: bool,
    stopped: Option<Report>,
    ending: Option<Ending>,
}

impl ReceiverEndpoint {
    /// Passes every datagram to every output; with `once`, ends with the first stream.
    pub fn new(session: Receiver, outputs: Vec<Output>, once: bool) -> ReceiverEndpoint {
        ReceiverEndpoint {
            session,
            events: VecDeque::new(),
            outputs,
            dropped_by_lost_outputs: 0,
            skipped_by_lost_outputs: Bytes(0),
            lost_outputs: Vec::new(),
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

    /// Lets the outputs write the data that they still hold, and no more.
    fn close(&mut self) {
        self.finishing = true;
        self.outputs.iter_mut().for_each(Output::finish);
        // An output that fails now has nothing more to lose.
        let _ = self.each_output(Output::flush);
    }

    /// Applies `what` to every output, and drops those that fail; an error is that of the last output.
    fn each_output(&mut self, mut what: impl FnMut(&mut Output) -> Result<(), Error>) -> Result<(), Error> {
        let (dropped, lost) = (&mut self.dropped_by_lost_outputs, &mut self.lost_outputs);
        let skipped = &mut self.skipped_by_lost_outputs;
        self.outputs.retain_mut(|output| match what(output) {
            Ok(()) => true,
            Err(error) => {
                *dropped += output.dropped();
                *skipped += output.skipped();
                lost.push(error);
                false
            }
        });
        match lost.pop() {
            Some(last) if self.outputs.is_empty() => Err(last),
            other => {
                lost.extend(other);
                Ok(())
            }
        }
    }
}

impl Endpoint for ReceiverEndpoint {
    type Session = Receiver;

    const SIDE: &'static str = "recv";

    fn metrics() -> impl Iterator<Item = &'static Metric> {
        Receiver::METRICS.iter().chain([&DROPPED, &SKIPPED])
    }

    fn session(&mut self) -> &mut Receiver {
        &mut self.session
    }

    fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error> {
        self.each_output(|output| output.resume(ready))?;
        // Media that is polled next belongs to the stream that began last.
        while let Some(event) = self.session.poll_event() {
            if matches!(event, Event::Started { .. } | Event::Ended(_)) {
                self.outputs.iter_mut().for_each(Output::end_stream);
            }
            self.events.push_back(event);
        }
        let mut any = false;
        while let Some(datagram) = self.session.poll_media(now) {
            for output in &mut self.outputs {
                output.write(now, datagram);
            }
            any = true;
        }
        if any {
            self.each_output(Output::flush)?;
        }
        Ok(false)
    }

    fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        for output in &self.outputs {
            output.interests(interests);
        }
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
        self.finishing && !self.outputs.iter().any(Output::is_waiting)
    }

    fn poll_report(&mut self) -> Option<Report> {
        if let Some(error) = self.lost_outputs.pop() {
            return Some(Report::warning(format!("{error}; continuing without this output")));
        }
        if let Some(notice) = self.outputs.iter_mut().find_map(Output::poll_notice) {
            return Some(notice);
        }
        if let Some(stopped) = self.stopped.take() {
            return Some(stopped);
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
        let dropped = self.outputs.iter().map(Output::dropped).sum::<u64>() + self.dropped_by_lost_outputs;
        visit(DROPPED.name, dropped as f64);
        let skipped: u64 = self.outputs.iter().map(|output| output.skipped().0).sum();
        visit(SKIPPED.name, (skipped + self.skipped_by_lost_outputs.0) as f64);
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
