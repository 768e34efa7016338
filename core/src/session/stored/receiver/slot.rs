//! A frame of the bank, and its outcome.

use std::collections::BTreeMap;

use super::clock::Clock;
use crate::law::playback::{self, Outcome, Tally};
use crate::time::{Span, Time};
use crate::video::{Class, Kind};

/// A frame that has arrived whole, in the order of decoding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// Its index in the video.
    pub index: u32,
    /// Its class.
    pub class: Class,
    /// The time at which a decoder needs it, from the start of the video.
    pub decode: Span,
    /// The time at which it is displayed, from the start of the video.
    pub display: Span,
    /// The payloads of its packets, in order.
    pub payloads: Vec<Box<[u8]>>,
}

/// A frame, as far as it is known.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Slot {
    pub(super) class: Option<Class>,
    /// Decode time and display time.
    pub(super) times: Option<(Span, Span)>,
    pub(super) packets: u16,
    pub(super) payloads: BTreeMap<u16, Box<[u8]>>,
    pub(super) is_skipped: bool,
    /// The arrival of its last packet.
    pub(super) arrival: Option<Time>,
    /// The time from which on it is decodable.
    pub(super) ready: Option<Time>,
    pub(super) is_delivered: bool,
    pub(super) is_counted: bool,
}

impl Slot {
    /// True if later frames depend on it. A frame of which nothing is known may be one.
    pub(super) fn is_reference(&self) -> bool {
        !matches!(self.class, Some(Class::Picture(Kind::B) | Class::Audio))
    }

    pub(super) fn is_audio(&self) -> bool {
        self.class == Some(Class::Audio)
    }

    /// Counts the outcome of a frame, once, unless it was displayed before `from`.
    pub(super) fn count(&self, from: Span, clock: Clock, (pictures, audio): (&mut Tally, &mut Tally)) {
        if self.is_counted || self.times.is_some_and(|(_, display)| display < from) {
            return;
        }
        let deadline = self.times.map_or(Time::ZERO, |(_, display)| clock.time_of(display));
        let kind = match self.class {
            Some(Class::Picture(kind)) => kind,
            Some(Class::Audio) => Kind::I,
            // Nothing is known of it: a report and all of its packets were lost.
            None => Kind::P,
        };
        let frame = playback::Frame { kind, sent: !self.is_skipped, arrival: self.arrival, deadline };
        let outcome: Outcome = playback::outcome(&frame, self.ready);
        if self.is_audio() { audio.add(kind, outcome) } else { pictures.add(kind, outcome) }
    }
}
