//! The states of a connection (RFC 2326 appendix A), without I/O: requests in, responses out.
//!
//! | state | left by |
//! |---|---|
//! | Init: `session` is none | SETUP |
//! | Ready: a session, [`Playback::is_playing`] is false | PLAY, TEARDOWN |
//! | Playing: a session, [`Playback::is_playing`] is true | PAUSE, TEARDOWN, the end of the play |
//!
//! A connection has one session at a time, and the session ends with the connection: nothing is sent to a client that is gone.

mod play;
mod setup;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use thalweg_core::rng::Rng;
use thalweg_core::time::Time;
use thalweg_rtsp::message::{Method, Request, Response};

use super::describe::{describe, track_of};
use super::playback::Playback;
use super::stored::Stored;
use crate::link::resolve;

/// The methods that are implemented, for the header `Public`.
const METHODS: &str = "OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, TEARDOWN, GET_PARAMETER";

/// A connection.
#[derive(Debug)]
pub(crate) struct Machine {
    /// The address of the client, to which alone media goes.
    peer: IpAddr,
    /// The address at which the client reaches this server.
    local: SocketAddr,
    /// The ports of RTP and RTCP.
    server_ports: (u16, u16),
    /// Seconds after which a silent session ends.
    timeout: u64,
    rng: Rng,
    session: Option<Session>,
    is_over: bool,
}

#[derive(Debug)]
struct Session {
    id: String,
    profile: Profile,
    playback: Box<dyn Playback>,
}

/// The profile of all tracks of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Profile {
    /// RTP at the pace of the video, for any player.
    Plain,
    /// R3CP+: RTP at the rate that the receiver asks for.
    R3cp,
}

/// The target of a URL: a video, or a track of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) track: Option<usize>,
}

/// A video that the caller has opened, or the response that refuses the request.
pub(crate) type Opened = Result<Arc<Stored>, Response>;

impl Machine {
    pub(crate) fn new(
        peer: IpAddr,
        local: SocketAddr,
        server_ports: (u16, u16),
        timeout: Duration,
        rng: Rng,
    ) -> Machine {
        let (peer, timeout) = (peer.to_canonical(), timeout.as_secs());
        Machine { peer, local, server_ports, timeout, rng, session: None, is_over: false }
    }

    /// The video that the caller must open for [`Machine::handle`].
    pub(crate) fn needs(&self, request: &Request) -> Option<String> {
        let target = Target::of(&request.url)?;
        match request.method {
            Method::Describe => Some(target.name),
            // A further track of the session is of a video that is open.
            Method::Setup if self.stored().is_none_or(|stored| stored.name != target.name) => Some(target.name),
            _ => None,
        }
    }

    /// Answers a request.
    pub(crate) fn handle(&mut self, now: Time, request: &Request, opened: Option<Opened>) -> Response {
        let Some(sequence) = request.field("CSeq").filter(|number| number.len() <= 20) else {
            return Response::refusal(400, "CSeq is missing");
        };
        let sequence = sequence.to_owned();
        let response = match request.field("Require").or_else(|| request.field("Proxy-Require")) {
            // No extension is known (RFC 2326 §12.32).
            Some(required) => Response::new(551).with("Unsupported", required),
            None => self.answer(now, request, opened),
        };
        response.with("CSeq", sequence).with("Server", "Thalweg")
    }

    /// The part of the session that plays, if there is a session.
    pub(crate) fn playback(&mut self) -> Option<&mut dyn Playback> {
        self.session.as_mut().map(|session| &mut *session.playback as &mut dyn Playback)
    }

    /// True once the client has ended its session: the connection closes when the response is sent.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    fn stored(&self) -> Option<&Arc<Stored>> {
        self.session.as_ref().map(|session| session.playback.stored())
    }

    fn answer(&mut self, now: Time, request: &Request, opened: Option<Opened>) -> Response {
        match request.method {
            Method::Options => self.with_session(Response::new(200).with("Public", METHODS)),
            Method::Describe => self.describe(request, opened),
            Method::Setup => self.setup(request, opened).unwrap_or_else(|refusal| refusal),
            Method::Other(_) => Response::new(501).with("Public", METHODS),
            Method::GetParameter | Method::Play | Method::Pause | Method::Teardown => match self.check_session(request)
            {
                Err(refusal) => refusal,
                Ok(()) => self.answer_in_session(now, request),
            },
        }
    }

    fn answer_in_session(&mut self, now: Time, request: &Request) -> Response {
        match request.method {
            // No parameter is known; an empty request keeps the session alive (§10.8).
            Method::GetParameter if !request.body.is_empty() => Response::refusal(451, "no parameter is known"),
            Method::GetParameter => self.with_session(Response::new(200)),
            Method::Play => self.play(now, request),
            Method::Pause => self.pause(now, request),
            _ => {
                self.session = None;
                self.is_over = true;
                Response::new(200)
            }
        }
    }

    fn describe(&mut self, request: &Request, opened: Option<Opened>) -> Response {
        let accepts = request.field("Accept").unwrap_or("application/sdp");
        let is_accepted = |kind: &str| {
            matches!(kind.split(';').next().map(str::trim), Some("application/sdp" | "application/*" | "*/*"))
        };
        if !accepts.split(',').any(is_accepted) {
            return Response::refusal(406, "a video is described as application/sdp");
        }
        match opened {
            None => Response::refusal(404, "no such file"),
            Some(Err(refusal)) => refusal,
            Some(Ok(stored)) => {
                let text = describe(&stored, self.local.ip().to_canonical(), self.rng.u64() >> 1).to_string();
                let base = format!("{}/", request.url.trim_end_matches('/'));
                Response::new(200).with("Content-Base", base).with_body("application/sdp", text)
            }
        }
    }

    /// Refuses a request whose session is not that of this connection. A request without one is refused as well, unless
    /// it only asks whether the server is there.
    fn check_session(&self, request: &Request) -> Result<(), Response> {
        let asked = request.field("Session").map(|session| session.split(';').next().unwrap_or_default().trim());
        match (&self.session, asked) {
            (Some(session), Some(asked)) if session.id == asked => Ok(()),
            (None, None) if request.method == Method::GetParameter => Ok(()),
            (None, None) => Err(Response::refusal(455, "SETUP comes first")),
            _ => Err(Response::new(454)),
        }
    }

    fn with_session(&self, response: Response) -> Response {
        match &self.session {
            Some(session) => response.with("Session", format!("{};timeout={}", session.id, self.timeout)),
            None => response,
        }
    }
}

impl Target {
    /// The target of an absolute URL.
    pub(crate) fn of(url: &str) -> Option<Target> {
        let after = url.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("rtsp://")).map(|_| &url[7..])?;
        let (_, path) = after.split_once('/')?;
        let name = resolve("", path).filter(|name| !name.is_empty() && !name.contains('\0'))?;
        let split = name.rsplit_once('/').and_then(|(video, control)| Some((video, track_of(control)?)));
        Some(match split {
            Some((video, track)) => Target { name: video.to_owned(), track: Some(track) },
            None => Target { name, track: None },
        })
    }
}
