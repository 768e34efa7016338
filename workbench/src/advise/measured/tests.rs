use proptest::prelude::*;
use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::Return;

use super::*;

const MS: u64 = 1_000_000;

/// The receiver's clock is an hour ahead.
const AHEAD: u64 = 3_600_000 * MS;

fn at(millis: f64) -> Time {
    Time::from_nanos((millis * MS as f64) as u64)
}

/// A packet a millisecond for two seconds, with 30 ms forth and 10 ms back, and a report every ten; `outcome` may change the
/// outcome of a packet.
fn recording(outcome: impl Fn(u64, Outcome) -> Outcome, lost_reports: core::ops::Range<u64>) -> Recording {
    let ahead = |millis: f64| Time::from_nanos(at(millis).as_nanos() + AHEAD);
    let mut recording = Recording::default();
    for number in 0..2000 {
        let (sent, arrived) = (at(number as f64), Outcome::Arrived(ahead(number as f64 + 30.0)));
        recording.passages.push(Passage { sent, outcome: outcome(number, arrived) });
    }
    for nth in (3..203).filter(|nth| !lost_reports.contains(nth)) {
        let sent = nth as f64 * 10.0;
        recording.returns.push(Return { sent: ahead(sent), arrived: at(sent + 10.0) });
    }
    recording
}

#[test]
fn delays_are_half_of_the_round_trip_and_what_a_queue_adds() {
    let queue = |number: u64, outcome| match outcome {
        Outcome::Arrived(at) if number >= 1000 => Outcome::Arrived(at + Span::from_millis(7)),
        other => other,
    };
    let path = Measured::of(&recording(queue, 0..0)).expect("a path");
    assert_eq!((path.round_trip(), path.packets(), path.lost()), (Span::from_millis(40), 2000, 0));
    assert_eq!((path.duration(), path.group()), (Span::from_millis(1999), 1.0));
    let delays = [0, 999, 1000].map(|nth| path.rows[nth].delay);
    assert_eq!(delays, [20, 20, 27].map(|millis| Some(Span::from_millis(millis))));
    assert!(path.rows.iter().all(|row| row.back == Some(Span::from_millis(20))));
    assert!(path.keeps_order);
}

#[test]
fn an_outage_longer_than_a_report_is_lost_as_a_whole() {
    let outage = |number: u64, outcome| match number {
        500..=600 => Outcome::Unknown,
        601..=700 => Outcome::Missing,
        // Its reports were lost.
        900 => Outcome::Unknown,
        _ => outcome,
    };
    let path = Measured::of(&recording(outage, 0..0)).expect("a path");
    assert_eq!((path.packets(), path.lost(), path.group()), (1999, 201, 201.0));
    // 50 round trips of 40 ms, less the last millisecond.
    assert!((path.lost_per_round_trip() - 201.0 / 49.975).abs() < 0.1, "{}", path.lost_per_round_trip());
}

#[test]
fn reports_that_are_missing_while_packets_arrive_were_lost() {
    let path = Measured::of(&recording(|_, outcome| outcome, 50..53)).expect("a path");
    let lost: Vec<u64> =
        path.rows.iter().filter(|row| row.back.is_none()).map(|row| row.sent.as_nanos() / MS).collect();
    // Reports leave at 490 and 530 of the receiver's clock, which is 10 ms ahead of the one that halves the round trip.
    assert!((28..=32).contains(&lost.len()) && (484..=486).contains(&lost[0]), "{lost:?}");
}

#[test]
fn reports_in_quick_succession_hide_no_loss() {
    let mut recording = recording(|_, outcome| outcome, 50..53);
    let extra = recording
        .returns
        .iter()
        .map(|one| Return { sent: one.sent + Span::from_millis(2), arrived: one.arrived + Span::from_millis(2) });
    let extra: Vec<Return> = extra.skip(100).take(20).collect();
    recording.returns.extend(extra);
    let path = Measured::of(&recording).expect("a path");
    let lost = path.rows.iter().filter(|row| row.back.is_none()).count();
    assert!((28..=32).contains(&lost), "{lost}");
}

#[test]
fn poor_and_short_measurements_are_refused() {
    let poor = recording(|number, outcome| if number % 5 < 3 { Outcome::Missing } else { outcome }, 0..0);
    assert!(matches!(Measured::of(&poor), Err(Unusable::Poor { .. })));
    let mut short = recording(|_, outcome| outcome, 0..0);
    short.passages.truncate(20);
    assert_eq!(Measured::of(&short), Err(Unusable::Short));
    assert_eq!(Measured::of(&Recording::default()), Err(Unusable::Short));
}

proptest! {
    /// Times of the peer are as it likes.
    #[test]
    fn no_times_of_reports_and_arrivals_panic(
        arrivals in prop::collection::vec(0..10_000_000_000_u64, 60..200),
        reports in prop::collection::vec((0..10_000_000_000_u64, 0..10_000_000_000_u64), 0..50),
    ) {
        let passages = arrivals.iter().zip(0_u64..).map(|(arrived, number)| {
            let outcome = if arrived % 10 == 0 { Outcome::Missing } else { Outcome::Arrived(Time::from_nanos(*arrived)) };
            Passage { sent: at(number as f64), outcome }
        });
        let returns = reports.iter().map(|(sent, arrived)| Return {
            sent: Time::from_nanos(*sent),
            arrived: Time::from_nanos(*arrived),
        });
        let mut recording = Recording::default();
        recording.passages.extend(passages);
        recording.returns.extend(returns);
        let _ = Measured::of(&recording);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    /// The file that is written is the path that is read.
    #[test]
    fn path_files_can_be_read(seed: u64) {
        let lost = |number| Rng::new(seed).fork(&format!("{number}")).unit() < 0.2;
        let path = Measured::of(&recording(|number, one| if lost(number) { Outcome::Missing } else { one }, 0..0));
        let path = path.expect("a path");
        prop_assert!(path.scenario().is_ok());
        let ones = path.csv().lines().skip(1).filter(|line| line.split(',').nth(2) == Some("1")).count();
        prop_assert_eq!(ones, path.lost());
    }
}
