//! The time line of a muxed stream: media times become clock readings that never step back, whatever the viewer seeks.

use super::INTERVAL;
use super::Unit;
use crate::stamp::Ticks;

/// The clock reading of the first decoding time. Units that are decoded earlier have place before it.
const FIRST: Ticks = Ticks::from_secs(1);
/// The smallest step of time stamps.
const STEP: Ticks = Ticks::from_90k(1);

/// The clock readings of the streams of a program.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Timeline {
    /// The media time that is `start`; none until the next unit has set it.
    origin: Option<Ticks>,
    start: Ticks,
    /// The end of all that is presented.
    end: Ticks,
    /// The last decoding time of each stream.
    decoding: Vec<Option<Ticks>>,
}

/// The time stamps of a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Stamps {
    pub(super) pts: Ticks,
    pub(super) dts: Ticks,
}

impl Timeline {
    pub(super) fn new(streams: usize) -> Timeline {
        Timeline { origin: None, start: FIRST, end: FIRST, decoding: vec![None; streams] }
    }

    /// The next unit begins at the end of all that was presented.
    pub(super) fn discontinuity(&mut self) {
        self.origin = None;
        self.start = self.end;
    }

    /// The time stamps of the next unit of `stream`.
    pub(super) fn place(&mut self, stream: usize, unit: &Unit<'_>) -> Stamps {
        let (pts, dts) = (Ticks::from_span(unit.pts), Ticks::from_span(unit.dts));
        let origin = *self.origin.get_or_insert(dts);
        let reading = |time: Ticks| (self.start + time).saturating_sub(origin).rounded_to_90k();
        let last = &mut self.decoding[stream];
        let dts = reading(dts).max(last.map_or(Ticks::ZERO, |last| last + STEP));
        let pts = reading(pts).max(dts);
        // The duration of a unit is that of the one before. A gap is none.
        let duration = last.replace(dts).map_or(STEP, |last| dts.saturating_sub(last).min(INTERVAL));
        self.end = self.end.max(pts + duration);
        Stamps { pts, dts }
    }
}
