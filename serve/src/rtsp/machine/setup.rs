//! SETUP (RFC 2326 §10.4): a track and its transport.

use std::sync::Arc;

use thalweg_rtsp::message::{Request, Response};
use thalweg_rtsp::r3cp::{HEADER, Setup};

use super::{Machine, Opened, Profile, Session, Target};
use crate::rtsp::stored::Stored;
use crate::rtsp::transport::{Delivery, Refused};
use crate::rtsp::{r3cp, sender};

impl Machine {
    /// Sets up a track.
    ///
    /// # Errors
    /// The refusal.
    pub(super) fn setup(&mut self, request: &Request, opened: Option<Opened>) -> Result<Response, Response> {
        if request.field("Session").is_some() {
            self.check_session(request)?;
        }
        let target = Target::of(&request.url).ok_or_else(|| Response::refusal(404, "no such file"))?;
        let stored = match (opened, self.stored()) {
            (Some(opened), _) => opened?,
            (None, Some(stored)) => stored.clone(),
            (None, None) => return Err(Response::refusal(404, "no such file")),
        };
        let number = track(&stored, &target)?;
        let is_r3cp = request.field(HEADER).is_some_and(|header| Setup::parse(header).is_ok());
        let profile = if is_r3cp { Profile::R3cp } else { Profile::Plain };
        // A SETUP without a session, or for another video, begins anew.
        let is_further =
            request.field("Session").is_some() && self.stored().is_some_and(|open| open.name == stored.name);
        let (delivery, server_ports) = (self.delivery(request, is_further)?, self.server_ports);
        let mut begun = (!is_further).then(|| self.begin(profile, stored));
        let session = begun.as_mut().or(self.session.as_mut()).ok_or_else(|| Response::new(500))?;
        if session.playback.is_playing() {
            return Err(Response::refusal(455, "PAUSE comes first"));
        }
        if session.profile != profile {
            return Err(Response::refusal(461, "all tracks of a session are R3CP+, or none is"));
        }
        let fields = session.playback.set_up(number, delivery, server_ports)?;
        self.session = begun.or(self.session.take());
        Ok(self.with_session(Response { fields, ..Response::new(200) }))
    }

    /// The transport of a request that is accepted.
    fn delivery(&self, request: &Request, is_further: bool) -> Result<Delivery, Response> {
        let used = self.session.as_ref().filter(|_| is_further).map_or(0, |session| session.playback.tracks());
        let header = request.field("Transport").unwrap_or_default();
        Delivery::choose(header, self.peer, 2 * used.min(100) as u8).map_err(|refused| match refused {
            Refused::Destination => Response::refusal(461, "media goes to the address of this connection alone"),
            Refused::Unsupported => {
                Response::refusal(461, "use RTP/AVP;unicast;client_port= or RTP/AVP/TCP;interleaved=")
            }
        })
    }

    /// A session without tracks.
    fn begin(&mut self, profile: Profile, stored: Arc<Stored>) -> Session {
        let id = format!("{:016x}", self.rng.u64());
        let rng = self.rng.fork(&id);
        let playback = match profile {
            Profile::Plain => Box::new(sender::Sender::new(stored, self.peer, rng)) as _,
            Profile::R3cp => Box::new(r3cp::Sender::new(stored, rng)) as _,
        };
        Session { id, profile, playback }
    }
}

/// The number of the track that a target names, which may be left out if there is one.
fn track(stored: &Stored, target: &Target) -> Result<usize, Response> {
    let tracks = stored.tracks().count();
    match target.track {
        Some(number) if number < tracks => Ok(number),
        Some(_) => Err(Response::refusal(404, "no such track")),
        None if tracks == 1 => Ok(0),
        None => Err(Response::refusal(459, "each track has a transport of its own; see a=control")),
    }
}
