//! The client of a connection (RFC 2326 appendix A.1), without I/O, with keep-alives between its requests.
//!
//! | call | request | event after it |
//! |---|---|---|
//! | [`Client::new`] | DESCRIBE | [`Event::Described`] |
//! | [`Client::set_up`] | SETUP of each track | [`Event::Ready`] |
//! | [`Client::play`] | PLAY; for a seek of a plain session PAUSE before it | [`Event::Playing`] |
//! | [`Client::pause`] | PAUSE | [`Event::Paused`] |
//! | [`Client::tear_down`] | TEARDOWN | [`Event::Ended`] |
//!
//! A request waits for the response to the one before, except under R3CP+: once the response to the first SETUP has the
//! session, the other SETUPs and the PLAY leave together (RFC 2326 §9.1), which saves a round trip for each.
//!
//! The caller passes received bytes to [`Client::handle_bytes`], calls [`Client::handle_timeout`] at
//! [`Client::poll_timeout`], and drains [`Client::poll_transmit`] and [`Client::poll_event`] after each call.

mod answer;
mod event;
mod protocol;
mod request;
mod rtp_info;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use thalweg_core::time::{Span, Time};
use thalweg_core::wire::sdp::stored::Presentation;

pub use self::event::{Event, Failure, Playing};
use self::protocol::Protocol;
use self::request::Step;
pub use self::rtp_info::RtpInfo;
use crate::decoder::{Decoder, Item, interleave};
use crate::message::{Method, Request, Response};
use crate::transport::Transport;
use crate::url::Url;

/// The time after which a request without a response has failed.
const PATIENCE: Span = Span::from_secs(10);
/// The time after which a server drops a silent session, where it names none (RFC 2326 §12.37).
const TIMEOUT: Span = Span::from_secs(60);
/// Limits in seconds on the time that a server names.
const TIMEOUTS: (u64, u64) = (2, 3600);

/// The transport that a client asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offer {
    /// R3CP+ over this UDP port, which all tracks share.
    R3cp {
        /// The port.
        port: u16,
    },
    /// Packets within the connection.
    Interleaved,
}

/// A client.
#[derive(Debug)]
pub struct Client {
    url: Url,
    agent: String,
    decoder: Decoder,
    /// True once the first bytes have shown that the peer speaks RTSP.
    is_rtsp: bool,
    outgoing: Vec<u8>,
    /// The requests that wait for the response to the one before.
    waiting: VecDeque<Step>,
    /// The requests without a response: their CSeq, and their departure. Responses arrive in the same order (§9.1).
    sent: VecDeque<(u32, Step, Time)>,
    sequence: u32,
    /// The base of relative URLs, and the URL of the whole.
    base: String,
    aggregate: String,
    presentation: Option<Presentation>,
    /// The session, once the first track is set up.
    session: Option<String>,
    timeout: Span,
    /// The departure of the last request.
    last_request: Time,
    keep_alive: Method,
    offer: Offer,
    /// The tracks in the order of SETUP: their numbers, and the chosen transports.
    tracks: Vec<(usize, Transport)>,
    is_playing: bool,
    is_over: bool,
    events: VecDeque<Event>,
}

impl Client {
    /// A client whose connection to the server of `url` is open. `agent` is the field `User-Agent`.
    pub fn new(now: Time, url: Url, agent: &str) -> Client {
        let text = url.as_str().to_owned();
        let mut client = Client {
            url,
            agent: agent.to_owned(),
            decoder: Decoder::default(),
            is_rtsp: false,
            outgoing: Vec::new(),
            waiting: VecDeque::new(),
            sent: VecDeque::new(),
            sequence: 0,
            base: text.clone(),
            aggregate: text,
            presentation: None,
            session: None,
            timeout: TIMEOUT,
            last_request: now,
            keep_alive: Method::GetParameter,
            offer: Offer::Interleaved,
            tracks: Vec::new(),
            is_playing: false,
            is_over: false,
            events: VecDeque::new(),
        };
        client.request(now, Step::Describe);
        client
    }

    /// Sets up tracks of the description, by their numbers.
    pub fn set_up(&mut self, now: Time, tracks: &[usize], offer: Offer) {
        self.offer = offer;
        for track in tracks {
            self.request(now, Step::Setup(*track));
        }
    }

    /// Plays from a position, or from the present one. A position while the session plays is a seek.
    pub fn play(&mut self, now: Time, from: Option<Span>) {
        self.waiting.retain(|step| !matches!(step, Step::Play(_) | Step::Pause { .. }));
        // RFC 2326 §10.5 queues a PLAY behind one that lasts; R3CP+ replaces it.
        let is_pausing = self.is_in_flight(|step| matches!(step, Step::Pause { .. }));
        if self.is_playing && !is_pausing && from.is_some() && self.offer == Offer::Interleaved {
            self.request(now, Step::Pause { is_for_seek: true });
        }
        self.request(now, Step::Play(from));
    }

