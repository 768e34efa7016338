//! Measurements of one stream over the averaging window, and their correlation with those of others.

use crate::time::{Span, Time};
use crate::units::Seconds;

/// The length of a slot. Slots of all streams begin at the same instants, so that their series can be compared.
const SLOT: Span = Span::from_millis(250);
/// The number of slots: the window is 10 s.
pub(super) const SLOTS: usize = 40;
/// The fewest slots in common from which a correlation is computed.
const FEWEST: usize = SLOTS / 2;

/// The root mean square below which deviations of round trips and of loss event rates are none: those of rounding.
const LEAST: Pair = [1e-6, 1e-6];

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

/// The deviations of a series from its mean, by the places of the slots; none where a slot is empty.
pub(super) type Deviations = [Option<Pair>; SLOTS];

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
        let mean = self.mean(now).unwrap_or_default();
        let mut means = self.means(now);
        core::array::from_fn(|_| means.next().flatten().map(|[rtt, p]| [rtt - mean[0], p - mean[1]]))
    }
}

/// The number of the slot of `now`.
fn number(now: Time) -> u64 {
    now.as_nanos() / SLOT.as_nanos()
}

/// The mean of the correlations of round trips and of loss event rates, -1 to 1. One that does not vary has none; none at
/// all if neither varies, or if the series have too few slots in common.
pub(super) fn correlation(one: &Deviations, other: &Deviations) -> Option<f64> {
    let common: Vec<(Pair, Pair)> = one.iter().zip(other).filter_map(|(one, other)| one.zip(*other)).collect();
    if common.len() < FEWEST {
        return None;
    }
    let pairs = |which: usize| common.iter().map(move |(one, other)| (one[which], other[which]));
    let of = |which: usize| coefficient(pairs(which), LEAST[which]);
    let both: Vec<f64> = [of(0), of(1)].into_iter().flatten().collect();
    (!both.is_empty()).then(|| both.iter().sum::<f64>() / both.len() as f64)
}

/// Pearson's coefficient; none if a series deviates by less than `least`.
fn coefficient(pairs: impl Iterator<Item = (f64, f64)> + Clone, least: f64) -> Option<f64> {
    let count = pairs.clone().count() as f64;
    let (x, y) = pairs.clone().fold((0.0, 0.0), |(x, y), pair| (x + pair.0 / count, y + pair.1 / count));
    let (xx, yy, xy) = pairs.fold((0.0, 0.0, 0.0), |(xx, yy, xy), pair| {
        let (dx, dy) = (pair.0 - x, pair.1 - y);
        (xx + dx * dx, yy + dy * dy, xy + dx * dy)
    });
    let varies = |square: f64| square > count * least * least;
    (varies(xx) && varies(yy)).then(|| xy / f64::sqrt(xx * yy))
}
