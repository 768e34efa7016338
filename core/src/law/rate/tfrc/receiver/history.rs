//! Loss intervals and their average: RFC 5348 §5.3 to §5.5.
//!
//! The length of an interval is the number of sequence numbers from the first lost packet of one loss event to that of
//! the next. I_0 is the open interval; I_1 to I_n are kept.

use std::collections::VecDeque;

/// n and w_i. §5.4.
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];
/// THRESHOLD: the lower bound of a single discount. §5.5.
const THRESHOLD: f64 = 0.25;

/// The loss history of a receiver.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct LossHistory {
    /// I_1 to I_n, newest first.
    closed: VecDeque<Interval>,
    /// The first sequence number of the open interval.
    start: Option<u64>,
    discounting: bool,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct Interval {
    /// I_i, in packets.
    length: f64,
    /// DF_i.
    discount: f64,
}

impl LossHistory {
    pub(super) fn new(discounting: bool) -> LossHistory {
        LossHistory { closed: VecDeque::new(), start: None, discounting }
    }

    /// Takes a loss event whose first packet is `sequence`; `first_interval` gives the length of the interval before
    /// the first loss event.
    pub(super) fn open(&mut self, sequence: u64, first_interval: impl FnOnce() -> f64) {
        let length = match self.start.replace(sequence) {
            None => first_interval(),
            Some(start) => {
                let length = sequence.saturating_sub(start) as f64;
                let discount = self.general_discount(length);
                for interval in &mut self.closed {
                    interval.discount *= discount;
                }
                length
            }
        };
        self.closed.truncate(WEIGHTS.len() - 1);
        self.closed.push_front(Interval { length: length.max(1.0), discount: 1.0 });
    }

    /// p, where `highest` is the highest sequence number received.
    pub(super) fn loss_event_rate(&self, highest: u64) -> f64 {
        let Some(start) = self.start else { return 0.0 };
        let open = highest.saturating_sub(start) as f64 + 1.0;
        let discount = self.general_discount(open);
        let (mut i_tot0, mut w_tot0) = (open * WEIGHTS[0], WEIGHTS[0]);
        // I_0 to I_(k-1), where I_k is the oldest interval, or the eighth.
        for (interval, weight) in self.closed.iter().take(self.closed.len() - 1).zip(&WEIGHTS[1..]) {
            let weight = weight * interval.discount * discount;
            i_tot0 += interval.length * weight;
            w_tot0 += weight;
        }
        let (i_tot1, w_tot1) = self.closed_totals();
        (w_tot0 / i_tot0).min(w_tot1 / i_tot1)
    }

    /// I_tot1 and W_tot1: the closed intervals alone.
    fn closed_totals(&self) -> (f64, f64) {
        self.closed.iter().zip(&WEIGHTS).fold((0.0, 0.0), |(length, weight), (interval, w)| {
            let w = w * interval.discount;
            (length + interval.length * w, weight + w)
        })
    }

    /// DF: the discount of the closed intervals while the open one is `open` packets long.
    fn general_discount(&self, open: f64) -> f64 {
        let (i_tot, w_tot) = self.closed_totals();
        let i_mean = i_tot / w_tot;
        if self.discounting && open > 2.0 * i_mean { (2.0 * i_mean / open).max(THRESHOLD) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A history of intervals that were closed in this order, the oldest first, and the start of the open one.
    fn history(discounting: bool, lengths: &[u64]) -> (LossHistory, u64) {
        let mut history = LossHistory::new(discounting);
        let mut at = 1_000_000;
        history.open(at, || lengths[0] as f64);
        for length in &lengths[1..] {
            at += length;
            history.open(at, || unreachable!("only the first interval is made up"));
        }
        (history, at)
    }

    fn mean(history: &LossHistory, highest: u64) -> f64 {
        1.0 / history.loss_event_rate(highest)
    }

    #[test]
    fn loss_event_rate_is_zero_without_events() {
        assert_eq!(LossHistory::new(true).loss_event_rate(1_000_000), 0.0);
    }

    #[test]
    fn eight_intervals_have_the_weights_of_the_rfc() {
        // Newest first 10, 20, .. 80: (10 + 20 + 30 + 40) + .8 50 + .6 60 + .4 70 + .2 80 = 220, over 6.
        let (history, start) = history(false, &[999, 80, 70, 60, 50, 40, 30, 20, 10]);
        assert!((mean(&history, start) - 220.0 / 6.0).abs() < 1e-9);
        // The open interval counts once it raises the average: I_0 = 100 shifts the others by one place: 100 + 10 + 20
        // + 30 + .8 40 + .6 50 + .4 60 + .2 70 = 260.
        assert!((mean(&history, start + 99) - 260.0 / 6.0).abs() < 1e-9);
        // 60 + 160 = 220 is the point from which it does.
        assert!((mean(&history, start + 59) - 220.0 / 6.0).abs() < 1e-9);
        assert!((mean(&history, start + 60) - 221.0 / 6.0).abs() < 1e-9);
    }

    #[test]
    fn open_interval_replaces_the_oldest_of_fewer_than_eight() {
        // k = 2: I_tot1 = 20 + 10 and I_tot0 = I_0 + 20, both over W_tot = w_0 + w_1 = 2.
        let (two, start) = history(false, &[10, 20]);
        assert!((mean(&two, start) - 15.0).abs() < 1e-9);
        assert!((mean(&two, start + 29) - 25.0).abs() < 1e-9);
        // k = 1: the longer of I_0 and I_1.
        let (one, start) = history(false, &[10]);
        assert!((mean(&one, start + 8) - 10.0).abs() < 1e-9);
        assert!((mean(&one, start + 29) - 30.0).abs() < 1e-9);
    }

    #[test]
    fn a_long_open_interval_discounts_the_closed_ones() {
        // I_mean = 100. At I_0 = 400, DF = 200 / 400 = 1/2; the seven closed intervals weigh 1 + 1 + 1 + .8 + .6 + .4 +
        // .2 = 5.
        let (discounted, start) = history(true, &[100; 9]);
        let at = |open: u64| mean(&discounted, start + open - 1);
        assert!((at(200) - (200.0 + 500.0) / 6.0).abs() < 1e-9, "not above twice the mean yet");
        assert!((at(400) - (400.0 + 250.0) / 3.5).abs() < 1e-9);
        // At 800 it is 1/4, and remains so.
        assert!((at(800) - (800.0 + 125.0) / 2.25).abs() < 1e-9);
        assert!((at(8_000) - (8_000.0 + 125.0) / 2.25).abs() < 1e-9);
        let (plain, _) = history(false, &[100; 9]);
        assert!((mean(&plain, start + 399) - (400.0 + 500.0) / 6.0).abs() < 1e-9);
    }

    #[test]
    fn discount_persists_for_the_intervals_it_was_applied_to() {
        // An interval of 400 closes over eight of 100: DF_2.. = 1/2. Of I_1 = 400 (weight 1) and seven of 100 with
        // weights 1, 1, 1, .8, .6, .4, .2, halved: (400 + 250) / 3.5.
        let (mut history, start) = history(true, &[100; 9]);
        history.open(start + 400, || unreachable!("there was a loss before"));
        assert!((mean(&history, start + 400) - 650.0 / 3.5).abs() < 1e-9);
        // Another event after 200 packets: DF 1, since 650/3.5 is more than half of 200.
        history.open(start + 600, || unreachable!("there was a loss before"));
        // 200 + 400 + (1 + 1 + .8 + .6 + .4 + .2) / 2 of 100, over 2 + 2.
        assert!((mean(&history, start + 600) - 800.0 / 4.0).abs() < 1e-9);
    }
}
