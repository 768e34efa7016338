use super::*;
use crate::law::rate::Report;

const SIZE: Bytes = Bytes(1360);
const REORDERING: Span = Span::from_millis(10);

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Ten source packets, a millisecond apart.
fn ten() -> History {
    let mut history = History::default();
    for sequence in 100..110 {
        history.sent(Stream::Source, sequence, at(sequence - 100), SIZE);
    }
    history
}

/// A report that is made on arrival of its last packet and arrives at once, 40 ms after the first packet left.
fn report(history: &mut History, arrived: &[u64], missing: &[u64]) {
    arrived.iter().for_each(|&sequence| history.reported(at(40), Stream::Source, sequence, Some(Span::ZERO)));
    missing.iter().for_each(|&sequence| history.reported(at(40), Stream::Source, sequence, None));
}

/// The packets that a report at `millis` finds lost and delivered, and the round trip of the newest of them in
/// milliseconds.
fn settle(history: &mut History, millis: u64) -> (u32, u32, Option<u64>) {
    let report = Report::of(at(millis), &history.settle(at(millis), REORDERING).packets);
    (report.lost, report.delivered, report.rtt.map(|rtt| rtt.as_nanos() / 1_000_000))
}

/// The number of packets that a report at `millis` finds lost.
fn lost(history: &mut History, millis: u64) -> u32 {
    settle(history, millis).0
}

#[test]
fn packet_is_lost_after_three_later_ones_and_a_reordering_delay() {
    let mut history = ten();
    report(&mut history, &[101, 102], &[100]);
    assert_eq!(settle(&mut history, 50), (0, 2, Some(38)));
    assert_eq!(lost(&mut history, 80), 0, "two later packets are not three");
    report(&mut history, &[103], &[]);
    assert_eq!(lost(&mut history, 81), 0, "the delay begins now");
    assert_eq!(lost(&mut history, 91), 1);
    assert_eq!(settle(&mut history, 200), (0, 0, None), "nothing is counted twice");
}

#[test]
fn packet_within_the_reordering_delay_is_not_lost() {
    let mut history = ten();
    report(&mut history, &[101, 102, 103], &[100]);
    assert_eq!(lost(&mut history, 50), 0);
    report(&mut history, &[100, 101, 102, 103], &[]);
    assert_eq!(settle(&mut history, 90), (0, 1, Some(40)));
}

#[test]
fn packets_never_reported_are_not_counted_as_lost() {
    let mut history = ten();
    report(&mut history, &[105, 106, 107], &[104]);
    history.settle(at(50), REORDERING);
    assert_eq!(lost(&mut history, 60), 1, "100 to 103 were never named");
    history.forget(at(1000));
    assert_eq!(settle(&mut history, 1000), (0, 0, None));
}

#[test]
fn more_than_three_consecutive_losses_in_both_streams_are_a_burst() {
    let mut history = History::default();
    for pair in 0..6 {
        history.sent(Stream::Source, pair, at(pair), SIZE);
        history.sent(Stream::Repair, 1000 + pair, at(pair), SIZE);
    }
    for (stream, base) in [(Stream::Source, 0), (Stream::Repair, 1000)] {
        for pair in 0..6 {
            let held = (!(1..3).contains(&pair)).then_some(Span::ZERO);
            history.reported(at(40), stream, base + pair, held);
        }
    }
    history.settle(at(50), REORDERING);
    assert_eq!(lost(&mut history, 60), 4);
    assert_eq!(history.bursts, 1);
}

#[test]
fn packets_after_the_last_received_stall_after_the_reordering_delay() {
    let mut history = ten();
    report(&mut history, &[100, 101, 102], &[]);
    history.settle(at(40), REORDERING);
    assert_eq!(history.stalled(at(1000), REORDERING), 0, "all of them had left when something came");
    for sequence in 110..113 {
        history.sent(Stream::Source, sequence, at(2000 + sequence), SIZE);
    }
    assert_eq!(history.stalled(at(2119), REORDERING), 0);
    assert_eq!(history.stalled(at(2121), REORDERING), 2, "those that left by 2111 ms");
    report(&mut history, &[112], &[]);
    history.settle(at(2150), REORDERING);
    assert_eq!(history.stalled(at(9999), REORDERING), 0);
}

#[test]
fn reports_of_unsent_sequence_numbers_are_ignored() {
    let mut history = History::default();
    history.sent(Stream::Source, 10, at(0), SIZE);
    history.sent(Stream::Source, 15, at(1), SIZE);
    for sequence in [0, 9, 11, 14, 16, u64::MAX] {
        history.reported(at(2), Stream::Source, sequence, Some(Span::ZERO));
    }
    assert_eq!(settle(&mut history, 9), (0, 0, None));
    assert_eq!(history.last(Stream::Source), Some(15));
    assert_eq!(history.last(Stream::Repair), None);
}

#[test]
fn packets_given_up_are_not_in_flight_and_may_still_be_delivered() {
    let mut history = ten();
    report(&mut history, &[100], &[101]);
    assert_eq!(history.in_flight(), 9);
    history.give_up(at(5));
    assert_eq!(history.in_flight(), 5, "105 to 109");
    report(&mut history, &[102, 103, 104, 105], &[]);
    assert_eq!(history.in_flight(), 4);
    settle(&mut history, 50);
    assert_eq!(lost(&mut history, 60), 1, "101");
    assert_eq!(history.in_flight(), 4);
    history.forget(at(1000));
    assert_eq!(history.in_flight(), 0);
}
