//! SETUP (RFC 2326 §10.4): a track and its transport.

use thalweg_rtsp::message::{Request, Response};

use super::{Machine, Opened, Session, Target};
use crate::rtsp::sender::Sender;
use crate::rtsp::transport::{Delivery, Refused};

impl Machine {
    pub(super) fn setup(&mut self, request: &Request, opened: Option<Opened>) -> Response {
        if request.field("Session").is_some()
            && let Err(refusal) = self.check_session(request)
        {
            return refusal;
        }
        let Some(target) = Target::of(&request.url) else { return Response::refusal(404, "no such file") };
        let stored = match (opened, self.stored()) {
            (Some(Err(refusal)), _) => return refusal,
            (Some(Ok(stored)), _) => stored,
            (None, Some(stored)) => stored.clone(),
            (None, None) => return Response::refusal(404, "no such file"),
        };
        let tracks = stored.tracks().count();
        let number = match target.track {
            Some(number) if number < tracks => number,
            Some(_) => return Response::refusal(404, "no such track"),
            None if tracks == 1 => 0,
            None => return Response::refusal(459, "each track has a transport of its own; see a=control"),
        };
        // A SETUP without a session, or for another video, begins anew.
        let is_further =
            request.field("Session").is_some() && self.stored().is_some_and(|open| open.name == stored.name);
        if is_further && self.session.as_ref().is_some_and(|session| session.sender.is_playing()) {
            return Response::refusal(455, "PAUSE comes first");
        }
        let used = self.session.as_ref().filter(|_| is_further).map_or(0, |session| session.sender.streams().len());
        let header = request.field("Transport").unwrap_or_default();
        let delivery = match Delivery::choose(header, self.peer, 2 * used.min(100) as u8) {
            Ok(delivery) => delivery,
            Err(Refused::Destination) => {
                return Response::refusal(461, "media goes to the address of this connection alone");
            }
            Err(Refused::Unsupported) => {
                return Response::refusal(461, "use RTP/AVP;unicast;client_port= or RTP/AVP/TCP;interleaved=");
            }
        };
        if !is_further {
            let id = format!("{:016x}", self.rng.u64());
            let rng = self.rng.fork(&id);
            self.session = Some(Session { id, sender: Sender::new(stored, rng) });
        }
        let Some(session) = &mut self.session else { return Response::new(500) };
        if session.sender.streams().iter().any(|stream| clashes(stream.delivery, delivery) && stream.track != number) {
            return Response::refusal(461, "another track has these ports or channels, or another kind of transport");
        }
        let Some(stream) = session.sender.add(number, delivery) else { return Response::new(500) };
        let chosen = delivery.chosen(self.server_ports, stream.ssrc);
        self.with_session(Response::new(200).with("Transport", chosen))
    }
}

/// True if two tracks cannot have these transports at once.
fn clashes(one: Delivery, other: Delivery) -> bool {
    match (one, other) {
        (Delivery::Udp { rtp, rtcp }, Delivery::Udp { rtp: other_rtp, rtcp: other_rtcp }) => {
            rtp == other_rtp || rtcp == other_rtcp
        }
        (Delivery::Interleaved { rtp, rtcp }, Delivery::Interleaved { rtp: other_rtp, rtcp: other_rtcp }) => {
            [other_rtp, other_rtcp].iter().any(|channel| [rtp, rtcp].contains(channel))
        }
        _ => true,
    }
}
