//! Reception from one PLAY to the next: frames to access units, and their position in the video.

use thalweg_core::session::stored::receiver::{Frame, Receiver};
use thalweg_core::time::{Span, Time};
use thalweg_core::video::{Class, Kind};
use thalweg_core::wire::payload::{self, Depacketizer, Packet};
use thalweg_rtsp::r3cp;

use crate::plain::Plain;
use crate::tracks::{Tracks, Unit};

/// Limit in bytes on an access unit: a picture of 8K at the highest quality has less.
pub(crate) const MAX_UNIT: usize = 8 << 20;

/// Reception of either kind.
#[derive(Debug)]
pub(crate) enum Source {
    R3cp(R3cp),
    Plain(Plain),
}

/// Reception under R3CP+. Its receiver is in the session.
#[derive(Debug)]
pub(crate) struct R3cp {
    /// The position of the first frame.
    start: Span,
    /// The media time at which that frame is displayed.
    display: Span,
    /// The mean payload of a packet in bytes.
    pub(crate) size: u32,
}

impl Source {
    /// The access units that are due, in the order of decoding, and the position of the last one.
    pub(crate) fn units(
        &mut self,
        now: Time,
        tracks: &Tracks,
        receiver: Option<&mut Receiver>,
    ) -> (Vec<Unit>, Option<Span>) {
        let mut units: Vec<Unit> = match self {
            Source::Plain(plain) => std::iter::from_fn(|| plain.poll_unit()).collect(),
            Source::R3cp(_) => {
                let frames = receiver.into_iter().flat_map(|receiver| std::iter::from_fn(|| receiver.poll_frame(now)));
                frames.flat_map(|frame| units_of(&frame, tracks)).collect()
            }
        };
        units.sort_by_key(|unit| unit.dts);
        for unit in &mut units {
            let track = &tracks.tracks[unit.track];
            unit.is_random_access |= track.is_random_access(&unit.data);
            if unit.is_random_access && track.is_video() {
                unit.data = track.complete(std::mem::take(&mut unit.data));
            }
        }
        let position = units.last().map(|unit| self.position(unit.dts));
        (units, position)
    }

    /// The position of a media time.
    fn position(&self, media: Span) -> Span {
        match self {
            Source::Plain(_) => media,
            Source::R3cp(R3cp { start, display, .. }) => (*start + media).saturating_sub(*display),
        }
    }
}

impl R3cp {
    pub(crate) fn new(start: Span, play: &r3cp::Play) -> R3cp {
        R3cp { start, display: play.display, size: play.size }
    }
}

/// The access units of a frame of the buffer: one, if the frame is well-formed.
fn units_of(frame: &Frame, tracks: &Tracks) -> Vec<Unit> {
    let is_picture = frame.class != Class::Audio;
    let found = (0..).zip(&tracks.tracks).find(|(_, track)| track.is_video() == is_picture);
    let Some((at, track)) = found else { return Vec::new() };
    let mut units = Vec::new();
    let mut deliver = |unit: payload::Frame| {
        // Further frames of audio in the same payload.
        let after = Span::from_secs(1).mul_div(unit.timestamp.into(), track.clock_rate.into());
        if unit.is_whole && !unit.data.is_empty() {
            units.push(Unit {
                track: at,
                data: unit.data,
                pts: frame.display + after,
                dts: frame.decode + after,
                is_random_access: frame.class == Class::Picture(Kind::I),
            });
        }
    };
    let mut depacketizer = Depacketizer::new(track.format, MAX_UNIT);
    for (nth, payload) in frame.payloads.iter().enumerate() {
        let marker = nth + 1 == frame.payloads.len();
        let packet = Packet { timestamp: 0, marker, after_loss: false, payload };
        if depacketizer.push(packet, &mut deliver).is_err() {
            return Vec::new();
        }
    }
    depacketizer.finish(&mut deliver);
    units
}
