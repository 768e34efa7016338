//! Slow start, the receive window, the timer, delayed acknowledgements.

use thalweg_core::law::window::CongestionWindow;
use thalweg_core::time::{Span, Time};
use thalweg_lab::tcp::{DELAYED_ACK, Receiver, ReceiverConfig, Recovery, SenderConfig};

use crate::tcp::pair::{ALL, Pair, at, avoiding_at, config, ms, probed, starting_at};

#[test]
fn slow_start_doubles_every_round_trip() {
    let mut pair = Pair::new(starting_at(2), config(Recovery::Sack));
    pair.run_until(at(79));
    let left = |round: u64| pair.sent.iter().filter(|sent| sent.at == at(20 * round)).count();
    assert_eq!([left(0), left(1), left(2), left(3)], [2, 4, 8, 16]);
    assert_eq!(pair.sender.flight(), 16);
}

#[test]
fn a_window_of_the_receiver_holds_the_sender_back_and_its_own_does_not_grow() {
    let held = SenderConfig { receive_window: 7, ..config(Recovery::Sack) };
    let mut pair = Pair::new(starting_at(10), held);
    pair.run_until(at(1_000));
    assert_eq!(pair.sender.flight(), 7);
    assert_eq!(pair.receiver.delivered(), 7 * 50);
    assert_eq!(pair.sender.law().cwnd(), 10.0);
}

#[test]
fn a_lost_tail_waits_for_the_timer_which_doubles() {
    for recovery in ALL {
        let finite = SenderConfig { segments: Some(10), ..config(recovery) };
        let mut pair = Pair::new(starting_at(10), finite);
        pair.doomed = vec![9, 9, 9];
        pair.run_until(Time::ZERO + Span::from_secs(10));
        // Acknowledgements at 20 ms, all samples alike: RTO is its minimum, 200 ms, then twice and four times as much.
        assert_eq!(pair.repairs(), [(220, 9), (620, 9), (1420, 9)], "{recovery:?}");
        assert_eq!(pair.sender.counters().completed, Some(at(1440)), "{recovery:?}");
        assert_eq!(pair.sender.counters().timeouts, 3);
        // RFC 5681 §3.1: ten acknowledged segments leave one in flight; the threshold falls once, to its minimum.
        assert_eq!(pair.sender.law().ssthresh(), 2.0);
        // No sample was taken since: the timer is still backed off.
        assert_eq!(probed(&pair.sender, "rto"), 1.6);
        assert_eq!(pair.sender.flight(), 0);
    }
}

#[test]
fn before_any_sample_the_timer_is_a_second() {
    let mut pair = Pair::new(starting_at(1), config(Recovery::Sack));
    pair.doomed = vec![0, 0];
    pair.run_until(at(3_500));
    assert_eq!(pair.repairs(), [(1_000, 0), (3_000, 0)]);
}

#[test]
fn after_a_timeout_everything_leaves_again_in_order_and_what_was_sacked_does_not() {
    for recovery in ALL {
        let mut pair = Pair::new(avoiding_at(8), config(recovery));
        // Of a window only 7 arrives: one duplicate, and one new segment by limited transmit, which is lost, too.
        pair.doomed = vec![0, 1, 2, 3, 4, 5, 6, 8];
        pair.run_until(Time::ZERO + Span::from_secs(2));
        let again: Vec<u64> = pair.repairs().iter().map(|repair| repair.1).collect();
        assert_eq!(pair.sender.counters().timeouts, 1, "{recovery:?}");
        // Without SACK the sender does not know that 7 has arrived until 6 has, and 7 leaves before that is
        // acknowledged.
        let unknown = u64::from(!recovery.has_sack());
        assert_eq!(again, (0..=8).filter(|number| *number != 7 || unknown == 1).collect::<Vec<_>>(), "{recovery:?}");
        assert_eq!(pair.receiver.counters().duplicates, unknown, "{recovery:?}");
    }
}

#[test]
fn delayed_acknowledgements_are_half_as_many() {
    let mut pair = Pair::new(avoiding_at(10), config(Recovery::Sack));
    pair.run_until(at(2_005));
    assert_eq!(pair.acks, pair.receiver.delivered());
    let mut pair = Pair::new(avoiding_at(10), config(Recovery::Sack));
    pair.receiver = Receiver::new(ReceiverConfig { delay: Some(DELAYED_ACK), ..ReceiverConfig::new(0) });
    pair.run_until(at(2_005));
    assert!(pair.receiver.delivered() > 1_000);
    assert!(pair.acks.abs_diff(pair.receiver.delivered() / 2) <= 2, "{}", pair.acks);
}

#[test]
fn a_start_is_kept() {
    let late = SenderConfig { start: at(123), ..config(Recovery::Sack) };
    let mut pair = Pair::new(starting_at(1), late);
    pair.run_until(at(123) + ms(1));
    assert_eq!(pair.sent.iter().map(|sent| sent.at).collect::<Vec<_>>(), [at(123)]);
}
