//! PLAY and PAUSE (RFC 2326 §10.5, §10.6).

use thalweg_core::time::Time;
use thalweg_core::wire::Error;
use thalweg_core::wire::npt::NptRange;
use thalweg_rtsp::message::{Request, Response};

use super::{Machine, Session, Target};

impl Machine {
    pub(super) fn play(&mut self, now: Time, request: &Request) -> Response {
        let range = match request.field("Range").map(NptRange::parse) {
            None => None,
            Some(Ok(range)) => Some(range),
            Some(Err(Error::Unknown)) => return Response::refusal(457, "the unit of a range is npt"),
            Some(Err(_)) => return Response::refusal(457, "the range is malformed"),
        };
        let Some(session) = &mut self.session else { return Response::new(454) };
        if let Some(refusal) = session.refuses(request) {
            return refusal;
        }
        let length = session.playback.stored().length;
        if let Some(start) = range.and_then(|range| range.start).filter(|start| *start >= length) {
            let (start, length) = (start.as_secs_f64(), length.as_secs_f64());
            return Response::refusal(457, format!("{start:.3} s is not before the end of the video, {length:.3} s"));
        }
        let fields = session.playback.play(now, range, base(request));
        self.with_session(Response { fields, ..Response::new(200) })
    }

    pub(super) fn pause(&mut self, now: Time, request: &Request) -> Response {
        let Some(session) = &mut self.session else { return Response::new(454) };
        if let Some(refusal) = session.refuses(request) {
            return refusal;
        }
        session.playback.pause(now);
        self.with_session(Response::new(200))
    }
}

impl Session {
    /// The refusal of a request for one of several tracks, or for another video: all tracks of a session play together.
    fn refuses(&self, request: &Request) -> Option<Response> {
        let Some(target) = Target::of(&request.url) else { return Some(Response::refusal(404, "no such file")) };
        if target.name != self.playback.stored().name {
            return Some(Response::refusal(404, "the session is of another video"));
        }
        (target.track.is_some() && self.playback.tracks() > 1)
            .then(|| Response::refusal(460, "all tracks of a session play together"))
    }
}

/// The URL of the video, without a track.
fn base(request: &Request) -> &str {
    let url = request.url.trim_end_matches('/');
    match (Target::of(url).and_then(|target| target.track), url.rsplit_once('/')) {
        (Some(_), Some((base, _))) => base,
        _ => url,
    }
}
