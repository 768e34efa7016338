//! Numbers of the paper, closed forms, and invariants.

use super::super::path::{Path, shown};
use super::*;
use crate::rng::Rng;
use crate::time::Span;

/// 3.6 Mb/s in packets of 1500 bytes: 300 per second.
fn stream(thresholds: Thresholds) -> TcpStream {
    let variant = Variant { thresholds, ..Variant::default() };
    TcpStream::new(Start { iw: 2, ..Start::default() }, Playback::default(), variant)
}

/// A path of 100 ms that carries `capacity` segments per second.
fn path(thresholds: Thresholds, capacity: f64) -> Path<TcpStream> {
    let mut path = Path::new(stream(thresholds));
    path.capacity = capacity;
    path
}

#[test]
fn loss_window_stops_at_30_and_delay_window_grows_one_a_round_trip() {
    let mut path = path(Thresholds::Paper, f64::INFINITY);
    for lwnd in [2.0, 4.0, 8.0, 16.0] {
        assert_eq!((path.law.lwnd, path.law.dwnd, path.law.delay_on), (lwnd, 0.0, false));
        path.round();
    }
    for round in 0..200_u32 {
        assert_eq!((path.law.lwnd, path.law.dwnd, path.law.delay_on), (30.0, f64::from(round), true));
        path.round();
    }
}

#[test]
fn zero_round_trip_has_no_queue() {
    let mut law = stream(Thresholds::Paper);
    law.sample(Seconds(0.0));
    law.acknowledge(1, true, true);
    assert_eq!((shown(&law, "diff"), shown(&law, "cap"), shown(&law, "tau")), (0.0, 1.0, 0.0));
}

#[test]
fn printed_thresholds_settle_at_rate_rtt_over_rtt_minus_tau() {
    // Rate RTT / (RTT - tau) = C gives RTT = tau C / (C - Rate); of 2 to 4 segments more wait (2 to 4) C / (C - Rate).
    for capacity in [450.0, 600.0, 1_000.0, 3_000.0] {
        let mut path = path(Thresholds::Paper, capacity);
        (0..3_000).for_each(|_| path.round());
        let stretch = capacity / (capacity - 300.0);
        let (least, most) = ((30.0 + ALPHA) * stretch - 1.0, (31.0 + BETA) * stretch + 1.0);
        assert!((least..most).contains(&path.queue()), "{capacity}: {} waits, not {least} to {most}", path.queue());
    }
}

#[test]
fn vegas_thresholds_leave_two_to_four_segments_in_the_queue() {
    for capacity in [450.0, 600.0, 1_000.0, 3_000.0] {
        let mut path = path(Thresholds::Vegas, capacity);
        (0..3_000).for_each(|_| path.round());
        assert!((1.0..=5.0).contains(&path.queue()), "{capacity}: {}", path.queue());
    }
}

#[test]
fn only_vegas_thresholds_yield_fully_to_a_queue_of_other_flows() {
    // Another flow has doubled the round trip: with lwnd = cap(RTT) = 60, Diff is (60 + dwnd) / 2. The printed
    // thresholds stop at 64 at most, Vegas's nowhere.
    for (thresholds, left) in [(Thresholds::Paper, 68.0), (Thresholds::Vegas, 0.0)] {
        let mut path = path(thresholds, f64::INFINITY);
        (0..105).for_each(|_| path.round());
        assert_eq!((path.law.lwnd, path.law.dwnd), (30.0, 101.0));
        path.rtt = Span::from_millis(200);
        (0..300).for_each(|_| path.round());
        assert_eq!((path.law.lwnd, path.law.dwnd), (60.0, left), "{thresholds:?}");
    }
}

#[test]
fn loss_halves_lwnd_and_stops_dwnd_until_the_cap_is_reached_again() {
    let mut path = path(Thresholds::Paper, f64::INFINITY);
    (0..50).for_each(|_| path.round());
    let tau = path.law.tau;
    path.lose();
    assert_eq!((path.law.lwnd, path.law.ssthresh, path.law.dwnd, path.law.delay_on), (15.0, 15.0, 0.0, false));
    // From 15 to 30 by one per round trip.
    let mut rounds = 0;
    while !path.law.delay_on {
        assert!(path.law.lwnd < 30.0 && path.law.dwnd == 0.0);
        path.round();
        rounds += 1;
    }
    assert!((15..=16).contains(&rounds), "{rounds}");
    path.law.expire(false);
    assert_eq!((path.law.swnd(), path.law.ssthresh, path.law.tau), (1.0, 15.0, tau));
}

#[test]
fn half_of_the_delay_window_may_outlive_a_loss_but_not_a_timeout() {
    let variant = Variant { on_loss: OnLoss::Halve, ..Variant::default() };
    let mut path = Path::new(TcpStream::new(Start { iw: 2, ..Start::default() }, Playback::default(), variant));
    (0..54).for_each(|_| path.round());
    assert_eq!((path.law.lwnd, path.law.dwnd), (30.0, 50.0));
    path.lose();
    assert_eq!((path.law.lwnd, path.law.dwnd, path.law.delay_on), (15.0, 25.0, false));
    path.law.expire(false);
    assert_eq!(path.law.swnd(), 1.0);
}

#[test]
fn a_shorter_round_trip_lowers_the_loss_window_at_once() {
    let mut law = stream(Thresholds::Paper);
    for _ in 0..100 {
        law.sample(Seconds(0.2));
        law.acknowledge(1, false, true);
    }
    assert_eq!(law.lwnd, 60.0);
    law.sample(Seconds(0.1));
    law.acknowledge(1, false, true);
    assert_eq!((law.lwnd, law.cap()), (30.0, Some(30)));
}

#[test]
fn delay_window_does_not_grow_while_application_limited() {
    let mut path = path(Thresholds::Paper, f64::INFINITY);
    (0..10).for_each(|_| path.round());
    path.window_limited = false;
    let before = path.law.swnd();
    (0..50).for_each(|_| path.round());
    assert_eq!(path.law.swnd(), before);
}

#[test]
fn windows_stay_within_their_bounds_under_any_events() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let mut law = stream(if seed % 2 == 0 { Thresholds::Paper } else { Thresholds::Vegas });
        let mut least = f64::INFINITY;
        for _ in 0..5_000 {
            let before = law.clone();
            match rng.below(60) {
                0 => law.lose(),
                1 => law.expire(false),
                _ => {
                    let rtt = 0.02 + rng.below(200_000) as f64 / 1e6;
                    least = least.min(rtt);
                    law.sample(Seconds(rtt));
                    law.acknowledge(1 + rng.below(3) as u32, rng.below(10) == 0, rng.below(5) > 0);
                    let cap = Playback::default().cap(Seconds(rtt));
                    assert!(law.lwnd <= f64::from(cap) && law.lwnd <= before.lwnd + 1.0);
                    assert!((law.dwnd - before.dwnd).abs() <= 1.0);
                }
            }
            assert!(law.lwnd >= 1.0 && law.dwnd >= 0.0 && law.cwnd() >= 1.0 && law.ssthresh >= 2.0);
            assert!(law.tau.is_none_or(|tau| tau == least));
            assert_eq!(shown(&law, "swnd"), law.lwnd + law.dwnd);
        }
    }
}
