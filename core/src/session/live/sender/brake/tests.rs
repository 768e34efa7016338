use super::*;
use crate::rng::Rng;

/// A report of so many packets, whose losses are isolated.
fn pressure(lost: u32, delivered: u32, queue: bool) -> Pressure {
    let mut passed = Sample::default();
    (0..delivered).for_each(|_| passed.deliver(Span::from_millis(40)));
    (0..lost).for_each(|_| passed.lose(true, Some(Span::from_millis(40))));
    passed.report(queue);
    let lag = Span::from_millis(60);
    Pressure {
        lost,
        delivered,
        passed,
        round_trip: None,
        queue,
        lag,
        window: 60.0,
        bound: 60.0,
        bounds: (8.0, 60.0),
        k: 25.0,
        block: 25.0,
    }
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

/// Drives a path that takes `capacity` packets of each block and its repair.
fn drive_full(brake: &mut Brake, from: u64, millis: u64, capacity: f64) -> Vec<(u64, Demand)> {
    drive_path(brake, from, millis, |sent| sent - 10.0 * capacity)
}

#[test]
fn repair_drops_to_zero_on_a_full_path_and_the_session_ends_after_10_s() {
    let mut brake = Brake::new(0.03);
    // Of 85 packets 61 are lost, of 33 nine, and of 25 one, 4 %.
    drive_full(&mut brake, 0, 1000, 24.0);
    assert_eq!(brake.limit(), None);
    assert_eq!(drive_full(&mut brake, 1000, 10, 24.0), [(1000, Demand::Lower)], "more than half of them");
    assert_eq!(brake.limit(), Some(8.0));
    drive_full(&mut brake, 1010, 2000, 24.0);
    assert_eq!(brake.limit(), Some(0.0), "4, 2, 1, then none");
    drive_full(&mut brake, 3010, 6990, 24.0);
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    assert!(!brake.is_over(at(9_999)));
    // A probe may be in progress just then.
    assert!((10_000..=13_000).any(|millis| {
        drive_full(&mut brake, millis, 1, 24.0);
        brake.is_over(at(millis))
    }));
}

#[test]
fn lossy_path_is_distinguished_from_a_full_one_by_reducing_repair() {
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
    // Without loss there is no question.
    drive_lossy(&mut brake, 5610, 4000, 0.0);
    assert_eq!((brake.limit(), brake.window(9.0)), (None, 9.0));
}

#[test]
fn losses_at_peak_delay_are_attributed_to_a_queue() {
    let mut brake = Brake::new(0.03);
    for ms in (0..4000).step_by(10) {
        let mut pressure = pressure(0, 0, false);
        // Packets find the queue of 3 ms at any length; losses occur at its full length.
        (0..95).for_each(|nth| pressure.passed.deliver(Span::from_micros(40_000 + nth * 3000 / 95)));
        (0..5).for_each(|_| pressure.passed.lose(true, Some(Span::from_micros(43_000))));
        (pressure.lost, pressure.delivered) = (5, 95);
        brake.on_report(Time::ZERO + Span::from_millis(ms), &pressure);
    }
    assert_eq!(brake.limit(), Some(0.0));
}

#[test]
fn full_queue_lowers_repair_to_its_minimum_in_300_ms_without_a_demand() {
    let mut brake = Brake::new(0.03);
    assert_eq!(drive(&mut brake, 0, 310, 5, true), []);
    assert_eq!(brake.limit(), Some(8.0), "30, 15 and 8 after 100, 200 and 300 ms");
    drive(&mut brake, 310, 400, 5, true);
    assert_eq!(brake.limit(), Some(8.0), "no less before it has stayed for a second");
    assert_eq!(drive(&mut brake, 710, 3000, 0, false), []);
    assert_eq!(brake.limit(), None);
}

#[test]
fn repair_is_restored_after_loss_ends_and_reported_once() {
    let mut brake = Brake::new(0.03);
    drive(&mut brake, 0, 4000, 5, true);
    assert_eq!(brake.limit(), Some(0.0));
    let events = drive(&mut brake, 4000, 10_000, 0, false);
    let restored = events.iter().filter(|(_, demand)| *demand == Demand::Restored).count();
    assert_eq!((restored, events.last().map(|(_, demand)| *demand)), (1, Some(Demand::Restored)), "{events:?}");
    assert_eq!(brake.limit(), None);
}

#[test]
fn pause_of_the_source_after_a_loss_does_not_end_the_session() {
    let mut brake = Brake::new(0.03);
    drive(&mut brake, 0, 100, 5, false);
    let idle = pressure(0, 0, false);
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    for millis in (100..12_000).step_by(10) {
        assert_eq!(brake.on_report(at(millis), &idle), None);
        assert!(!brake.is_over(at(millis)), "after {millis} ms");
    }
}

/// Sends a packet every 25 ms, 40 a second, of which some are lost. Returns the times at which the source was asked for
/// a lower rate, in milliseconds.
fn drive_slowly(
    brake: &mut Brake,
    packets: core::ops::Range<u64>,
    queue: bool,
    mut is_lost: impl FnMut(u64) -> bool,
) -> Vec<u64> {
    let mut drive = |packet| {
        let lost = u32::from(is_lost(packet));
        let pressure = Pressure { window: 10.0, bound: 10.0, bounds: (10.0, 60.0), ..pressure(lost, 1 - lost, queue) };
        brake.on_report(Time::ZERO + Span::from_millis(25 * packet), &pressure)
    };
    packets.filter(|packet| drive(*packet) == Some(Demand::Lower)).map(|packet| 25 * packet).collect()
}

#[test]
fn half_second_outage_of_a_slow_stream_does_not_brake_it() {
    // 20 of 200 packets are 10 %.
    let mut brake = Brake::new(0.03);
    assert!(drive_slowly(&mut brake, 0..2000, false, |packet| (400..420).contains(&packet)).is_empty());
    assert_eq!(brake.limit(), None);
}

#[test]
fn slow_stream_with_ten_percent_loss_is_braked_then_ended() {
    let mut brake = Brake::new(0.03);
    let asked = drive_slowly(&mut brake, 0..481, true, |packet| packet % 20 < 2);
    // The first and the last of 200 packets are 4.975 s apart, 4.575 s more than the 0.4 s of a fast stream.
    assert_eq!(asked.first(), Some(&5575));
    assert_eq!(brake.limit(), Some(0.0), "10, 5, 2.5, 1.25, none");
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    assert!(!brake.is_over(at(11_999)) && brake.is_over(at(12_000)));
}

#[test]
fn burst_loss_of_one_percent_does_not_end_a_slow_stream() {
    for seed in 1..=4 {
        let (mut rng, mut is_bad) = (Rng::new(seed), false);
        let mut brake = Brake::new(0.03);
        for packet in 0..2 * 3600 * 40 {
            // Gilbert's model: a loss of 1.15 %, in bursts of 2.3 on average.
            is_bad = rng.below(1000) < if is_bad { 700 } else { 5 };
            let is_lost = is_bad && rng.below(10) < 7;
            drive_slowly(&mut brake, packet..packet + 1, false, |_| is_lost);
            assert!(!brake.is_over(Time::ZERO + Span::from_millis(25 * packet)), "seed {seed}, packet {packet}");
        }
    }
}

#[test]
fn short_dip_in_loss_keeps_the_timer_and_a_long_one_resets_it() {
    for (dip, ends) in [(300, true), (1000, false)] {
        let mut brake = Brake::new(0.03);
        drive(&mut brake, 0, 5000, 5, true);
        // The average of 5 % and 2 % is below 3 % while more than two thirds of it are of the dip: from 270 ms on, and
        // after the short dip until 130 ms after its end.
        drive(&mut brake, 5000, dip, 2, true);
        drive(&mut brake, 5000 + dip, 7100 - dip, 5, true);
        assert_eq!(brake.is_over(Time::ZERO + Span::from_millis(12_090)), ends, "after {dip} ms");
    }
}

#[test]
fn bursts_shorter_than_a_second_do_not_brake() {
    let mut brake = Brake::new(0.03);
    for burst in 0..20 {
        assert_eq!(drive(&mut brake, burst * 2000, 100, 20, false), []);
        assert_eq!(drive(&mut brake, burst * 2000 + 100, 1900, 0, false), []);
        assert_eq!(brake.limit(), None);
    }
}
