//! The requests of a client.

use thalweg_core::time::Span;
use thalweg_core::wire::npt::NptRange;

use super::{Client, Offer};
use crate::message::{Method, Request};
use crate::r3cp::{self, Setup};
use crate::transport::{Lower, Transport};
use crate::url::resolve;

/// A request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    Describe,
    /// The track of a number.
    Setup(usize),
    /// From a position, or from the present one.
    Play(Option<Span>),
    Pause {
        /// True before a PLAY from another position.
        is_for_seek: bool,
    },
    KeepAlive,
    Teardown,
}

impl Step {
    /// The method of the request.
    pub(super) fn method(self, keep_alive: &Method) -> Method {
        match self {
            Step::Describe => Method::Describe,
            Step::Setup(_) => Method::Setup,
            Step::Play(_) => Method::Play,
            Step::Pause { .. } => Method::Pause,
            Step::KeepAlive => keep_alive.clone(),
            Step::Teardown => Method::Teardown,
        }
    }
}

impl Client {
    /// The request of a step, without the fields that all have.
    pub(super) fn message(&self, step: Step) -> Request {
        let aggregate = Request::new(step.method(&self.keep_alive), &self.aggregate);
        let request = match step {
            Step::Describe => {
                return Request::new(Method::Describe, self.url.as_str()).with("Accept", "application/sdp");
            }
            Step::Setup(track) => {
                let request = Request::new(Method::Setup, &self.track_url(track));
                let request = request.with("Transport", self.transport());
                match self.offer {
                    Offer::R3cp { .. } => request.with(r3cp::HEADER, Setup),
                    Offer::Interleaved => request,
                }
            }
            Step::Play(Some(from)) => aggregate.with("Range", NptRange { start: Some(from), end: None }),
            Step::Play(None) | Step::Pause { .. } | Step::KeepAlive | Step::Teardown => aggregate,
        };
        match &self.session {
            Some(session) => request.with("Session", session),
            None => request,
        }
    }

    /// The transport of the next track.
    fn transport(&self) -> Transport {
        match self.offer {
            Offer::R3cp { port } => {
                Transport { client_port: Some((port, port)), is_muxed: true, ..Transport::default() }
            }
            Offer::Interleaved => {
                let channel = 2 * self.tracks.len() as u16;
                Transport { lower: Lower::Tcp, interleaved: Some((channel, channel + 1)), ..Transport::default() }
            }
        }
    }

    pub(super) fn track_url(&self, track: usize) -> String {
        let track = self.presentation.as_ref().and_then(|presentation| presentation.tracks.get(track));
        resolve(&self.base, track.and_then(|track| track.control.as_deref()).unwrap_or_default())
    }
}
