//! Losses that fast recovery repairs, with SACK (RFC 6675) and without (RFC 6582), and losses that are left to the
//! timer.

use thalweg_core::law::window::CongestionWindow;
use thalweg_core::units::Rate;
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;
use thalweg_lab::tcp::{ReceiverConfig, Recovery, SenderConfig};

use crate::tcp::pair::{ALL, Pair, at, avoiding_at, config, ms, starting_at};

#[test]
fn a_single_loss_is_repaired_in_a_round_trip_and_halves_the_window() {
    for recovery in ALL {
        let mut pair = Pair::new(avoiding_at(10), config(recovery));
        pair.doomed = vec![4];
        pair.run_until(at(39));
        // 0 to 3 are acknowledged at 20 ms and release 10 to 13; at the third duplicate 4 is retransmitted.
        assert_eq!(pair.repairs(), [(20, 4)], "{recovery:?}");
        pair.run_until(at(41));
        assert_eq!(pair.sender.law().ssthresh(), 5.0, "{recovery:?}");
        pair.run_until(at(200));
        let counters = pair.sender.counters();
        assert_eq!((counters.recoveries, counters.timeouts, counters.retransmitted), (1, 0, 1), "{recovery:?}");
        assert_eq!(pair.receiver.counters().duplicates, 0);
        assert_eq!(pair.receiver.held(), 0);
    }
}

#[test]
fn the_first_two_duplicates_let_out_a_new_segment_each() {
    for recovery in ALL {
        let mut pair = Pair::new(avoiding_at(3), config(recovery));
        pair.doomed = vec![0];
        pair.run_until(at(39));
        // A window of three gives two duplicates, which are not enough; the segments of limited transmit give the
        // third.
        assert_eq!(pair.sent.iter().map(|sent| sent.number).collect::<Vec<_>>(), [0, 1, 2, 3, 4], "{recovery:?}");
        pair.run_until(at(59));
        assert_eq!(pair.repairs(), [(40, 0)], "{recovery:?}");
        // FlightSize is three: segments of limited transmit do not count.
        assert_eq!(pair.sender.law().ssthresh(), 2.0, "{recovery:?}");
        assert_eq!(pair.sender.counters().timeouts, 0);
    }
}

#[test]
fn losses_in_one_window_take_one_round_trip_with_sack_and_one_each_without() {
    let repaired = |recovery| {
        let mut pair = Pair::new(avoiding_at(20), config(recovery));
        pair.doomed = vec![0, 3, 6, 9];
        pair.run_until(at(199));
        assert_eq!(pair.sender.counters().timeouts, 0, "{recovery:?}");
        assert_eq!(pair.sender.counters().recoveries, 1, "{recovery:?}");
        pair.repairs()
    };
    assert_eq!(repaired(Recovery::Sack), [(20, 0), (20, 3), (20, 6), (20, 9)]);
    assert_eq!(repaired(Recovery::SackPrr), [(20, 0), (20, 3), (20, 6), (20, 9)]);
    assert_eq!(repaired(Recovery::NewReno), [(20, 0), (40, 3), (60, 6), (80, 9)]);
}

#[test]
fn a_transfer_that_has_no_new_data_fills_holes_and_its_tail_without_the_timer() {
    for recovery in [Recovery::Sack, Recovery::SackPrr] {
        let ten = SenderConfig { segments: Some(10), ..config(recovery) };
        // NextSeg() rule (3): 8 and 9 alone are SACKed behind 7, which is not lost by count.
        let mut pair = Pair::new(starting_at(10), ten);
        pair.doomed = vec![4, 7];
        pair.run_until(at(100));
        // The rescue of rule (4) has no better choice than to repeat 7, when 4 is acknowledged.
        assert_eq!(pair.repairs(), [(20, 4), (20, 7), (40, 7)], "{recovery:?}");
        // Rule (4): nothing is SACKed behind 9.
        let mut pair = Pair::new(starting_at(10), ten);
        pair.doomed = vec![4, 9];
        pair.run_until(at(100));
        assert_eq!(pair.repairs(), [(20, 4), (40, 9)], "{recovery:?}");
        assert_eq!(pair.sender.counters().completed, Some(at(60)));
    }
}

