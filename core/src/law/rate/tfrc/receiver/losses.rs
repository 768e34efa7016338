//! Detection of lost packets, and their grouping into loss events: RFC 5348 §5.1 and §5.2.

use crate::time::{Span, Time};

/// NDUPACK: the number of packets that must arrive after a lost one. §5.1.
const NDUPACK: usize = 3;
/// Loss events of one gap that are reported one by one: the history keeps no more than these.
const REMEMBERED: u64 = 9;

/// Decides in order whether each sequence number was received or lost.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Losses {
    /// The lowest undecided sequence number.
    next: u64,
    /// The last packet to arrive.
    latest: Option<Arrival>,
    /// Packets received out of order, lowest first; never more than [`NDUPACK`].
    early: Vec<Early>,
    /// T_old: the time at which the last loss event began.
    event: Option<Time>,
    lost: u64,
}

/// A packet that arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrival {
    pub(super) sequence: u64,
    pub(super) at: Time,
    /// True if it carried an ECN congestion mark, which counts as a loss.
    pub(super) marked: bool,
}

/// A packet that arrived before a lower sequence number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Early {
    arrival: Arrival,
    /// The packet that arrived just before it, if any did.
    before: Option<Arrival>,
    /// Its place in the order of arrival: lower for the packet that arrived first.
    order: usize,
}

impl Losses {
    /// True if a packet is neither a duplicate nor so late that it counts as lost.
    pub(super) fn counts(&self, sequence: u64) -> bool {
        // Deviation(RFC 5348 §5.1): a packet that is too late fills no hole, so no loss event is ever withdrawn. The
        // largest number has no successor, so it could decide nothing.
        sequence >= self.next && sequence != u64::MAX && self.place(sequence).is_err()
    }

    /// Takes a packet that [`counts`](Losses::counts) and arrived while the round trip was `rtt`; calls `begin` with
    /// the first sequence number of every loss event that it reveals.
    pub(super) fn accept(&mut self, arrival: Arrival, rtt: Span, mut begin: impl FnMut(u64)) {
        let (Err(place), true) = (self.place(arrival.sequence), self.counts(arrival.sequence)) else { return };
        let order = self.early.iter().map(|early| early.order + 1).max().unwrap_or(0);
        self.early.insert(place, Early { arrival, before: self.latest.replace(arrival), order });
        while let Some(first) = self.early.first().map(|early| early.arrival) {
            if first.sequence > self.next {
                // The packets missing before a mark are lost as soon as the mark arrives. §5.1.
                if self.early.len() < NDUPACK && self.early.iter().all(|early| !early.arrival.marked) {
                    break;
                }
                self.settle_gap(first.sequence, rtt, &mut begin);
            }
            if first.marked {
                self.settle_loss(first.sequence, first.at, rtt, &mut begin);
            }
            self.next = first.sequence + 1;
            self.early.remove(0);
        }
    }