    /// Stops delivery; the session remains.
    pub fn pause(&mut self, now: Time) {
        self.request(now, Step::Pause { is_for_seek: false });
    }

    /// Ends the session.
    pub fn tear_down(&mut self, now: Time) {
        self.waiting.clear();
        if self.session.is_some() {
            self.request(now, Step::Teardown);
        } else {
            self.end();
        }
    }

    /// Asks for a sign of life, unless a request is in flight. Without a response [`Event::Failed`] follows.
    pub fn keep_alive(&mut self, now: Time) {
        if self.session.is_some() && self.sent.is_empty() {
            self.request(now, Step::KeepAlive);
        }
    }

    /// Sends an interleaved packet.
    pub fn send_packet(&mut self, channel: u8, packet: &[u8]) {
        interleave(channel, packet, &mut self.outgoing);
    }

    /// Takes received bytes.
    pub fn handle_bytes(&mut self, now: Time, bytes: &[u8]) {
        self.decoder.push(bytes);
        if !self.is_rtsp && !self.is_over {
            match protocol::of(self.decoder.rest()) {
                Some(Protocol::Rtsp) => self.is_rtsp = true,
                Some(other) => self.fail(Failure::OtherProtocol { peer: self.url.authority(), protocol: other.name() }),
                None => return,
            }
        }
        while !self.is_over
            && let Some(item) = self.decoder.poll()
        {
            match item {
                Item::Packet { channel, bytes } => self.events.push_back(Event::Packet { channel, bytes }),
                Item::Response(response) => self.on_response(now, &response),
                Item::Request(request) => self.on_request(&request),
                Item::Fault(_, why) => self.fail(Failure::Malformed(why.to_owned())),
            }
        }
    }

    /// Sends a keep-alive, or gives a request up, if it is time.
    pub fn handle_timeout(&mut self, now: Time) {
        if self.is_over || self.poll_timeout().is_none_or(|at| at > now) {
            return;
        }
        match self.sent.front() {
            Some((_, step, _)) => self.fail(Failure::Silent(step.method(&self.keep_alive))),
            None => self.request(now, Step::KeepAlive),
        }
    }

    /// The time of the next keep-alive, or at which the request in flight has failed.
    pub fn poll_timeout(&self) -> Option<Time> {
        match self.sent.front() {
            _ if self.is_over => None,
            Some((.., at)) => Some(*at + PATIENCE),
            None => self.session.as_ref().map(|_| self.last_request + self.timeout / 2),
        }
    }

    /// The bytes to be sent since the last call.
    pub fn poll_transmit(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.outgoing)).filter(|bytes| !bytes.is_empty())
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The description, once it has arrived.
    pub fn presentation(&self) -> Option<&Presentation> {
        self.presentation.as_ref()
    }

    /// The tracks that are set up, in the order of their SETUP: their numbers in the description, and their transports.
    pub fn tracks(&self) -> &[(usize, Transport)] {
        &self.tracks
    }

    fn request(&mut self, now: Time, step: Step) {
        if self.is_over {
            return;
        }
        self.waiting.push_back(step);
        self.send_next(now);
    }

    /// Sends the requests that need not wait.
    fn send_next(&mut self, now: Time) {
        while !self.is_over
            && self.may_send()
            && let Some(step) = self.waiting.pop_front()
        {
            self.sequence += 1;
            let request = self.message(step).with("CSeq", self.sequence).with("User-Agent", &self.agent);
            self.outgoing.extend(request.to_bytes());
            self.sent.push_back((self.sequence, step, now));
            self.last_request = now;
        }
    }

    /// True if the next request does not need the responses in flight. Under R3CP+ the server is one that takes requests
    /// together, and the session is all that a SETUP or a PLAY needs of the SETUP before.
    fn may_send(&self) -> bool {
        let is_pipelined = matches!(self.offer, Offer::R3cp { .. }) && self.session.is_some();
        self.sent.is_empty() || is_pipelined && !self.is_in_flight(|step| !matches!(step, Step::Setup(_)))
    }

    /// True if a request of this kind is in flight.
    fn is_in_flight(&self, is_of_kind: impl Fn(&Step) -> bool) -> bool {
        self.sent.iter().any(|(_, step, _)| is_of_kind(step))
    }

    /// Answers a request of the server: none is implemented (§10, REDIRECT and ANNOUNCE are optional).
    fn on_request(&mut self, request: &Request) {
        let response = Response::new(501).with("CSeq", request.field("CSeq").unwrap_or("0"));
        self.outgoing.extend(response.to_bytes());
        if request.method == Method::Other("REDIRECT".to_owned()) {
            self.fail(Failure::Redirected(request.field("Location").map(str::to_owned)));
        }
    }

    /// Ends the client, after which it sends nothing.
    fn fail(&mut self, failure: Failure) {
        self.is_over = true;
        self.events.push_back(Event::Failed(failure));
    }

    fn end(&mut self) {
        self.is_over = true;
        self.events.push_back(Event::Ended);
    }
}
