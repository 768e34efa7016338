//! Reaction to the server: its responses, its end, and events of the receiver.

use std::net::SocketAddr;

use thalweg_core::law::predict::{self, rls};
use thalweg_core::session::Session as _;
use thalweg_core::session::stored::First;
use thalweg_core::session::stored::receiver::{Config, Event as Reception, Receiver};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::Seconds;
use thalweg_net::error::Error;
use thalweg_net::report::Report;
use thalweg_rtsp::client::{Event, Failure, Offer, Playing};
use thalweg_rtsp::message::{Method, Status};
use thalweg_rtsp::r3cp::Play;

use super::{PlayEndpoint, Stage, reports};
use crate::plain::Plain;
use crate::source::{R3cp, Source};
use crate::tracks::Tracks;

/// The predictor of loss and round trip. Ours: with a gate of 30 ms and a store of 2 s, at 5 % random loss in `r3cp-s1`, it plays
/// as many frames as any other (99.96 %; `ewma` 99.98 %), and without a gate the most (16 %; theta = 0.9 15 %, `ewma` 9 %).
pub const PREDICTOR: rls::Parameters = rls::Parameters { m: 10, theta: 0.99, p0: 100.0 };
/// Probes before the first start, and before another one, whose path is known. Ours: each is 20 ms, of 1.5 s at most, and at 5 %
/// loss all three are lost once in 8000 times, which costs a second.
const PROBES: u32 = 5;
const PROBES_AGAIN: u32 = 3;
/// The rate before playout as a multiple of mu.
// Deviation(R3CP+ §3.1): there it is mu. The start waits for a round trip and half a second of media, here two thirds as long.
const START: f64 = 1.5;
/// The time without a datagram after which the server is asked for a sign of life.
const SILENCE: Span = Span::from_secs(5);
/// The time before the end of the video from which on a server that ends, or is lost, has sent all of it: the last picture may
/// last that long, and servers round the duration.
const LAST: Span = Span::from_secs(2);

impl PlayEndpoint {
    /// Handles an event of the client.
    ///
    /// # Errors
    /// The video cannot be played.
    pub(super) fn on_server(&mut self, now: Time, event: Event) -> Result<(), Error> {
        match event {
            Event::Described => self.set_up(now)?,
            Event::Ready => {
                self.stage = Stage::Opening { is_ready: true };
                self.play_if_ready(now);
            }
            Event::Playing(playing) => self.on_playing(now, &playing)?,
            Event::Packet { channel, bytes } => {
                if let Some(Source::Plain(plain)) = &mut self.source {
                    plain.handle_packet(now, channel, &bytes);
                }
            }
            Event::Refused { method, status, why } => self.on_refusal(&method, status, why.as_deref())?,
            Event::Failed(failure @ (Failure::Redirected(_) | Failure::Unauthorized)) => {
                return Err(self.error(failure));
            }
            Event::Failed(failure) => self.on_loss(now, &failure.to_string())?,
            Event::Ended => self.link.close(),
            Event::Paused => {}
        }
        Ok(())
    }

    /// Chooses the tracks and their transport.
    fn set_up(&mut self, now: Time) -> Result<(), Error> {
        let tracks = self.link.client().and_then(|client| Tracks::choose(client.presentation()?));
        let tracks =
            tracks.ok_or_else(|| self.error("no track is H.264, MPEG-1 or MPEG-2 video, AAC or MPEG audio"))?;
        if self.tracks.as_ref().is_some_and(|before| before.streams() != tracks.streams()) {
            return Err(self.error("the video has changed"));
        }
        let offer = match tracks.is_r3cp && !self.is_udp_blocked {
            true => Offer::R3cp { port: self.port },
            false => Offer::Interleaved,
        };
        let numbers: Vec<usize> = tracks.tracks.iter().map(|track| track.number).collect();
        if let Some(client) = self.link.client() {
            client.set_up(now, &numbers, offer);
        }
        self.tracks = Some(tracks);
        Ok(())
    }

