use super::*;
use crate::rng::Rng;

/// Reports every 10 ms over `millis`, with `lost` of each 100 packets lost.
fn drive(brake: &mut Brake, from: u64, millis: u64, lost: u32, queue: bool) -> Vec<(u64, Demand)> {
    let pressure = Pressure { lost, delivered: 100 - lost, queue, window: 60.0, least: 8.0 };
    (from..from + millis)
        .step_by(10)
        .filter_map(|ms| Some((ms, brake.on_report(Time::ZERO + Span::from_millis(ms), &pressure)?)))
        .collect()
}

#[test]
fn repair_is_halved_every_half_second_after_one_second_and_the_session_ends_after_ten() {
    let mut brake = Brake::new(0.03);
    assert_eq!(drive(&mut brake, 0, 1000, 5, false), []);
    assert_eq!(brake.limit(), None);
    assert_eq!(drive(&mut brake, 1000, 10, 5, false), [(1000, Demand::Lower)]);
    assert_eq!(brake.limit(), Some(30.0));
    drive(&mut brake, 1010, 3000, 5, false);
    assert_eq!(brake.limit(), Some(0.0), "30, 15, 7.5, 3.75, 1.9, then none");
    drive(&mut brake, 4010, 5990, 5, false);
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    assert!(!brake.is_over(at(9_999)) && brake.is_over(at(10_000)));
    assert!(brake.is_over(at(10_990)) && !brake.is_over(at(11_000)), "the last report is of 9990 ms");
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
    drive(&mut brake, 0, 4000, 5, false);
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
    let idle = Pressure { lost: 0, delivered: 0, queue: false, window: 60.0, least: 8.0 };
    let at = |millis: u64| Time::ZERO + Span::from_millis(millis);
    for millis in (100..12_000).step_by(10) {
        assert_eq!(brake.on_report(at(millis), &idle), None);
        assert!(!brake.is_over(at(millis)), "after {millis} ms");
    }
}

/// A packet every 25 ms, 40 a second, of which those are lost; and when the source was asked for less, in milliseconds.
fn drive_slowly(brake: &mut Brake, packets: core::ops::Range<u64>, mut is_lost: impl FnMut(u64) -> bool) -> Vec<u64> {
    let mut drive = |packet| {
        let lost = u32::from(is_lost(packet));
        let pressure = Pressure { lost, delivered: 1 - lost, queue: false, window: 10.0, least: 10.0 };
        brake.on_report(Time::ZERO + Span::from_millis(25 * packet), &pressure)
    };
    packets.filter(|packet| drive(*packet) == Some(Demand::Lower)).map(|packet| 25 * packet).collect()
}

#[test]
fn half_a_dark_second_of_a_slow_stream_is_no_loss_that_stays() {
    // 20 of 200 packets are 10 %.
    let mut brake = Brake::new(0.03);
    assert!(drive_slowly(&mut brake, 0..2000, |packet| (400..420).contains(&packet)).is_empty());
    assert_eq!(brake.limit(), None);
}

#[test]
fn a_slow_stream_that_loses_a_tenth_is_braked_a_second_after_the_average_is_full_and_ended_after_ten() {
    let mut brake = Brake::new(0.03);
    let asked = drive_slowly(&mut brake, 0..401, |packet| packet % 20 < 2);
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
            drive_slowly(&mut brake, packet..packet + 1, |_| is_lost);
            assert!(!brake.is_over(Time::ZERO + Span::from_millis(25 * packet)), "seed {seed}, packet {packet}");
        }
    }
}

#[test]
fn a_dip_does_not_set_the_clock_back_and_low_loss_that_lasts_does() {
    for (dip, ends) in [(300, true), (1000, false)] {
        let mut brake = Brake::new(0.03);
        drive(&mut brake, 0, 5000, 5, false);
        // Of 5 % and 2 % the average is below 3 % while more than two thirds of it are of the dip: from 270 ms on, and of
        // the short one until 130 ms after its end.
        drive(&mut brake, 5000, dip, 2, false);
        drive(&mut brake, 5000 + dip, 5100 - dip, 5, false);
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