    /// Packets declared lost; marked ones do not count.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    fn place(&self, sequence: u64) -> Result<usize, usize> {
        self.early.binary_search_by_key(&sequence, |early| early.arrival.sequence)
    }

    /// Declares all packets from `next` to just before `end` lost.
    fn settle_gap(&mut self, end: u64, rtt: Span, begin: &mut impl FnMut(u64)) {
        self.lost += end - self.next;
        let last = end - 1;
        // S_after is the packet above the gap that arrived first, and S_before the one that arrived before it: not
        // their neighbors in sequence, if packets arrived out of order. §5.2.
        let Some(Early { arrival: after, before, .. }) = self.early.iter().min_by_key(|early| early.order).copied()
        else {
            return;
        };
        let before = before.unwrap_or(Arrival { sequence: 0, at: after.at, marked: false });
        let distance = (after.sequence - before.sequence).max(1);
        let duration = after.at.since(before.at);
        // T_loss = T_before + (T_after - T_before) Dist(S_loss, S_before) / Dist(S_after, S_before). §5.2.
        let t_loss = |sequence: u64| before.at + duration.mul_div(sequence - before.sequence, distance);
        let mut sequence = self.next;
        loop {
            self.settle_loss(sequence, t_loss(sequence), rtt, begin);
            let Some(event) = self.event.filter(|_| duration > Span::ZERO) else { return };
            // The first sequence number whose T_loss, in whole nanoseconds, is more than a round trip after the
            // event's.
            let wait = (u128::from((event + rtt).since(before.at).as_nanos()) + 1) * u128::from(distance);
            let ahead = u64::try_from(wait.div_ceil(u128::from(duration.as_nanos()))).unwrap_or(u64::MAX);
            let later = before.sequence.saturating_add(ahead).max(sequence + 1);
            if later > last {
                return;
            }
            // A gap of millions of events has the effect of its last events.
            let step = later - sequence;
            sequence = later + ((last - later) / step).saturating_sub(REMEMBERED) * step;
        }
    }

    /// Takes a lost or marked packet: it begins an event unless the last one began within a round trip before it. §5.2.
    fn settle_loss(&mut self, sequence: u64, at: Time, rtt: Span, begin: &mut impl FnMut(u64)) {
        if self.event.is_none_or(|event| event + rtt < at) {
            self.event = Some(at);
            begin(sequence);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn arrival(sequence: u64, ms: u64) -> Arrival {
        Arrival { sequence, at: Time::ZERO + Span::from_millis(ms), marked: false }
    }

    /// The loss events that packets at the given times (in milliseconds) cause at a round trip of 100 ms.
    fn events(packets: impl IntoIterator<Item = (u64, u64)>) -> Vec<u64> {
        let (mut losses, mut events) = (Losses::default(), Vec::new());
        for (sequence, ms) in packets {
            losses.accept(arrival(sequence, ms), Span::from_millis(100), |first| events.push(first));
        }
        events
    }

    #[test]
    fn three_later_packets_make_a_loss_and_two_do_not() {
        assert_eq!(events([(0, 0), (2, 20), (3, 30)]), []);
        assert_eq!(events([(0, 0), (2, 20), (3, 30), (4, 40)]), [1]);
        // A packet that only two others have overtaken is not lost.
        assert_eq!(events([(0, 0), (2, 20), (3, 30), (1, 35), (4, 40), (5, 50), (6, 60)]), []);
        assert_eq!(events([(1, 10), (2, 20), (3, 30)]), [0], "the first packet can be lost, too");
    }

    #[test]
    fn losses_within_a_round_trip_of_the_first_are_one_event() {
        // Packet k arrives at 10 k ms. 5 is lost at 50 ms; losses until 150 ms belong to its event, that of 16 does
        // not.
        let without = |lost: &'static [u64]| (0..40).filter(move |k| !lost.contains(k)).map(|k| (k, 10 * k));
        assert_eq!(events(without(&[5, 6, 9, 15])), [5]);
        assert_eq!(events(without(&[5, 15, 16])), [5, 16]);
        // The round trip counts from the first loss of an event, not from its last.
        assert_eq!(events(without(&[5, 14, 17, 26, 28])), [5, 17, 28]);
    }

    #[test]
    fn long_gap_has_one_event_per_round_trip() {
        // 1 to 49 are lost, one every 10 ms by interpolation: an event every 11 packets.
        let gap = (0..1).chain(50..60).map(|k| (k, 10 * k));
        assert_eq!(events(gap), [1, 12, 23, 34, 45]);
    }

    #[test]
    fn loss_time_is_interpolated_between_surrounding_packets() {
        // 1 is lost at 20 ms. 6 lies a third of the way from 5 to 8, which arrived next; the way to 7 would be longer.
        let late = |eight| [(0, 0), (2, 40), (3, 50), (4, 60), (5, 90), (8, eight), (7, 195), (9, 200)];
        assert_eq!(events(late(180)), [1], "90 + 90 / 3 = 120");
        assert_eq!(events(late(183)), [1, 6], "90 + 93 / 3 = 121");
        // 1 is lost at 100 ms, and 102 at 120 + 120 2 / 3 = 200: 101 arrived only after 103.
        let steady = [(0, 90), (2, 110)].into_iter().chain((3..=100).map(|k| (k, 120)));
        assert_eq!(events(steady.chain([(103, 240), (101, 260), (104, 261), (105, 262)])), [1]);
    }

    #[test]
    fn congestion_mark_and_gaps_before_it_count_as_lost_at_once() {
        // The example of §5.1 with n = 2: 1 arrives, 3, and then 4 with a mark.
        let (mut losses, mut events) = (Losses::default(), Vec::new());
        for (sequence, ms) in [(0, 0), (1, 10), (3, 30), (4, 40), (5, 50)] {
            let arrival = Arrival { marked: sequence == 4, ..arrival(sequence, ms) };
            losses.accept(arrival, Span::from_millis(100), |first| events.push((sequence, first)));
        }
        assert_eq!(events, [(4, 2)]);
        assert_eq!(losses.lost(), 1);
    }

    #[test]
    fn congestion_mark_without_a_gap_is_an_event() {
        let (mut losses, mut events) = (Losses::default(), Vec::new());
        for sequence in 0..4 {
            let arrival = Arrival { marked: sequence == 2, ..arrival(sequence, 10 * sequence) };
            losses.accept(arrival, Span::from_millis(100), |first| events.push((sequence, first)));
        }
        assert_eq!((events, losses.lost()), (vec![(2, 2)], 0));
    }

    #[test]
    fn duplicates_and_packets_declared_lost_are_refused() {
        let mut losses = Losses::default();
        let mut accept = |sequence, ms| {
            let counts = losses.counts(sequence);
            losses.accept(arrival(sequence, ms), Span::from_millis(100), |_| {});
            counts
        };
        assert!(accept(0, 0) && accept(2, 20) && accept(3, 30));
        assert!(!accept(2, 35), "a copy of one that waits");
        assert!(!accept(0, 36), "a copy of one that is settled");
        assert!(accept(4, 40));
        assert!(!accept(1, 50), "it counts as lost");
        assert_eq!(losses.lost(), 1);
    }

    #[test]
    fn loss_exactly_a_round_trip_later_belongs_to_the_event() {
        // T_loss of 415 is 414/663 of 221 ms after that of 1: 138 ms, to the nanosecond. 416 begins the next event.
        let (mut losses, mut events) = (Losses::default(), Vec::new());
        for arrival in [arrival(0, 5), arrival(663, 226), arrival(664, 226), arrival(665, 226)] {
            losses.accept(arrival, Span::from_millis(138), |first| events.push(first));
        }
        assert_eq!(events, [1, 416]);
    }

    proptest! {
        /// The events of a gap have the same end, whether computed in one jump or packet by packet.
        #[test]
        fn events_of_a_gap_equal_those_computed_packet_by_packet(gap in 1u64..5_000, rtt in 0u64..200, took in 0u64..2_000) {
            let (rtt, mut found, mut expected) = (Span::from_millis(rtt), Vec::new(), Vec::new());
            let mut losses = Losses::default();
            losses.accept(arrival(0, 5), rtt, |_| {});
            for later in 0..3 {
                losses.accept(arrival(gap + 1 + later, 5 + took), rtt, |first| found.push(first));
            }
            let mut event: Option<u64> = None;
            for sequence in 1..=gap {
                let at = 5_000_000 + u128::from(took) * 1_000_000 * u128::from(sequence) / u128::from(gap + 1);
                let at = at as u64;
                if event.is_none_or(|event| event + rtt.as_nanos() < at) {
                    event = Some(at);
                    expected.push(sequence);
                }
            }
            prop_assert_eq!(found.first(), expected.first());
            let end = |events: &[u64]| events.last().copied();
            prop_assert!(end(&found).zip(end(&expected)).is_some_and(|(a, b)| a.abs_diff(b) <= 1 + gap / 500));
        }

        #[test]
        fn arbitrary_packets_neither_hang_nor_grow_the_detector(
            packets in proptest::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<bool>()), 0..50),
        ) {
            let mut losses = Losses::default();
            let mut at = Time::ZERO;
            for (sequence, gap, rtt, marked) in packets {
                at += Span::from_nanos(gap >> 8);
                losses.accept(Arrival { sequence, at, marked }, Span::from_nanos(rtt), |_| {});
                prop_assert!(losses.early.len() < NDUPACK);
            }
        }
    }
}