    /// Sends the PLAY once the tracks are set up and the buffer of the connection before is empty.
    pub(super) fn play_if_ready(&mut self, now: Time) {
        let is_ready = self.stage == Stage::Opening { is_ready: true };
        if !is_ready || self.is_buffered() || self.is_paused {
            return;
        }
        self.stage = Stage::Opening { is_ready: false };
        if self.source.is_some() {
            self.asked.get_or_insert(self.position);
            self.first.requested = now;
        }
        if let Some(client) = self.link.client() {
            client.play(now, self.asked);
        }
    }

    fn on_playing(&mut self, now: Time, playing: &Playing) -> Result<(), Error> {
        let Some(tracks) = self.tracks.clone() else { return Ok(()) };
        let is_resumed = self.asked.is_none() && self.stage == Stage::Playing;
        if is_resumed && playing.r3cp.is_none() {
            // The PLAY after a pause.
            return Ok(());
        }
        let transports = self.link.client().map_or_else(Vec::new, |client| client.tracks().to_vec());
        let start = playing.range.start.or(self.asked).unwrap_or(Span::ZERO);
        if let Some(Source::Plain(plain)) = &mut self.source {
            plain.finish();
            self.play_out(now)?;
        }
        self.keep_outcomes();
        self.source = Some(match &playing.r3cp {
            Some(play) => {
                let port = transports.first().and_then(|(_, transport)| transport.server_port).unwrap_or_default().0;
                self.session.receiver = Some(self.receiver(now, &tracks, port, play)?);
                self.session.heard = Some(now);
                Source::R3cp(R3cp::new(start, play))
            }
            None => Source::Plain(Plain::new(now, &tracks, &transports, playing, self.rng.fork("plain"))),
        });
        self.sink.begin(&tracks);
        let control = playing.r3cp.as_ref().map(|_| self.settings.control);
        let report = reports::playing(start, self.asked.take(), &tracks, control);
        self.reports.push_back(report);
        (self.stage, self.position, self.is_paused) = (Stage::Playing, start, false);
        (self.first.is_due, self.is_still) = (true, false);
        self.link.succeeded();
        Ok(())
    }

    fn receiver(&mut self, now: Time, tracks: &Tracks, port: u16, play: &Play) -> Result<Receiver, Error> {
        let parameters = self.settings.parameters(play.mu).map_err(|error| self.error(error))?;
        let config = Config {
            key: play.key,
            sender: SocketAddr::new(self.link.server.ip(), port),
            tracks: tracks.of_session(),
            first: First::new(play.first, play.decode, play.display),
            mu: play.mu,
            control: self.settings.control,
            parameters,
            predictor: predict::Choice::Rls(PREDICTOR),
            bounds: self.settings.bounds(play.size),
            probes: if self.session.heard.is_some() { PROBES_AGAIN } else { PROBES },
            start: START,
        };
        Receiver::new(config, now, &self.rng.fork(&format!("{:016x}", play.key))).map_err(|error| self.error(error))
    }

    /// Handles a refusal: of a seek it is a warning, of all else the end.
    fn on_refusal(&mut self, method: &Method, status: Status, why: Option<&str>) -> Result<(), Error> {
        let why = match why {
            Some(why) => format!("refused by the server: {why} (RTSP {})", status.0),
            None => format!("{method} refused by the server: {status}"),
        };
        if self.stage == Stage::Playing {
            self.asked = None;
            self.reports.push_back(Report::warning(format!("{why}; playback continues")));
            return Ok(());
        }
        Err(self.error(why))
    }

    /// Handles the end of the connection: before the first PLAY it is an error, then playback continues from the buffer.
    ///
    /// # Errors
    /// Nothing has been played yet.
    pub(super) fn on_loss(&mut self, now: Time, why: &str) -> Result<(), Error> {
        if self.stage == Stage::Over {
            self.link.close();
            return Ok(());
        }
        if self.source.is_none() {
            return Err(self.error(why));
        }
        if let Some(Source::Plain(plain)) = &mut self.source {
            plain.finish();
            self.play_out(now)?;
        }
        if self.session.receiver.is_none() && self.duration().is_some_and(|duration| self.position + LAST >= duration) {
            self.on_end(now);
            return Ok(());
        }
        let is_first = self.stage == Stage::Playing;
        self.interruptions += u64::from(is_first);
        self.stage = Stage::Opening { is_ready: false };
        let after = self.link.retry(now);
        let buffered = self.buffered().filter(|_| is_first).map(Seconds::from);
        self.reports.push_back(reports::interrupted(&self.link.url, why, after, buffered));
        Ok(())
    }

