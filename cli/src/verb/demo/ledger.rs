//! Comparison of the datagrams sent and received, by the one clock that timed both.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use hdrhistogram::Histogram;
use thalweg_core::time::{Span, Time};

/// An observed datagram: its fingerprint and the time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Mark {
    fingerprint: u64,
    pub(super) at: Time,
}

impl Mark {
    pub(super) fn of(datagram: &[u8], at: Time) -> Mark {
        let mut hasher = DefaultHasher::new();
        datagram.hash(&mut hasher);
        Mark { fingerprint: hasher.finish(), at }
    }
}

/// The outcome of the datagrams that were sent.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    pub(super) sent: usize,
    pub(super) lost: usize,
    /// Datagrams that arrived after one that was sent later.
    pub(super) reordered: usize,
    /// Datagrams that arrived twice, or were never sent.
    pub(super) unexpected: usize,
    /// Latency from input to output, in microseconds.
    pub(super) latency: Histogram<u64>,
    /// The time at which each datagram was sent, and true if it arrived.
    outcomes: Vec<(Time, bool)>,
}

/// The time after its sending in which a reordered datagram still counts as delivered.
const REORDER_LIMIT: Span = Span::from_secs(2);

/// The longest latency that is distinguished from longer ones, in microseconds.
const LONGEST: u64 = 60_000_000;

/// Matches each arrival with a datagram that was sent.
///
/// Some datagrams of a transport stream are equal: padding, and those of the video's next loop once its counters have
/// wrapped. An arrival is matched with the first equal datagram after the previous match that had been sent by then;
/// only if there is none was it overtaken, or is it a duplicate. The receiver keeps the order, so the match is wrong at
/// most by an exchange of equal datagrams within one gap.
pub(super) fn match_arrivals(sent: &[Mark], arrived: &[Mark]) -> Delivery {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (place, mark) in sent.iter().enumerate() {
        places.entry(mark.fingerprint).or_default().push(place);
    }
    let mut found = vec![false; sent.len()];
    let mut next = 0;
    let (mut reordered, mut unexpected) = (0, 0);
    let mut latency = Histogram::new_with_bounds(1, LONGEST, 3).expect("these bounds are valid");
    for mark in arrived {
        let equal = places.get(&mark.fingerprint).map_or(&[][..], Vec::as_slice);
        let (behind, ahead) = equal.split_at(equal.partition_point(|&place| place < next));
        let fits = |place: &usize| sent[*place].at <= mark.at;
        let overtaken = |place: &&usize| !found[**place] && mark.at.since(sent[**place].at) < REORDER_LIMIT;
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
    let outcomes = sent.iter().map(|mark| mark.at).zip(found).collect();
    Delivery { sent: sent.len(), lost, reordered, unexpected, latency, outcomes }
}

impl Delivery {
    /// The share of the datagrams sent that never arrived.
    pub(super) fn loss(&self) -> f64 {
        self.lost as f64 / self.sent.max(1) as f64
    }

    /// The share lost of the datagrams sent up to each of `ends` and after the previous end; NaN where none was sent.
    pub(super) fn losses(&self, ends: &[Time]) -> Vec<f64> {
        let mut rest = &self.outcomes[..];
        let loss = |end: &Time| {
            let (within, behind) = rest.split_at(rest.partition_point(|(at, _)| at <= end));
            rest = behind;
            within.iter().filter(|(_, arrived)| !arrived).count() as f64 / within.len() as f64
        };
        ends.iter().map(loss).collect()
    }

    /// The latency that a share of `quantile` does not exceed, in milliseconds; `None` if nothing arrived.
    pub(super) fn latency_ms(&self, quantile: f64) -> Option<f64> {
        (!self.latency.is_empty()).then(|| self.latency.value_at_quantile(quantile) as f64 / 1e3)
    }

    /// Latencies (milliseconds) and the share of arrivals (percent) within each, up to 99.9 %: the slowest would
    /// dominate the scale of the plot.
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
        all.retain(|mark| mark.fingerprint != Mark::of(b".", mark.at).fingerprint);
        all
    }

    /// The histogram keeps three digits.
    fn is_30(ms: Option<f64>) -> bool {
        ms.is_some_and(|ms| (ms - 30.0).abs() <= 0.03)
    }

    #[test]
    fn datagrams_that_do_not_arrive_are_lost() {
        let delivery = match_arrivals(&sent("abcdef"), &arrived("a.cd.f"));
        assert_eq!((delivery.sent, delivery.lost, delivery.reordered, delivery.unexpected), (6, 2, 0, 0));
        assert_eq!(delivery.latency.len(), 4);
        assert!(is_30(delivery.latency_ms(0.0)) && is_30(delivery.latency_ms(1.0)));
    }

    #[test]
    fn lost_datagram_is_not_matched_with_its_equal_in_the_next_loop() {
        let delivery = match_arrivals(&sent("abcabcabc"), &arrived("a.cabcab."));
        assert_eq!((delivery.lost, delivery.unexpected), (2, 0));
        assert!(is_30(delivery.latency_ms(1.0)));
    }

    #[test]
    fn losses_among_equal_neighbors_are_counted() {
        let delivery = match_arrivals(&sent("annnnb"), &arrived("an..nb"));
        assert_eq!((delivery.lost, delivery.reordered, delivery.unexpected), (2, 0, 0));
    }

    #[test]
    fn reordered_and_duplicate_datagrams_are_not_lost() {
        let mut out = arrived("abcd");
        out.swap(1, 2);
        out.push(out[3]);
        let delivery = match_arrivals(&sent("abcd"), &out);
        assert_eq!((delivery.lost, delivery.reordered, delivery.unexpected), (0, 1, 1));
    }

    #[test]
    fn loss_is_attributed_to_the_time_of_sending() {
        let at = |tenth: u64| Time::ZERO + Span::from_millis(100 * tenth);
        let sent: Vec<Mark> = (0..20).map(|i| Mark::of(&[i as u8], at(i))).collect();
        let losses = match_arrivals(&sent, &sent[..15]).losses(&[at(11), at(19), at(30)]);
        assert_eq!(losses[..2], [0.0, 5.0 / 8.0]);
        assert!(losses[2].is_nan());
    }
}
