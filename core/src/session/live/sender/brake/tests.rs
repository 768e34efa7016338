use super::*;
use crate::rng::Rng;

/// Report of so many packets, the lost ones among them one by one.
fn pressure(lost: u32, delivered: u32, queue: bool) -> Pressure {
    let mut passed = Sample::default();
    (0..delivered).for_each(|_| passed.deliver(Span::from_millis(40)));
    (0..lost).for_each(|_| passed.lose(true, Some(Span::from_millis(40))));
    passed.report(queue);
    let lag = Span::from_millis(60);
    Pressure { lost, delivered, passed, queue, lag, window: 60.0, bounds: (8.0, 60.0), k: 25.0, block: 25.0 }
}

/// Reports every 10 ms over `millis`, with `lost` of each 100 packets lost.
fn drive(brake: &mut Brake, from: u64, millis: u64, lost: u32, queue: bool) -> Vec<(u64, Demand)> {
    let pressure = pressure(lost, 100 - lost, queue);
    (from..from + millis)
        .step_by(10)
        .filter_map(|ms| Some((ms, brake.on_report(Time::ZERO + Span::from_millis(ms), &pressure)?)))
        .collect()
}

/// Reports every 10 ms, each of ten blocks of 25 packets with the repair that the brake allows, of which `lost` are
/// lost.
fn drive_path(brake: &mut Brake, from: u64, millis: u64, lost: impl Fn(f64) -> f64) -> Vec<(u64, Demand)> {
    let mut demands = Vec::new();
    for ms in (from..from + millis).step_by(10) {
        let sent = 10.0 * (25.0 + brake.window(60.0));
        let lost = lost(sent).max(0.0);
        let pressure = pressure(lost as u32, (sent - lost) as u32, false);
        demands.extend(brake.on_report(Time::ZERO + Span::from_millis(ms), &pressure).map(|demand| (ms, demand)));
    }
    demands
}

/// The path takes `room` packets of a block and its repair.
fn drive_full(brake: &mut Brake, from: u64, millis: u64, room: f64) -> Vec<(u64, Demand)> {
    drive_path(brake, from, millis, |sent| sent - 10.0 * room)
}

#[test]
fn repair_goes_to_nothing_on_a_full_path_and_the_session_ends_after_ten_seconds() {
    let mut brake = Brake::new(0.03);
    // Of 85 packets 23 are lost, of 33 nine, and of 25 one, 4 %.
    drive_full(&mut brake, 0, 1000, 24.0);
    assert_eq!(brake.limit(), None);
    assert_eq!(drive_full(&mut brake, 1000, 10, 24.0), [(1000, Demand::Lower)], "more than half of them");
    assert_eq!(brake.limit(), Some(8.0));
    drive_full(&mut brake, 1010, 2000, 24.0);
    assert_eq!(brake.limit(), Some(0.0), "4, 2, 1, then none");
    drive_full(&mut brake, 3010, 6990, 24.0);
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    assert!(!brake.is_over(at(9_999)));
    // A probe may be under way just then.
    assert!((10_000..=13_000).any(|millis| {
        drive_full(&mut brake, millis, 1, 24.0);
        brake.is_over(at(millis))
    }));
}

#[test]
fn a_lossy_path_is_told_from_a_full_one_by_what_less_repair_changes() {
    let mut brake = Brake::new(0.03);
    let drive_lossy = |brake: &mut Brake, from, millis, ratio| drive_path(brake, from, millis, |sent| sent * ratio);
    assert_eq!(drive_lossy(&mut brake, 0, 1010, 0.05), []);
    assert_eq!(brake.limit(), Some(8.0), "the question");
    drive_lossy(&mut brake, 1010, 600, 0.05);
    // n q - 5 sqrt(p q n) = 25 has n = 32.9 at p = 0.05; the law's least is 8.
    assert_eq!((brake.limit(), brake.window(60.0), brake.window(8.0)), (Some(8.0), 8.0, 8.0));
    // With a tenth lost the question is put again, and n = 38.1.
    drive_lossy(&mut brake, 1610, 4000, 0.1);
    assert!((brake.window(60.0) - 13.1).abs() < 0.5 && brake.window(8.0) == brake.window(60.0), "{brake:?}");
    assert!(!brake.is_over(Time::ZERO + Span::from_secs(12)));
    // Without loss there is nothing to ask.
    drive_lossy(&mut brake, 5610, 4000, 0.0);
    assert_eq!((brake.limit(), brake.window(9.0)), (None, 9.0));
}

#[test]
fn losses_at_the_height_of_the_delay_are_a_queues() {
    let mut brake = Brake::new(0.03);
    for ms in (0..4000).step_by(10) {
        let mut pressure = pressure(0, 0, false);
        // The queue of 3 ms is found at any length, and losses are found at its end.
        (0..95).for_each(|nth| pressure.passed.deliver(Span::from_micros(40_000 + nth * 3000 / 95)));
        (0..5).for_each(|_| pressure.passed.lose(true, Some(Span::from_micros(43_000))));
        (pressure.lost, pressure.delivered) = (5, 95);
        brake.on_report(Time::ZERO + Span::from_millis(ms), &pressure);
    }
    assert_eq!(brake.limit(), Some(0.0));
}