#[test]
fn a_rescue_repeats_what_has_just_left_when_the_data_ends_in_recovery() {
    for recovery in [Recovery::Sack, Recovery::SackPrr] {
        let forty = SenderConfig { segments: Some(40), ..config(recovery) };
        let mut pair = Pair::new(starting_at(10), forty);
        pair.doomed = vec![8, 23];
        pair.run_until(at(100));
        // 8 and 23 are lost by count at 40 ms. At 60 ms the first of them is acknowledged, and the window releases the
        // last new segments and one more: HighACK is above RescueRxt, so NextSeg() rule (4) repeats the highest segment
        // that is not SACKed, though it was sent just before (RFC 6675 §4).
        assert_eq!(pair.repairs(), [(40, 8), (40, 23), (60, 39)], "{recovery:?}");
        let last = pair.sent.iter().filter(|sent| sent.number == 39).map(|sent| (sent.at, sent.again));
        assert_eq!(last.collect::<Vec<_>>(), [(at(60), false), (at(60), true)], "{recovery:?}");
        // Once per entry into recovery; the rescue ended this recovery without the timer.
        assert_eq!((pair.sender.counters().recoveries, pair.receiver.counters().duplicates), (1, 1), "{recovery:?}");
        assert_eq!(pair.sender.counters().completed, Some(at(80)));
    }
}

#[test]
fn a_second_recovery_repeats_what_the_first_has_repeated_beyond_its_end() {
    let mut pair = Pair::new(starting_at(10), SenderConfig { segments: Some(40), ..config(Recovery::Sack) });
    pair.doomed = vec![1, 12, 15];
    pair.run_until(at(1_000));
    // The first recovery ends behind 13, but NextSeg() rule (1) has no bound: it repeats 15, too. Then 12 is
    // acknowledged, which ends the recovery, and the next SACK begins another, since 15 was lost after the first had
    // halved the window; entry repeats HighACK + 1, whatever was repeated before (RFC 6675 §5, steps (A), (2) and
    // (4.3)).
    assert_eq!(pair.repairs(), [(20, 1), (60, 12), (80, 15), (80, 15)]);
    assert_eq!((pair.sender.counters().recoveries, pair.sender.counters().timeouts), (2, 0));
    assert_eq!(pair.receiver.counters().duplicates, 1);
}

#[test]
fn a_retransmission_that_is_lost_waits_for_the_timer_from_when_it_left() {
    for recovery in ALL {
        let mut pair = Pair::new(avoiding_at(10), config(recovery));
        pair.doomed = vec![4, 4];
        pair.run_until(at(235));
        assert_eq!(pair.repairs(), [(20, 4), (220, 4)], "{recovery:?}");
        assert_eq!(pair.sender.counters().timeouts, 1, "{recovery:?}");
    }
}

#[test]
fn no_second_recovery_begins_before_what_had_left_at_a_timeout_is_acknowledged() {
    for recovery in ALL {
        let mut pair = Pair::new(avoiding_at(10), config(recovery));
        // The first retransmission is lost, too, so the timer ends this recovery; duplicate acknowledgements of the
        // segments that it repeats follow.
        pair.doomed = vec![0, 0];
        pair.run_until(at(3_000));
        assert_eq!((pair.sender.counters().recoveries, pair.sender.counters().timeouts), (1, 1), "{recovery:?}");
    }
}

#[test]
fn proportional_reduction_sends_throughout_recovery_where_pipe_alone_falls_silent_first() {
    // A bottleneck of one segment per millisecond spreads the acknowledgements; the second segment in a window of 20 is
    // lost.
    let gap = |recovery| {
        let link = DropTail::new(Rate::from_mbps(12), Limit::Packets(100));
        let forward = Path::default().then("link", link).then("wire", Wire::new(ms(9)));
        let paths = (forward, Path::default().then("wire", Wire::new(ms(10))));
        let mut pair = Pair::across(avoiding_at(20), config(recovery), ReceiverConfig::new(0), paths);
        pair.doomed = vec![1];
        // The window's acknowledgements arrive until 39 ms.
        pair.run_until(at(39));
        let left: Vec<u64> =
            pair.sent.iter().map(|sent| sent.at.as_nanos() / 1_000_000).filter(|ms| *ms > 20).collect();
        left.windows(2).map(|two| two[1] - two[0]).max()
    };
    assert_eq!(gap(Recovery::SackPrr), Some(2));
    assert!(gap(Recovery::Sack) >= Some(7), "{:?}", gap(Recovery::Sack));
}
