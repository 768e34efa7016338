//! Responses to the client's requests.

use thalweg_core::time::{Span, Time};
use thalweg_core::wire::npt::NptRange;
use thalweg_core::wire::sdp::stored::Presentation;

use super::request::Step;
use super::{Client, Event, Failure, Offer, Playing, TIMEOUT, TIMEOUTS, rtp_info};
use crate::message::{Method, Response};
use crate::r3cp::{self, Play, Setup};
use crate::transport::{Lower, Transport};
use crate::url::resolve;

/// The longest reason that is kept of a refusal.
const MAX_REASON: usize = 200;

impl Client {
    pub(super) fn on_response(&mut self, now: Time, response: &Response) {
        let sequence = response.field("CSeq").and_then(|number| number.trim().parse::<u32>().ok());
        let first = self.sent.front().copied();
        let Some((_, step, _)) = first.filter(|(number, ..)| sequence == Some(*number)) else { return };
        self.sent.pop_front();
        match response.status.0 {
            300..=399 => self.fail(Failure::Redirected(response.field("Location").map(str::to_owned))),
            401 | 407 => self.fail(Failure::Unauthorized),
            _ if response.status.is_success() => self.on_success(step, response),
            _ => self.on_refusal(step, response),
        }
        self.send_next(now);
    }

    fn on_success(&mut self, step: Step, response: &Response) {
        match step {
            Step::Describe => self.on_description(response),
            Step::Setup(track) => self.on_setup(track, response),
            Step::Play(_) => self.on_play(response),
            Step::Pause { is_for_seek } => {
                self.is_playing = false;
                if !is_for_seek {
                    self.events.push_back(Event::Paused);
                }
            }
            Step::KeepAlive => {}
            Step::Teardown => self.end(),
        }
    }

    fn on_refusal(&mut self, step: Step, response: &Response) {
        match step {
            // A server without the method is alive, and may know the other one.
            Step::KeepAlive if response.status.0 != 454 => self.keep_alive = Method::Options,
            // The PLAY after it shows if the server can seek.
            Step::Pause { is_for_seek: true } => {}
            Step::Teardown => self.end(),
            _ => {
                let method = step.method(&self.keep_alive);
                self.waiting.retain(|waiting| !matches!(waiting, Step::Setup(_)));
                self.events.push_back(Event::Refused { method, status: response.status, why: reason(response) });
            }
        }
    }

    fn on_description(&mut self, response: &Response) {
        if response.body.trim_ascii().is_empty() {
            self.fail(Failure::NoDescription);
            return;
        }
        let parsed = str::from_utf8(&response.body).map_err(|_| "the description is not UTF-8".to_owned());
        let parsed = parsed.and_then(|text| Presentation::parse(text).map_err(|error| error.to_string()));
        match parsed {
            Err(why) => self.fail(Failure::Malformed(why)),
            Ok(presentation) => {
                let base = response.field("Content-Base").or_else(|| response.field("Content-Location"));
                if let Some(base) = base.filter(|base| base.contains("://")) {
                    base.clone_into(&mut self.base);
                }
                self.aggregate = resolve(&self.base, presentation.control.as_deref().unwrap_or_default());
                self.presentation = Some(presentation);
                self.events.push_back(Event::Described);
            }
        }
    }

    fn on_setup(&mut self, track: usize, response: &Response) {
        let is_r3cp = response.field(r3cp::HEADER).is_some_and(|header| Setup::parse(header).is_ok());
        let transport = response.field("Transport").and_then(|header| Transport::parse(header).ok());
        let is_usable = |transport: &Transport| match self.offer {
            Offer::R3cp { .. } => is_r3cp && transport.server_port.is_some(),
            Offer::Interleaved => transport.lower == Lower::Tcp && transport.interleaved.is_some(),
        };
        let Some(transport) = transport.filter(is_usable) else {
            self.fail(Failure::Malformed("SETUP is answered with another transport than was asked for".to_owned()));
            return;
        };
        if let Some(session) = response.field("Session") {
            let (id, parameters) = session.split_once(';').unwrap_or((session, ""));
            self.session = Some(id.trim().to_owned());
            let timeout = parameters.trim().strip_prefix("timeout=").and_then(|seconds| seconds.parse::<u64>().ok());
            self.timeout = timeout.map_or(TIMEOUT, |seconds| Span::from_secs(seconds.clamp(TIMEOUTS.0, TIMEOUTS.1)));
        }
        if self.session.is_none() {
            self.fail(Failure::Malformed("SETUP is answered without a session".to_owned()));
            return;
        }
        self.tracks.push((track, transport));
        let is_ready = match self.offer {
            Offer::R3cp { .. } => self.tracks.len() == 1,
            Offer::Interleaved => !self.waiting.iter().any(|step| matches!(step, Step::Setup(_))),
        };
        if is_ready {
            self.events.push_back(Event::Ready);
        }
    }

    fn on_play(&mut self, response: &Response) {
        let r3cp = match (self.offer, response.field(r3cp::HEADER).map(Play::parse)) {
            (Offer::Interleaved, _) => None,
            (Offer::R3cp { .. }, Some(Ok(play))) => Some(play),
            (Offer::R3cp { .. }, _) => {
                self.fail(Failure::Malformed("PLAY is answered without a valid header R3CP".to_owned()));
                return;
            }
        };
        self.is_playing = true;
        let urls: Vec<String> = self.tracks.iter().map(|(track, _)| self.track_url(*track)).collect();
        let range = response.field("Range").and_then(|range| NptRange::parse(range).ok()).unwrap_or_default();
        let info = rtp_info::parse(response.field("RTP-Info").unwrap_or_default(), &urls);
        self.events.push_back(Event::Playing(Playing { range, r3cp, info }));
    }
}

/// The reason of a refusal: the first line of its content, if that is text.
fn reason(response: &Response) -> Option<String> {
    response.field("Content-Type").filter(|kind| kind.starts_with("text/plain"))?;
    let line = str::from_utf8(&response.body).ok()?.lines().next()?.trim();
    let reason: String = line.chars().filter(|c| !c.is_control()).take(MAX_REASON).collect();
    Some(reason).filter(|reason| !reason.is_empty())
}
