//! The endpoint of a player for the event loop.

mod control;
mod reports;
mod server;
mod settings;
mod strain;

use std::collections::VecDeque;

use thalweg_core::law::playback::Tally;
use thalweg_core::metric::Metric;
use thalweg_core::rng::Rng;
use thalweg_core::session::stored::receiver::Receiver;
use thalweg_core::time::{Span, Time};
use thalweg_net::endpoint::Endpoint;
use thalweg_net::error::Error;
use thalweg_net::output::Outputs;
use thalweg_net::poll::{Interests, Ready};
use thalweg_net::report::Report;

pub use self::reports::clock;
pub use self::server::PREDICTOR;
pub use self::settings::Settings;
use self::strain::Strain;
use crate::figures::{Counts, METRICS, Outcomes};
use crate::keys::Keys;
use crate::link::Link;
use crate::session::PlaySession;
use crate::sink::Sink;
use crate::source::Source;
use crate::tracks::Tracks;

/// The time for which arriving datagrams may gather: less than a flow control period.
const REST: Span = Span::from_millis(1);
/// The interval at which frames that are due, and the buffer's end, are looked for where nothing else wakes the loop.
const LOOK: Span = Span::from_millis(100);

/// A player: the RTSP connection, the reception, and the outputs.
#[derive(Debug)]
pub struct PlayEndpoint {
    settings: Settings,
    pub(crate) session: PlaySession,
    link: Link,
    /// The local port of R3CP+.
    port: u16,
    rng: Rng,
    tracks: Option<Tracks>,
    pub(crate) source: Option<Source>,
    pub(crate) sink: Sink,
    keys: Option<Keys>,
    stage: Stage,
    is_paused: bool,
    /// True without R3CP+: by choice, or once no probe was answered.
    is_udp_blocked: bool,
    /// The position that was asked for, until its PLAY is answered.
    asked: Option<Span>,
    /// The position of the last access unit.
    pub(crate) position: Span,
    /// The outcomes and the counts of earlier PLAYs.
    earlier: Outcomes,
    pub(crate) counts: Counts,
    first: First,
    /// True once a line has said that the buffer is empty while the server is gone.
    is_still: bool,
    strain: Strain,
    pub(crate) interruptions: u64,
    failure: Option<Error>,
    /// The time of the last turn.
    now: Time,
    reports: VecDeque<Report>,
}

/// The first access unit of a PLAY.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct First {
    /// The time of the start, of the key that seeks, or of the PLAY after an interruption.
    requested: Time,
    /// True from the response to PLAY until the unit is played.
    is_due: bool,
}

/// The stage of a player.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Before the response to the first PLAY, and between two connections.
    Opening {
        /// True once the tracks are set up, and the PLAY waits for the end of the buffer.
        is_ready: bool,
    },
    Playing,
    /// Nothing more is received.
    Over,
}

impl PlayEndpoint {
    /// A player. `port` is that of the socket for datagrams.
    pub fn new(
        now: Time,
        settings: Settings,
        link: Link,
        port: u16,
        sink: Sink,
        keys: Option<Keys>,
        rng: Rng,
    ) -> PlayEndpoint {
        PlayEndpoint {
            link,
            session: PlaySession::default(),
            port,
            rng,
            tracks: None,
            source: None,
            sink,
            keys,
            stage: Stage::Opening { is_ready: false },
            is_paused: false,
            is_udp_blocked: settings.is_interleaved,
            asked: settings.from,
            position: settings.from.unwrap_or(Span::ZERO),
            earlier: Outcomes::default(),
            counts: Counts::default(),
            first: First { requested: now, is_due: false },
            is_still: false,
            strain: Strain::default(),
            interruptions: 0,
            failure: None,
            now,
            reports: VecDeque::new(),
            settings,
        }
    }

    /// The exit code of the command, once it has ended.
    pub fn exit_code(&self) -> Option<i32> {
        self.sink.outputs.exit_code()
    }

    /// The failure of a playback that has ended: the server has ended the video before its end.
    pub fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// The duration of the video, where it is known.
    fn duration(&self) -> Option<Span> {
        self.tracks.as_ref()?.duration
    }

    /// The outcomes of all pictures and frames of sound.
    pub(crate) fn outcomes(&self) -> Outcomes {
        let mut outcomes = self.earlier;
        outcomes.add(self.tallies());
        outcomes
    }

    /// Ends the receiver, whose outcomes and counts remain.
    fn keep_outcomes(&mut self) {
        self.earlier = self.outcomes();
        self.counts = self.all_counts();
        self.session.receiver = None;
    }

