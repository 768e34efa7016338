//! Measurements of one stream over the averaging window, and the correlation of its round trips with those of others.

use crate::time::{Span, Time};
use crate::units::Seconds;

/// The length of a slot. Slots of all streams begin at the same instants, so that their series can be compared.
const SLOT: Span = Span::from_millis(250);
/// The number of slots: the window is 10 s.
const SLOTS: usize = 40;
/// The fewest slots in common from which a correlation is computed.
const FEWEST: usize = SLOTS / 2;

/// The root mean square of deviations of the round trip, in seconds, below which there is no queue that fills and drains:
/// the jitter of hosts is less. Ours.
const LEAST: f64 = 5e-4;

/// Round trips in seconds and loss event rates.
pub(super) type Pair = [f64; 2];

/// The measurements of the last [`SLOTS`] slots.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Series {
    /// Slot n is at the place n modulo [`SLOTS`].
    slots: [Slot; SLOTS],
}

/// The sums of a slot's measurements.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
struct Slot {
    /// Its number since the zero of the clock.
    number: u64,
    count: u32,
    sums: Pair,
}

/// The deviations of the round trip from its mean, in seconds, by the places of the slots; none where a slot is empty.
pub(super) type Deviations = [Option<f64>; SLOTS];

impl Series {
    pub(super) fn new() -> Series {
        Series { slots: [Slot::default(); SLOTS] }
    }

    /// Takes a measurement at `now`.
    pub(super) fn add(&mut self, now: Time, rtt: Seconds, p: f64) {
        let number = number(now);
        let slot = &mut self.slots[(number % SLOTS as u64) as usize];
        if slot.number != number {
            *slot = Slot { number, ..Slot::default() };
        }
        slot.count = slot.count.saturating_add(1);
        slot.sums = [slot.sums[0] + rtt.0, slot.sums[1] + p];
    }

    /// The means of the slots that are no older than the window at `now`.
    fn means(&self, now: Time) -> impl Iterator<Item = Option<Pair>> {
        let oldest = (number(now) + 1).saturating_sub(SLOTS as u64);
        self.slots.iter().map(move |slot| {
            (slot.count > 0 && slot.number >= oldest).then(|| slot.sums.map(|sum| sum / f64::from(slot.count)))
        })
    }

    /// The mean over the window at `now`; each slot with measurements counts alike. None without any.
    pub(super) fn mean(&self, now: Time) -> Option<Pair> {
        let (sums, count) = self
            .means(now)
            .flatten()
            .fold(([0.0; 2], 0u32), |([rtt, p], count), mean| ([rtt + mean[0], p + mean[1]], count + 1));
        (count > 0).then(|| sums.map(|sum| sum / f64::from(count)))
    }

    /// The deviations from the mean over the window at `now`.
    pub(super) fn deviations(&self, now: Time) -> Deviations {
        let [mean, _] = self.mean(now).unwrap_or_default();
        let mut means = self.means(now);
        core::array::from_fn(|_| means.next().flatten().map(|[rtt, _]| rtt - mean))
    }
}

/// The number of the slot of `now`.
fn number(now: Time) -> u64 {
    now.as_nanos() / SLOT.as_nanos()
}

/// Pearson's correlation of two series of round trips, -1 to 1; none if one varies by less than [`LEAST`], or if they have
/// too few slots in common.
///
/// Loss event rates say less: a full queue loses packets of one stream and not of another.
pub(super) fn correlation(one: &Deviations, other: &Deviations) -> Option<f64> {
    let common: Vec<(f64, f64)> = one.iter().zip(other).filter_map(|(one, other)| one.zip(*other)).collect();
    if common.len() < FEWEST {
        return None;
    }
    let count = common.len() as f64;
    let (x, y) = common.iter().fold((0.0, 0.0), |(x, y), pair| (x + pair.0 / count, y + pair.1 / count));
    let (xx, yy, xy) = common.iter().fold((0.0, 0.0, 0.0), |(xx, yy, xy), pair| {
        let (dx, dy) = (pair.0 - x, pair.1 - y);
        (xx + dx * dx, yy + dy * dy, xy + dx * dy)
    });
    let varies = |square: f64| square > count * LEAST * LEAST;
    (varies(xx) && varies(yy)).then(|| xy / f64::sqrt(xx * yy))
}
