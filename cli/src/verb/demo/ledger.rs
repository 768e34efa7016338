//! What went in against what came out, by the one clock that saw both.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use hdrhistogram::Histogram;
use thalweg_core::time::{Span, Time};

/// A datagram that was seen: its fingerprint and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mark {
    print: u64,
    pub(super) at: Time,
}

impl Mark {
    pub(super) fn of(datagram: &[u8], at: Time) -> Mark {
        let mut hasher = DefaultHasher::new();
        datagram.hash(&mut hasher);
        Mark { print: hasher.finish(), at }
    }
}

/// What became of the datagrams that were sent.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub(super) sent: usize,
    pub(super) lost: usize,
    /// Came after one that was sent later.
    pub(super) reordered: usize,
    /// Came again, or never was sent.
    pub(super) unexpected: usize,
    /// From input to output, in microseconds.
    pub(super) latency: Histogram<u64>,
    /// When each datagram was sent, and whether it came.
    fates: Vec<(Time, bool)>,
}

/// How long after it was sent a datagram that others have overtaken is still looked for.
const PATIENCE: Span = Span::from_secs(2);

/// The longest latency that is told from longer ones, in microseconds.
const LONGEST: u64 = 60_000_000;

/// Finds each arrival among what was sent.
///
/// Some datagrams of a transport stream are equal: padding, and a film's next turn once its counters have come round.
/// An arrival is the first equal one behind the arrival before it that had been sent by then; only if there is none was
/// it overtaken, or is it a duplicate. Order is kept by the receiver, so that this errs at most by exchanging equal
/// datagrams within one gap.
pub(super) fn settle(sent: &[Mark], arrived: &[Mark]) -> Delivery {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, mark) in sent.iter().enumerate() {
        places.entry(mark.print).or_default().push(place);
    }
    let mut found = vec![false; sent.len()];
    let mut next = 0;
    let (mut reordered, mut unexpected) = (0, 0);
    let mut latency = Histogram::new_with_bounds(1, LONGEST, 3).expect("these bounds are valid");
    for mark in arrived {
        let equal = places.get(&mark.print).map_or(&[][..], Vec::as_slice);
        let (behind, ahead) = equal.split_at(equal.partition_point(|&place| place < next));
        let fits = |place: &usize| sent[*place].at <= mark.at;
        let overtaken = |place: &&usize| !found[**place] && mark.at.since(sent[**place].at) < PATIENCE;
        let place = if let Some(&place) = ahead.first().filter(|place| fits(place)) {
            next = place + 1;
            place
        } else if let Some(&place) = behind.iter().rev().find(overtaken) {
            reordered += 1;
            place
        } else {
            unexpected += 1;
            continue;
        };
        found[place] = true;
        latency.saturating_record(mark.at.since(sent[place].at).as_micros());
    }
    let lost = found.iter().filter(|found| !**found).count();
    let fates = sent.iter().map(|mark| mark.at).zip(found).collect();
    Delivery { sent: sent.len(), lost, reordered, unexpected, latency, fates }
}

impl Delivery {
    /// The share of what was sent that never came.
    pub(super) fn loss(&self) -> f64 {
        self.lost as f64 / self.sent.max(1) as f64
    }

    /// The share lost of what was sent up to each of `ends` and after the one before it; NaN where nothing was sent.
    pub(super) fn losses(&self, ends: &[Time]) -> Vec<f64> {
        let mut rest = &self.fates[..];
        let loss = |end: &Time| {
            let (within, behind) = rest.split_at(rest.partition_point(|(at, _)| at <= end));
            rest = behind;
            within.iter().filter(|(_, came)| !came).count() as f64 / within.len() as f64
        };
        ends.iter().map(loss).collect()
    }

    /// The latency that a share of `quantile` does not exceed, in milliseconds; none if nothing came.
    pub(super) fn latency_ms(&self, quantile: f64) -> Option<f64> {
        (!self.latency.is_empty()).then(|| self.latency.value_at_quantile(quantile) as f64 / 1e3)
    }

    /// The share of arrivals (percent) that came within each latency (milliseconds), up to 99.9 %: the slowest would
    /// take the plot for themselves.
    pub(super) fn latency_cdf(&self) -> Vec<(f64, f64)> {
        let percents = (0..200).map(|half| f64::from(half) / 2.0).chain([99.9]);
        percents.filter_map(|percent| Some((self.latency_ms(percent / 100.0)?, percent))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One datagram a millisecond, each named by a letter.
    fn sent(names: &str) -> Vec<Mark> {
        marks(names, Span::ZERO)
    }

    fn marks(names: &str, delay: Span) -> Vec<Mark> {
        let at = |i: usize| Time::ZERO + Span::from_millis(i as u64) + delay;
        let marks = names.chars().enumerate().map(|(i, name)| Mark::of(name.to_string().as_bytes(), at(i)));
        marks.collect()
    }

    /// Those of `sent` whose place carries a letter in `kept`, 30 ms later.
    fn arrived(kept: &str) -> Vec<Mark> {
        let mut all = marks(kept, Span::from_millis(30));
        all.retain(|mark| mark.print != Mark::of(b".", mark.at).print);
        all
    }

    /// The histogram keeps three digits.
    fn is_30(ms: Option<f64>) -> bool {
        ms.is_some_and(|ms| (ms - 30.0).abs() <= 0.03)
    }

    #[test]
    fn what_does_not_come_out_is_lost() {
        let delivery = settle(&sent("abcdef"), &arrived("a.cd.f"));
        assert_eq!((delivery.sent, delivery.lost, delivery.reordered, delivery.unexpected), (6, 2, 0, 0));
        assert_eq!(delivery.latency.len(), 4);
        assert!(is_30(delivery.latency_ms(0.0)) && is_30(delivery.latency_ms(1.0)));
    }

    #[test]
    fn a_lost_datagram_is_not_excused_by_its_equal_in_the_next_turn() {
        let delivery = settle(&sent("abcabcabc"), &arrived("a.cabcab."));
        assert_eq!((delivery.lost, delivery.unexpected), (2, 0));
        assert!(is_30(delivery.latency_ms(1.0)));
    }

    #[test]
    fn of_equal_neighbours_as_many_are_lost_as_do_not_come() {
        let delivery = settle(&sent("annnnb"), &arrived("an..nb"));
        assert_eq!((delivery.lost, delivery.reordered, delivery.unexpected), (2, 0, 0));
    }

    #[test]
    fn a_datagram_that_was_overtaken_is_not_lost_and_a_second_copy_is_not_counted() {
        let mut out = arrived("abcd");
        out.swap(1, 2);
        out.push(out[3]);
        let delivery = settle(&sent("abcd"), &out);
        assert_eq!((delivery.lost, delivery.reordered, delivery.unexpected), (0, 1, 1));
    }

    #[test]
    fn loss_is_told_by_the_moment_of_sending() {
        let at = |tenth: u64| Time::ZERO + Span::from_millis(100 * tenth);
        let sent: Vec<Mark> = (0..20).map(|i| Mark::of(&[i as u8], at(i))).collect();
        let losses = settle(&sent, &sent[..15]).losses(&[at(11), at(19), at(30)]);
        assert_eq!(losses[..2], [0.0, 5.0 / 8.0]);
        assert!(losses[2].is_nan());
    }
}