    fn tallies(&self) -> (Tally, Tally) {
        self.session.receiver.as_ref().map_or_else(Default::default, |receiver| receiver.tallies(self.now))
    }

    /// True while a server plays.
    pub(crate) fn is_connected(&self) -> bool {
        self.stage == Stage::Playing
    }

    /// The media time in the buffer now.
    pub(crate) fn buffered(&self) -> Option<Span> {
        self.session.receiver.as_ref()?.banked(self.now)
    }

    /// True while the buffer has something to play.
    fn is_buffered(&self) -> bool {
        self.buffered().is_some_and(|buffered| buffered > Span::ZERO)
    }

    /// Writes the access units that are due.
    fn play_out(&mut self, now: Time) -> Result<(), Error> {
        let (Some(source), Some(tracks)) = (&mut self.source, &self.tracks) else { return Ok(()) };
        let (units, position) = source.units(now, tracks, self.session.receiver.as_mut());
        self.position = position.unwrap_or(self.position);
        if self.first.is_due && !units.is_empty() {
            self.first.is_due = false;
            self.reports.push_back(reports::started(now.since(self.first.requested)));
        }
        self.sink.write(now, &units)
    }

    /// Handles the end of the command.
    fn on_command(&mut self, now: Time, ended: &Error, code: i32) {
        let why = match code {
            0 => None,
            // As the shell has it (POSIX, Shell Command Language §2.8.2).
            127 => Some(": the shell has not found it"),
            126 => Some(": it cannot be executed"),
            _ => Some(""),
        };
        self.reports.extend(why.map(|why| Report::warning(format!("{ended}{why}; playback ends with it"))));
        self.end(now);
    }

    /// Ends reception: says goodbye, and lets the outputs write what they hold.
    fn end(&mut self, now: Time) {
        if self.stage == Stage::Over {
            return;
        }
        self.stage = Stage::Over;
        if let Some(receiver) = &mut self.session.receiver {
            receiver.finish();
        }
        if let Some(client) = self.link.client() {
            client.tear_down(now);
        }
        self.link.flush();
        self.sink.finish(now);
    }
}

impl Endpoint for PlayEndpoint {
    type Session = PlaySession;

    const SIDE: &'static str = "play";

    fn metrics() -> impl Iterator<Item = &'static Metric> {
        Receiver::METRICS.iter().chain(&METRICS).chain(Outputs::METRICS)
    }

    fn session(&mut self) -> &mut PlaySession {
        &mut self.session
    }

    fn exchange(&mut self, now: Time, ready: &mut Ready) -> Result<bool, Error> {
        self.now = now;
        match (self.sink.outputs.resume(ready), self.exit_code()) {
            (Err(error), Some(code)) => self.on_command(now, &error, code),
            (resumed, _) => resumed?,
        }
        let exchanged = self.link.exchange(now, ready);
        let keys = self.keys.as_ref().map_or_else(Vec::new, |keys| keys.read(ready));
        while let Some(event) = self.link.poll_event() {
            self.on_server(now, event)?;
        }
        let more = match exchanged {
            Ok(more) => more,
            Err(why) => self.on_loss(now, &why).map(|()| false)?,
        };
        keys.into_iter().for_each(|key| self.on_key(now, key));
        if self.stage != Stage::Over {
            self.play_out(now)?;
            self.on_time(now);
        }
        self.link.flush();
        Ok(more)
    }

    fn interests<'a>(&'a self, interests: &mut Interests<'a>) {
        self.sink.outputs.interests(interests);
        self.link.interests(interests);
        if let Some(keys) = &self.keys {
            keys.interests(interests);
        }
    }

    fn rest(&self) -> Span {
        REST
    }

    fn next(&self) -> Option<Time> {
        let plain = match &self.source {
            Some(Source::Plain(plain)) => Some(plain.next()),
            _ => None,
        };
        let look = (self.stage != Stage::Playing).then(|| self.now + LOOK);
        [self.link.next(), plain, look].into_iter().flatten().min()
    }

    fn has_begun(&self) -> bool {
        self.source.is_some()
    }

    fn finish(&mut self, now: Time) {
        if self.stage != Stage::Over && self.source.is_some() {
            self.reports.push_back(Report::new("ended", "ended: stopped").with("reason", "stopped"));
        }
        self.end(now);
    }

    fn is_over(&self) -> bool {
        self.stage == Stage::Over && self.sink.is_drained()
    }

    fn poll_report(&mut self) -> Option<Report> {
        self.reports.pop_front().or_else(|| self.sink.outputs.poll_report())
    }
}
