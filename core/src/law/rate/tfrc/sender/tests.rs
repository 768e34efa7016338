//! A sender with hand-made reports, over virtual time: round trips of 100 ms, packets of 1000 bytes.

use super::*;
use crate::units::Bytes;
use proptest::prelude::*;

const S: Bytes = Bytes(1000);
const R: Span = Span::from_millis(100);

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn sender(media: Rate) -> Sender {
    Sender::new(Time::ZERO, Config::new(S, media)).expect("a valid configuration")
}

/// A report about the packets sent a round trip ago.
fn report(now: Time, x_recv: f64, p: f64) -> Feedback {
    Feedback { recvdata: now - R, delay: Span::ZERO, x_recv, p, new_loss_event: false }
}

/// Sends all packets that the sender allows until `end`.
fn greedy(sender: &mut Sender, end: Time) -> Vec<Data> {
    let mut sent = Vec::new();
    while sender.next_send() <= end {
        let now = sender.next_send();
        sent.extend(sender.poll_packet(now));
    }
    sent
}

/// A sender that was never idle, with a report of full delivery each 100 ms: `reports` times.
fn in_slow_start(reports: u64) -> (Sender, Time) {
    let mut sender = sender(Rate::from_mbps(1000));
    greedy(&mut sender, at(0));
    for round in 1..=reports {
        let x_recv = if round == 1 { 0.0 } else { sender.allowed() };
        let now = at(100 * round);
        greedy(&mut sender, now - Span::from_nanos(1));
        sender.handle_feedback(now, &report(now, x_recv, 0.0)).expect("true");
    }
    (sender, at(100 * reports))
}

#[test]
fn sender_starts_at_one_packet_a_second_then_uses_w_init() {
    let mut sender = sender(Rate::from_mbps(10));
    let sent = greedy(&mut sender, at(1500));
    assert_eq!(sent.iter().map(|data| data.sent).collect::<Vec<_>>(), [at(0), at(1000)]);
    assert!(sent.iter().all(|data| data.rtt.is_none()));
    let feedback =
        Feedback { recvdata: at(0), delay: Span::from_millis(1400), x_recv: 0.0, p: 0.0, new_loss_event: false };
    sender.handle_feedback(at(1500), &feedback).expect("true");
    assert_eq!(sender.rtt(), Some(R), "what the receiver held it back is no round trip");
    // W_init = min(4 s, max(2 s, 4380)) = 4000 bytes.
    assert_eq!(sender.allowed(), 40_000.0);
    // Large packets: max(2 s, 4380) = 4380.
    let mut large = Sender::new(at(0), Config::new(Bytes(1460), Rate::from_mbps(10))).expect("valid");
    large.poll_packet(at(0)).expect("the first packet");
    large.handle_feedback(at(100), &report(at(100), 0.0, 0.0)).expect("true");
    assert_eq!(large.allowed(), 43_800.0);
}

#[test]
fn the_round_trip_is_smoothed_by_nine_tenths() {
    let (mut sender, now) = in_slow_start(1);
    let later = now + Span::from_millis(150);
    sender.poll_packet(now + Span::from_millis(1)).expect("it is time");
    let feedback = Feedback { recvdata: now, delay: Span::from_millis(30), x_recv: 1e4, p: 0.0, new_loss_event: false };
    sender.handle_feedback(later, &feedback).expect("true");
    // .9 100 + .1 (150 - 30).
    assert_eq!(sender.rtt(), Some(Span::from_millis(102)));
}

#[test]
fn slow_start_doubles_once_a_round_trip() {
    let (mut sender, now) = in_slow_start(5);
    assert_eq!(sender.allowed(), 40_000.0 * 16.0);
    // A second report in the same round trip does not double the rate.
    let soon = now + Span::from_millis(50);
    sender.handle_feedback(soon, &report(soon, 640_000.0, 0.0)).expect("true");
    assert_eq!(sender.allowed(), 640_000.0);
}

#[test]
fn slow_start_stays_below_twice_the_receive_rate() {
    let (mut sender, _) = in_slow_start(5);
    for round in 6..=8 {
        greedy(&mut sender, at(100 * round) - Span::from_nanos(1));
        sender.handle_feedback(at(100 * round), &report(at(100 * round), 100_000.0, 0.0)).expect("true");
    }
    assert_eq!(sender.allowed(), 200_000.0);
}