    /// Handles what happens without an event of the server: events of the receiver, silence, the end.
    pub(super) fn on_time(&mut self, now: Time) {
        while let Some(event) = self.session.poll_event() {
            match event {
                Reception::Ended => self.on_end(now),
                Reception::CutOff => self.on_goodbye(now),
                Reception::NoAnswer => self.on_no_answer(now),
                other => self.reports.extend(reports::reception(other)),
            }
        }
        self.play_if_ready(now);
        self.watch(now);
        if let Some(Source::Plain(plain)) = &mut self.source {
            for (channel, report) in plain.reports(now) {
                if let Some(client) = self.link.client() {
                    client.send_packet(channel, &report);
                }
            }
            if plain.is_over(now) && self.stage == Stage::Playing {
                self.on_goodbye(now);
            }
        } else if self.stage == Stage::Playing && self.session.heard.is_some_and(|heard| now >= heard + SILENCE) {
            self.session.heard = Some(now);
            if let Some(client) = self.link.client() {
                client.keep_alive(now);
            }
        }
    }

    /// Reports that playback stands still without a server, and that most pictures are not displayed.
    fn watch(&mut self, now: Time) {
        match self.stage {
            // Before the first picture nothing stands still.
            Stage::Opening { .. }
                if self.source.is_some() && !self.first.is_due && !self.is_buffered() && !self.is_still =>
            {
                self.is_still = true;
                self.reports.push_back(reports::still());
            }
            Stage::Playing if self.strain.is_due(now) => {
                let pictures = self.outcomes().pictures;
                self.reports.extend(self.strain.look(now, &pictures, &self.settings));
            }
            _ => {}
        }
    }

    /// Handles the server's goodbye, which ends the video or cuts it off.
    fn on_goodbye(&mut self, now: Time) {
        self.play_rest(now);
        let Some(duration) = self.duration().filter(|duration| self.position + LAST < *duration) else {
            self.on_end(now);
            return;
        };
        let (at, of) = (reports::clock(self.position), reports::clock(duration));
        let why = format!("the server has ended the video at {at} of {of}; the lines of the server name the reason");
        self.failure = Some(self.error(why));
        self.reports.push_back(reports::cut_off(self.position));
        self.end(now);
    }

    /// Plays what waits for more of the video.
    fn play_rest(&mut self, now: Time) {
        if let Some(Source::Plain(plain)) = &mut self.source {
            plain.finish();
            // An output that fails now has nothing more to lose.
            let _ = self.play_out(now);
        }
    }

    fn on_end(&mut self, now: Time) {
        self.play_rest(now);
        if self.stage != Stage::Over {
            self.reports.push_back(Report::new("ended", "ended: the video is over").with("reason", "over"));
        }
        self.end(now);
    }

    /// Asks for the packets within the connection: a firewall may let no datagrams pass.
    fn on_no_answer(&mut self, now: Time) {
        let (server, port) = (self.link.server.ip(), self.link.server.port());
        // The even port behind that of RTSP, unless it was taken.
        let even = port + 2 - port % 2;
        let text = format!(
            "no answer from {server} over UDP; playing over TCP without control. If UDP port {even} of the server cannot be \
             opened, --transport tcp does so at once"
        );
        self.reports.push_back(Report::warning(text));
        self.keep_outcomes();
        self.is_udp_blocked = true;
        self.asked = Some(self.position);
        self.stage = Stage::Opening { is_ready: false };
        self.link.renew(now);
    }

    fn error(&self, why: impl std::fmt::Display) -> Error {
        Error::new(self.link.url.as_str(), why)
    }
}