#[test]
fn a_full_queue_takes_repair_to_its_least_within_300_ms_and_asks_nobody() {
    let mut brake = Brake::new(0.03);
    assert_eq!(drive(&mut brake, 0, 310, 5, true), []);
    assert_eq!(brake.limit(), Some(8.0), "30, 15 and 8 after 100, 200 and 300 ms");
    drive(&mut brake, 310, 400, 5, true);
    assert_eq!(brake.limit(), Some(8.0), "no less before it has stayed for a second");
    assert_eq!(drive(&mut brake, 710, 3000, 0, false), []);
    assert_eq!(brake.limit(), None);
}

#[test]
fn when_loss_has_gone_repair_is_let_up_and_the_source_is_told_once() {
    let mut brake = Brake::new(0.03);
    drive(&mut brake, 0, 4000, 5, true);
    assert_eq!(brake.limit(), Some(0.0));
    let events = drive(&mut brake, 4000, 10_000, 0, false);
    let restored = events.iter().filter(|(_, demand)| *demand == Demand::Restored).count();
    assert_eq!((restored, events.last().map(|(_, demand)| *demand)), (1, Some(Demand::Restored)), "{events:?}");
    assert_eq!(brake.limit(), None);
}

#[test]
fn a_source_that_pauses_after_a_loss_is_not_taken_for_one_that_floods() {
    let mut brake = Brake::new(0.03);
    drive(&mut brake, 0, 100, 5, false);
    let idle = pressure(0, 0, false);
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    for millis in (100..12_000).step_by(10) {
        assert_eq!(brake.on_report(at(millis), &idle), None);
        assert!(!brake.is_over(at(millis)), "after {millis} ms");
    }
}

/// A packet every 25 ms, 40 a second, of which those are lost; and when the source was asked for less, in milliseconds.
fn drive_slowly(
    brake: &mut Brake,
    packets: core::ops::Range<u64>,
    queue: bool,
    mut is_lost: impl FnMut(u64) -> bool,
) -> Vec<u64> {
    let mut drive = |packet| {
        let lost = u32::from(is_lost(packet));
        let pressure = Pressure { window: 10.0, bounds: (10.0, 60.0), ..pressure(lost, 1 - lost, queue) };
        brake.on_report(Time::ZERO + Span::from_millis(25 * packet), &pressure)
    };
    packets.filter(|packet| drive(*packet) == Some(Demand::Lower)).map(|packet| 25 * packet).collect()
}

#[test]
fn half_a_dark_second_of_a_slow_stream_is_no_loss_that_stays() {
    // 20 of 200 packets are 10 %.
    let mut brake = Brake::new(0.03);
    assert!(drive_slowly(&mut brake, 0..2000, false, |packet| (400..420).contains(&packet)).is_empty());
    assert_eq!(brake.limit(), None);
}

#[test]
fn a_slow_stream_that_loses_a_tenth_is_braked_a_second_after_the_average_is_full_and_ended_after_ten() {
    let mut brake = Brake::new(0.03);
    let asked = drive_slowly(&mut brake, 0..401, true, |packet| packet % 20 < 2);
    // From the first of 200 packets to the last are 4.975 s, 4.575 s more than the 0.4 s of a fast stream.
    assert_eq!(asked.first(), Some(&5575));
    assert_eq!(brake.limit(), Some(0.0), "10, 5, 2.5, 1.25, none");
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    assert!(!brake.is_over(at(9_999)) && brake.is_over(at(10_000)));
}

#[test]
fn bursts_of_one_percent_end_no_slow_stream_within_hours() {
    for seed in 1..=4 {
        let (mut rng, mut is_bad) = (Rng::new(seed), false);
        let mut brake = Brake::new(0.03);
        for packet in 0..2 * 3600 * 40 {
            // Gilbert's model: 1.15 % in bursts of 2.3 on average.
            is_bad = rng.below(1000) < if is_bad { 700 } else { 5 };
            let is_lost = is_bad && rng.below(10) < 7;
            drive_slowly(&mut brake, packet..packet + 1, false, |_| is_lost);
            assert!(!brake.is_over(Time::ZERO + Span::from_millis(25 * packet)), "seed {seed}, packet {packet}");
        }
    }
}

#[test]
fn a_dip_does_not_set_the_clock_back_and_low_loss_that_lasts_does() {
    for (dip, ends) in [(300, true), (1000, false)] {
        let mut brake = Brake::new(0.03);
        drive(&mut brake, 0, 5000, 5, true);
        // Of 5 % and 2 % the average is below 3 % while more than two thirds of it are of the dip: from 270 ms on, and
        // of the short one until 130 ms after its end.
        drive(&mut brake, 5000, dip, 2, true);
        drive(&mut brake, 5000 + dip, 5100 - dip, 5, true);
        assert_eq!(brake.is_over(Time::ZERO + Span::from_millis(10_090)), ends, "after {dip} ms");
    }
}

#[test]
fn bursts_shorter_than_a_second_do_not_touch_it() {
    let mut brake = Brake::new(0.03);
    for burst in 0..20 {
        assert_eq!(drive(&mut brake, burst * 2000, 100, 20, false), []);
        assert_eq!(drive(&mut brake, burst * 2000 + 100, 1900, 0, false), []);
        assert_eq!(brake.limit(), None);
    }
}