#[test]
fn first_reports_do_not_limit_the_rate_for_two_round_trips() {
    // A receiver answers every packet with X_recv = 0 until one carries a round trip: no data-limited interval (§4.3).
    let mut early = sender(Rate::from_mbps(10));
    greedy(&mut early, at(0));
    early.handle_feedback(at(100), &report(at(100), 0.0, 0.0)).expect("true");
    early.handle_feedback(at(200), &report(at(200), 0.0, 0.0)).expect("true");
    assert_eq!(early.allowed(), 80_000.0);
    // The two round trips of Infinity begin with the first packet, however early the sender was created.
    let mut late = sender(Rate::from_mbps(10));
    late.poll_packet(at(10_000)).expect("the first packet");
    late.handle_feedback(at(10_100), &report(at(10_100), 0.0, 0.0)).expect("true");
    greedy(&mut late, at(10_199));
    late.handle_feedback(at(10_200), &report(at(10_200), 10_000.0, 0.0)).expect("true");
    assert_eq!(late.allowed(), 80_000.0);
}

#[test]
fn first_loss_switches_the_rate_to_the_equation() {
    let (mut sender, now) = in_slow_start(5);
    greedy(&mut sender, now + Span::from_millis(99));
    let later = now + R;
    sender.handle_feedback(later, &report(later, 300_000.0, 1.0 / 150.0)).expect("true");
    // 10^4 / (1/15 + (1 + 32/22500)/250): see the equation's own tests.
    let expected = 1e4 / (1.0 / 15.0 + (1.0 + 32.0 / 22_500.0) / 250.0);
    assert!((sender.allowed() - expected).abs() < 1e-3);
    assert!((sender.rate().as_bps() as f64 - 8.0 * expected).abs() < 1.0);
}

#[test]
fn missing_feedback_halves_slow_start_every_four_round_trips() {
    let (mut sender, now) = in_slow_start(5);
    greedy(&mut sender, now + Span::from_millis(1));
    assert_eq!(sender.poll_timeout(), Some(now + R * 4));
    sender.handle_timeout(now + R * 4 - Span::from_nanos(1));
    assert_eq!(sender.allowed(), 640_000.0, "not before its time");
    let mut now = now;
    for halved in [320_000.0, 160_000.0, 80_000.0] {
        greedy(&mut sender, now + R * 4);
        now += R * 4;
        sender.handle_timeout(now);
        assert_eq!(sender.allowed(), halved);
        assert_eq!(sender.poll_timeout(), Some(now + R * 4));
    }
}

#[test]
fn missing_feedback_halves_the_limit_down_to_a_packet_in_64_seconds() {
    // If X_recv is the limit, X goes from 2 X_recv to X_recv. If X_Bps is, X is halved.
    let x_bps = 1e4 / (1.0 / 15.0 + (1.0 + 32.0 / 22_500.0) / 250.0);
    for (x_recv, before, after) in [(50_000.0, 100_000.0, 50_000.0), (300_000.0, x_bps, x_bps / 2.0)] {
        let (mut sender, now) = in_slow_start(5);
        let mut now = now;
        for _ in 0..4 {
            greedy(&mut sender, now + R - Span::from_nanos(1));
            now += R;
            sender.handle_feedback(now, &report(now, x_recv, 1.0 / 150.0)).expect("true");
        }
        assert!((sender.allowed() - before).abs() < 1e-3, "{} is not {before}", sender.allowed());
        let mut rates = (0..20).map(|_| {
            let next = sender.poll_timeout().expect("always set");
            greedy(&mut sender, next);
            sender.handle_timeout(next);
            sender.allowed()
        });
        let first = rates.next().expect("twenty");
        assert!((first - after).abs() < 1e-3, "{first} is not {after}");
        assert_eq!(rates.last(), Some(1000.0 / 64.0));
    }
}

#[test]
fn initial_rate_is_halved_without_feedback_only_after_sending() {
    let mut silent = sender(Rate::from_mbps(1));
    silent.handle_timeout(at(2000));
    assert_eq!(silent.allowed(), 1000.0);
    let mut lonely = sender(Rate::from_mbps(1));
    for halved in [500.0, 250.0, 125.0] {
        let now = lonely.poll_timeout().expect("always set");
        greedy(&mut lonely, now);
        lonely.handle_timeout(now);
        assert_eq!(lonely.allowed(), halved);
        // 2 s / X.
        assert_eq!(lonely.poll_timeout(), Some(now + Span::from_secs_f64(2000.0 / halved)));
    }
}

