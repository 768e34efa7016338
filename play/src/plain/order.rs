//! Decoding times, which RTP does not carry, and the order of access units over all tracks.
//!
//! RTP packets are in the order of decoding, and their timestamps are display times. A unit is decoded before the earliest
//! display time of all that follow it: I0 P3 B1 B2 are decoded at 0, between 0 and 1, at 1 and at 2.

use std::collections::VecDeque;

use thalweg_core::time::Span;

use crate::tracks::Unit;

/// The pictures that are looked at ahead: more than any encoder's usual order of pictures needs.
// Reading(H.264 §C.4.5.3): up to 16 pictures may be reordered; encoders use 4 at most by default (x264 has 3 B frames).
const AHEAD: usize = 8;
/// The media that waits for another track at most: one that has gaps does not stop the other.
const LONGEST: Span = Span::from_secs(2);

/// The access units of all tracks.
#[derive(Debug)]
pub(super) struct Interleave {
    tracks: Vec<Queue>,
    is_finished: bool,
}

/// The access units of a track, from the last one that was delivered.
#[derive(Debug)]
struct Queue {
    units: VecDeque<(Vec<u8>, Span)>,
    /// The units after the first that must be known for its decoding time.
    ahead: usize,
    /// The decoding time of the last unit that was delivered.
    last: Option<Span>,
    /// The latest display time.
    latest: Option<Span>,
}

impl Interleave {
    /// An empty one; each track is of pictures or not.
    pub(super) fn new(are_video: impl Iterator<Item = bool>) -> Interleave {
        let queue = |is_video| Queue {
            units: VecDeque::new(),
            ahead: if is_video { AHEAD } else { 0 },
            last: None,
            latest: None,
        };
        Interleave { tracks: are_video.map(queue).collect(), is_finished: false }
    }

    /// Adds an access unit with its display time.
    pub(super) fn push(&mut self, track: usize, data: Vec<u8>, pts: Span) {
        let queue = &mut self.tracks[track];
        queue.units.push_back((data, pts));
        queue.latest = queue.latest.max(Some(pts));
    }

    /// No more will be added.
    pub(super) fn finish(&mut self) {
        self.is_finished = true;
    }

    /// The latest display time of all.
    pub(super) fn latest(&self) -> Option<Span> {
        self.tracks.iter().filter_map(|queue| queue.latest).max()
    }

    /// The next access unit in the order of decoding, once no earlier one can follow.
    pub(super) fn poll(&mut self) -> Option<Unit> {
        let is_finished = self.is_finished;
        let dts = |queue: &Queue| queue.decode_time(is_finished);
        let (track, first) =
            (0..).zip(&self.tracks).filter_map(|(at, queue)| Some((at, dts(queue)?))).min_by_key(|(_, at)| *at)?;
        let is_waited_for = |queue: &Queue| dts(queue).is_none() && !is_finished;
        let queued: Span = self.latest()?.saturating_sub(first);
        if self.tracks.iter().any(is_waited_for) && queued < LONGEST {
            return None;
        }
        let queue = &mut self.tracks[track];
        let (data, pts) = queue.units.pop_front()?;
        queue.last = Some(first);
        Some(Unit { track, data, pts, dts: first, is_random_access: false })
    }
}

impl Queue {
    /// The decoding time of the first unit, if enough of those after it are known.
    fn decode_time(&self, is_finished: bool) -> Option<Span> {
        let (_, pts) = self.units.front()?;
        if self.units.len() <= self.ahead && !is_finished {
            return None;
        }
        let earliest = self.units.iter().map(|(_, pts)| *pts).min()?;
        if *pts <= earliest {
            return Some(*pts);
        }
        // Between the decoding of the unit before and that of the one that is displayed first.
        let before = self.last.unwrap_or(earliest).min(earliest);
        Some(before + earliest.saturating_sub(before) / 2)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The decoding times in milliseconds of pictures with these display times in frames of 40 ms.
    fn decoded(shown: &[u64]) -> Vec<(u64, f64)> {
        let mut order = Interleave::new([true].into_iter());
        let mut units = Vec::new();
        for (nth, frame) in shown.iter().enumerate() {
            order.push(0, vec![nth as u8], Span::from_millis(40 * frame));
            units.extend(std::iter::from_fn(|| order.poll()));
        }
        order.finish();
        units.extend(std::iter::from_fn(|| order.poll()));
        assert!((0..).zip(&units).all(|(nth, unit)| unit.data == [nth]));
        units.iter().map(|unit| (unit.pts.as_micros() / 40_000, unit.dts.as_millis_f64())).collect()
    }

    #[test]
    fn pictures_are_decoded_before_those_that_they_precede() {
        assert_eq!(decoded(&[0, 1, 2]), [(0, 0.0), (1, 40.0), (2, 80.0)]);
        assert_eq!(decoded(&[0, 3, 1, 2]), [(0, 0.0), (3, 20.0), (1, 40.0), (2, 80.0)]);
        let pyramid = [(0, 0.0), (4, 20.0), (2, 30.0), (1, 40.0), (3, 120.0)];
        assert_eq!(decoded(&[0, 4, 2, 1, 3]), pyramid);
    }

    #[test]
    fn tracks_are_merged_by_decoding_time() {
        let mut order = Interleave::new([true, false].into_iter());
        for n in 0..20 {
            order.push(0, vec![0], Span::from_millis(40 * n));
        }
        assert_eq!(order.poll(), None, "audio may be earlier");
        for n in 0..30 {
            order.push(1, vec![1], Span::from_millis(20 * n));
        }
        let units: Vec<Unit> = std::iter::from_fn(|| order.poll()).collect();
        assert!(units.len() > 30 && units.is_sorted_by_key(|unit| unit.dts));
        assert!(units.iter().any(|unit| unit.track == 1));
    }

    #[test]
    fn track_with_a_gap_does_not_stop_the_other() {
        let mut order = Interleave::new([true, false].into_iter());
        (0..100).for_each(|n| order.push(0, vec![0], Span::from_millis(40 * n)));
        assert_eq!(std::iter::from_fn(|| order.poll()).count(), 50, "all but the last two seconds");
    }

    proptest! {
        #[test]
        fn decoding_times_grow_and_are_not_after_display(swaps in prop::collection::vec(1usize..8, 10..60)) {
            let mut shown: Vec<u64> = (0..swaps.len() as u64).collect();
            let mut at = 0;
            for length in swaps {
                let end = (at + length).min(shown.len());
                shown[at..end].rotate_right(usize::from(end > at));
                at = end;
            }
            let units = decoded(&shown);
            prop_assert!(units.is_sorted_by_key(|(_, dts)| *dts));
            for (shown, dts) in units {
                prop_assert!(dts <= 40.0 * shown as f64);
            }
        }
    }
}
