//! The sender of a video whose receiver controls the rate (R3CP+), around that of the core: without I/O.
//!
//! The client asks for it in each SETUP, and has the parameters of its receiver from the response to PLAY
//! ([`thalweg_rtsp::r3cp`]).

mod cache;
mod video;

use std::iter;
use std::sync::Arc;

use thalweg_core::rng::Rng;
use thalweg_core::session::Session;
use thalweg_core::session::stored::sender::{self, Event};
use thalweg_core::session::stored::{First, Track, Unit, WINDOW};
use thalweg_core::time::{Span, Time};
use thalweg_core::wire::npt::NptRange;
use thalweg_rtsp::message::{Fields, Response};
use thalweg_rtsp::r3cp::{self, HEADER, Setup};
use thalweg_rtsp::transport::Transport;

use self::video::{Start, Video};
use super::describe::{payload_type, rtx_payload_type};
use super::playback::{Arrival, Claim, End, Playback, Route, Transmit};
use super::reading::{Batch, Wanted};
use super::stored::Stored;
use super::transport::Delivery;

/// A sender of one video to one client.
#[derive(Debug)]
pub(crate) struct Sender {
    stored: Arc<Stored>,
    /// The tracks that are set up, in the order of the session description.
    tracks: Vec<usize>,
    /// The client's port, which all tracks share.
    port: Option<u16>,
    rng: Rng,
    play: Option<Play>,
    ended: Option<End>,
}

/// A play from a random access point on.
#[derive(Debug)]
struct Play {
    /// The key of the session, and the number of the play for frames that are read.
    key: u64,
    start: Start,
    /// The mean packets per second, and the mean bytes of their payloads.
    mu: f64,
    size: u32,
    sender: sender::Sender<Video>,
    /// True once nothing but goodbyes is sent.
    is_over: bool,
}

impl Sender {
    pub(crate) fn new(stored: Arc<Stored>, rng: Rng) -> Sender {
        Sender { stored, tracks: Vec::new(), port: None, rng, play: None, ended: None }
    }

    /// The session of the core for a play from `from`, or from the random access point before it.
    fn start(&mut self, from: Span) -> Play {
        let (key, video) = (self.rng.u64(), Video::new(&self.stored, &self.tracks));
        let start = video.start(from);
        let track = |&number: &usize| {
            let track = self.stored.track(number)?;
            let payload_type = payload_type(number, track);
            Some(Track { payload_type, rtx_payload_type: rtx_payload_type(number), clock_rate: track.clock })
        };
        let tracks = self.tracks.iter().filter_map(track).collect();
        let first = First::new(start.first, start.decode, start.display);
        let (mu, size) = video.mean_packets();
        let config = sender::Config { key, tracks, first, horizon: WINDOW, unit: Unit::Mean(size) };
        let sender = sender::Sender::new(video, config, &self.rng.fork(&format!("{key:016x}")));
        Play { key, start, mu, size, sender, is_over: false }
    }

    fn end(&mut self, end: End) {
        self.ended = Some(end);
        if let Some(play) = &mut self.play {
            play.is_over = true;
        }
    }
}

impl Play {
    /// The fields of the response to PLAY.
    fn fields(&self, length: Span) -> Fields {
        let Play { key, start: Start { first, decode, display, from }, mu, size, .. } = *self;
        let mut fields = Fields::default();
        fields.push("Range", NptRange { start: Some(from), end: Some(length.max(from)) });
        fields.push(HEADER, r3cp::Play { key, first, decode, display, mu, size });
        fields
    }
}

impl Playback for Sender {
    fn stored(&self) -> &Arc<Stored> {
        &self.stored
    }

    fn set_up(&mut self, track: usize, delivery: Delivery, server_ports: (u16, u16)) -> Result<Fields, Response> {
        let port = match delivery {
            Delivery::Udp { rtp, rtcp } if rtp == rtcp => rtp,
            _ => return Err(Response::refusal(461, "R3CP+ needs RTP/AVP/UDP;unicast;client_port=P-P;RTCP-mux")),
        };
        if self.tracks.iter().any(|other| *other != track) && self.port != Some(port) {
            return Err(Response::refusal(461, "all tracks of R3CP+ have one port"));
        }
        self.port = Some(port);
        if let Err(nth) = self.tracks.binary_search(&track) {
            self.tracks.insert(nth, track);
        }
        let (own, _) = server_ports;
        let mut fields = Fields::default();
        fields.push("Transport", Transport { is_muxed: true, ..delivery.chosen((own, own)) });
        fields.push(HEADER, Setup);
        Ok(fields)
    }

    fn tracks(&self) -> usize {
        self.tracks.len()
    }

    fn is_interleaved(&self) -> bool {
        false
    }

    fn play(&mut self, _: Time, range: Option<NptRange>, _: &str) -> Fields {
        let from = range.and_then(|range| range.start);
        let play = match (self.play.take().filter(|play| !play.is_over), from) {
            (Some(play), None) => play,
            (_, from) => {
                self.ended = None;
                self.start(from.unwrap_or_default())
            }
        };
        let fields = play.fields(self.stored.length);
        self.play = Some(play);
        fields
    }

    fn pause(&mut self, _: Time) {
        self.play = None;
    }

    fn is_playing(&self) -> bool {
        self.play.as_ref().is_some_and(|play| !play.is_over)
    }

    fn claims(&self) -> Vec<Claim> {
        self.play.iter().map(|play| Claim::Key(play.key)).collect()
    }

    fn handle(&mut self, now: Time, arrival: &Arrival) -> bool {
        match (arrival, &mut self.play) {
            (Arrival::Datagram { from, bytes }, Some(play)) => play.sender.handle_datagram(now, *from, bytes).is_ok(),
            _ => false,
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if let Some(play) = &mut self.play {
            play.sender.handle_timeout(now);
        }
    }

    fn wanted(&mut self) -> Option<Wanted> {
        let play = self.play.as_mut().filter(|play| !play.is_over)?;
        let frames = play.sender.media_mut().wanted();
        (!frames.is_empty()).then(|| Wanted::new(&self.stored, play.key, frames))
    }

    fn supply(&mut self, batch: Option<Batch>) {
        let Some(play) = &mut self.play else { return };
        let is_whole = match batch {
            Some(batch) if batch.play == play.key => play.sender.media_mut().supply(batch.frames),
            Some(_) => return,
            None => false,
        };
        play.sender.handle_media();
        if !is_whole && !play.is_over {
            play.sender.finish();
            self.end(End::Changed);
        }
    }

    fn poll_transmit(&mut self, now: Time, buf: &mut [u8]) -> Option<Transmit> {
        let play = self.play.as_mut()?;
        let transmit = play.sender.poll_transmit(now, buf);
        if let Some(end) = iter::from_fn(|| play.sender.poll_event()).filter_map(end_of).last() {
            self.end(end);
        }
        transmit.map(|transmit| Transmit { route: Route::Rtp(transmit.to), len: transmit.len, frame: None })
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.play.as_ref()?.sender.poll_timeout()
    }

    fn poll_end(&mut self) -> Option<End> {
        self.ended.take()
    }
}

/// The end of the play that an event stands for, if it is one.
fn end_of(event: Event) -> Option<End> {
    match event {
        Event::Ended => Some(End::Complete),
        Event::Broken(cause) => Some(End::Breaker(cause)),
        // A silent receiver may ask again.
        _ => None,
    }
}