#[test]
fn idle_sender_keeps_at_least_the_initial_rate() {
    // X is 16 times the initial rate; timeouts while idle halve it until it is below twice the initial rate.
    let (mut sender, _) = in_slow_start(5);
    for expected in [320_000.0, 160_000.0, 80_000.0, 40_000.0, 40_000.0] {
        let now = sender.poll_timeout().expect("always set");
        sender.handle_timeout(now);
        assert_eq!(sender.allowed(), expected);
    }
}

#[test]
fn a_data_limited_sender_does_not_grow_beyond_twice_what_it_sends() {
    // The application has 80 kB/s, far below what slow start would reach in 20 round trips.
    let mut sender = sender(Rate::from_bps(640_000));
    greedy(&mut sender, at(0));
    for round in 1..=20 {
        let now = at(100 * round);
        let x_recv = if round == 1 { 0.0 } else { sender.allowed().min(80_000.0) };
        greedy(&mut sender, now - Span::from_nanos(1));
        sender.handle_feedback(now, &report(now, x_recv, 0.0)).expect("true");
    }
    assert_eq!(sender.allowed(), 160_000.0);
    assert_eq!(sender.rate(), Rate::from_bps(640_000));
    // A quieter second does not lower it: only the largest report counts while the sender is data-limited.
    for round in 21..=30 {
        let now = at(100 * round);
        sender.poll_packet(now - Span::from_millis(60)).expect("late for any rate");
        sender.handle_feedback(now, &report(now, 10_000.0, 0.0)).expect("true");
    }
    assert_eq!(sender.allowed(), 160_000.0);
    // Loss does lower it: entries are halved, X_recv counts at 85 %, and the maximum itself is the limit.
    sender.poll_packet(at(3040)).expect("late for any rate");
    sender.handle_feedback(at(3100), &report(at(3100), 10_000.0, 1e-4)).expect("true");
    assert_eq!(sender.allowed(), 40_000.0);
    // A new loss event does so even if p has not grown.
    sender.poll_packet(at(3140)).expect("late for any rate");
    let event = Feedback { new_loss_event: true, ..report(at(3200), 10_000.0, 5e-5) };
    sender.handle_feedback(at(3200), &event).expect("true");
    assert_eq!(sender.allowed(), 20_000.0);
    sender.poll_packet(at(3240)).expect("late for any rate");
    sender.handle_feedback(at(3300), &report(at(3300), 10_000.0, 5e-5)).expect("true");
    assert_eq!(sender.allowed(), 40_000.0, "no event, no loss: twice the largest entry");
}

#[test]
fn late_timers_do_not_reduce_the_pacing_rate() {
    let (mut sender, now) = in_slow_start(5);
    greedy(&mut sender, now);
    // 640 kB/s is a packet every 1.5625 ms. A driver that wakes every millisecond is late by up to a millisecond.
    let mut woken = now;
    let mut sent = 0;
    while woken < now + Span::from_millis(99) {
        woken += Span::from_millis(1);
        while sender.poll_packet(woken).is_some() {
            sent += 1;
        }
    }
    // 99 / 1.5625 = 63.4.
    assert!((63..=64).contains(&sent), "{sent}");
    // After a pause the credit is a millisecond's: one packet, not the forty of the pause.
    let later = woken + Span::from_millis(63);
    assert!(sender.poll_packet(later).is_some());
    assert!(sender.poll_packet(later).is_none());
}

#[test]
fn the_media_rate_is_never_exceeded() {
    let (mut sender, now) = in_slow_start(8);
    sender.set_media_rate(Rate::from_mbps(4)).expect("valid");
    assert!(sender.allowed() * 8.0 > 4e7);
    let sent = greedy(&mut sender, now + Span::from_secs(1)).len();
    // 4 Mb/s are 500 packets per second; one more for both ends, two for a millisecond of credit.
    assert!((500..=502).contains(&sent), "{sent}");
}

#[test]
fn damping_follows_the_square_root_of_the_round_trip() {
    let mut sender =
        Sender::new(at(0), Config { damping: true, ..Config::new(S, Rate::from_mbps(100)) }).expect("valid");
    greedy(&mut sender, at(0));
    sender.handle_feedback(at(100), &report(at(100), 0.0, 0.0)).expect("true");
    assert_eq!(sender.rate().as_bps(), 320_000, "R_sqmean is the first sample's root");
    greedy(&mut sender, at(110));
    // A sample of 400 ms: R_sqmean = .9 sqrt(.1) + .1 sqrt(.4) = 1.1 sqrt(.1), over sqrt(.4): 0.55. X: 2 X = 80 kB/s.
    let feedback = Feedback { recvdata: at(100), delay: Span::ZERO, x_recv: 1e6, p: 0.0, new_loss_event: false };
    sender.handle_feedback(at(500), &feedback).expect("true");
    assert_eq!(sender.allowed(), 80_000.0);
    assert!((sender.rate().as_bps() as f64 - 0.55 * 640_000.0).abs() <= 1.0);
}

#[test]
fn invalid_feedback_is_refused_and_changes_nothing() {
    let (sender, now) = in_slow_start(3);
    let good = report(now, 1e4, 0.0);
    let long_ago = Feedback { recvdata: Time::ZERO, ..good };
    for (lie, error) in [
        (Feedback { recvdata: now + Span::from_nanos(1), ..good }, BadFeedback::Time),
        (Feedback { delay: R + Span::from_nanos(1), ..good }, BadFeedback::Time),
        (long_ago, BadFeedback::Overtaken),
        (Feedback { x_recv: -1.0, ..good }, BadFeedback::ReceiveRate),
        (Feedback { x_recv: f64::INFINITY, ..good }, BadFeedback::ReceiveRate),
        (Feedback { x_recv: f64::NAN, ..good }, BadFeedback::ReceiveRate),
        (Feedback { p: f64::NAN, ..good }, BadFeedback::LossEventRate),
        (Feedback { p: 1.1, ..good }, BadFeedback::LossEventRate),
    ] {
        let mut copy = sender.clone();
        assert_eq!(copy.handle_feedback(now, &lie), Err(error));
        assert_eq!(copy, sender);
    }
}

#[test]
fn configuration_out_of_range_is_refused() {
    let good = Config::new(S, Rate::from_mbps(1));
    for bad in [
        Config { segment: Bytes(0), ..good },
        Config { segment: Bytes(65_536), ..good },
        Config { media_rate: Rate::from_bps(124), ..good },
        Config { media_rate: Rate::from_mbps(2_000_000), ..good },
        Config { granularity: Span::from_millis(1001), ..good },
    ] {
        assert!(Sender::new(at(0), bad).is_err(), "{bad:?}");
    }
    assert!(Sender::new(at(0), Config { media_rate: Rate::from_bps(125), ..good }).is_ok());
}

/// Arbitrary events of a sender: time passes, and a report with arbitrary times and numbers arrives.
fn anything() -> impl Strategy<Value = (u64, u64, u64, f64, f64, bool)> {
    let p = prop_oneof![Just(0.0), 0.0..=1.0f64, any::<f64>()];
    let x_recv = prop_oneof![0.0..1e9f64, any::<f64>()];
    let span = || prop_oneof![0u64..1_000_000_000, 0u64..1 << 40, any::<u64>()];
    (0u64..1 << 36, span(), span(), x_recv, p, any::<bool>())
}

proptest! {
    #[test]
    fn arbitrary_feedback_keeps_the_rate_within_its_bounds(
        steps in proptest::collection::vec(anything(), 1..60),
        segment in 1u64..=65_535,
        mbps in 1u64..10_000,
        damping: bool,
    ) {
        let config = Config { damping, ..Config::new(Bytes(segment), Rate::from_mbps(mbps)) };
        let mut sender = Sender::new(Time::ZERO, config).expect("valid");
        let mut now = Time::ZERO;
        for (gap, recvdata, delay, x_recv, p, new_loss_event) in steps {
            now += Span::from_nanos(gap);
            let _ = sender.poll_packet(now);
            sender.handle_timeout(now);
            let (recvdata, delay) = (now - Span::from_nanos(recvdata), Span::from_nanos(delay));
            let feedback = Feedback { recvdata, delay, x_recv, p, new_loss_event };
            let _ = sender.handle_feedback(now, &feedback);
            let slowest = segment as f64 / 64.0;
            prop_assert!(sender.allowed() >= slowest && sender.allowed() <= FASTEST, "{}", sender.allowed());
            prop_assert!(sender.rate().as_bps() as f64 + 1.0 >= 8.0 * slowest && sender.rate() <= config.media_rate);
            // No packet leaves before the media rate's send time, and the next one at most 64 s after the last.
            prop_assert!(sender.next_send() <= now + Span::from_secs(65));
        }
    }
}
