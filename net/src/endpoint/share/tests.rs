mod world;

use thalweg_core::law::rate::share::Coupling;

use super::*;
use crate::media_url::MediaUrl;
use world::{World, address, plan, planned};

/// The largest share of a need less the smallest.
fn spread(rates: &[f64], needs: &[f64]) -> f64 {
    let shares: Vec<f64> = rates.iter().zip(needs).map(|(rate, need)| rate / need).collect();
    shares.iter().copied().fold(0.0, f64::max) - shares.iter().copied().fold(f64::INFINITY, f64::min)
}

fn three(coupling: Coupling) -> World {
    let streams = [planned("tv", 6001, 6), planned("laptop", 6002, 4), planned("phone", 6003, 2)];
    World::new(plan(coupling, &streams))
}

/// Needs of 12 Mb/s over a link of 6: each stream gets about half of its own. The bar of the issue: a spread below .15.
#[test]
fn streams_get_the_same_share_of_what_they_need() {
    for coupling in [Coupling::Measured, Coupling::Rfc8699] {
        let mut world = three(coupling);
        world.run(40);
        let rates = world.run(120);
        let spread = spread(&rates, &[6.0, 4.0, 2.0]);
        println!("{coupling}: {rates:.2?} Mb/s, spread {spread:.3}");
        assert!(spread < 0.15, "{coupling}: {rates:?}");
        assert!(rates.iter().sum::<f64>() > 4.5, "{coupling}: {rates:?}");
        let found = world.figure("tv", "satisfaction_ratio");
        assert!((0.2..0.9).contains(&found), "{found}");
    }
}

#[test]
fn changed_plan_ends_begins_and_resizes_streams_and_a_bad_one_changes_nothing() {
    let mut world = three(Coupling::Measured);
    world.run(10);
    world.script.push(Err(Error::new("home.toml", "line 3: no such key")));
    world.run(1);
    assert_eq!((world.warnings().len(), world.endpoint.streams.len()), (1, 3), "{:?}", world.reports);
    // The laptop leaves, the phone needs more, and a tablet joins.
    world.add_receiver(6004);
    let streams = [planned("tv", 6001, 6), planned("phone", 6003, 6), planned("tablet", 6004, 3)];
    world.script.push(Ok(plan(Coupling::Measured, &streams)));
    world.run(60);
    let names: Vec<_> = world.endpoint.streams.iter().map(|stream| stream.planned.name.clone()).collect();
    assert_eq!((names.join(" "), world.events("reloaded")), ("tv phone tablet".to_owned(), 1));
    let rates = world.run(60);
    assert!(spread(&[rates[0], rates[2], rates[3]], &[6.0, 6.0, 3.0]) < 0.15 && rates[1] == 0.0, "{rates:?}");
    // The session of the television has gone on.
    assert_eq!((world.figure("tv", "calls_total"), world.events("connected")), (1.0, 4), "{:?}", world.reports);
}

#[test]
fn stream_with_another_receiver_begins_anew_and_one_that_cannot_begin_harms_no_other() {
    let mut world = World::new(plan(Coupling::Fixed, &[planned("tv", 6001, 2), planned("phone", 6002, 1)]));
    world.run(5);
    world.add_receiver(6003);
    let lost = Planned { input: "file:/no/such/video.ts".parse().expect("a URL"), ..planned("hall", 6004, 1) };
    world.script.push(Ok(plan(Coupling::Fixed, &[planned("tv", 6003, 2), planned("phone", 6002, 1), lost])));
    world.run(5);
    let rates = world.run(10);
    assert!(rates[0] == 0.0 && rates[1] > 0.8 && rates[2] > 1.6, "{rates:?}");
    let warnings = world.warnings();
    assert!(
        matches!(&warnings[..], [one] if one.text.starts_with("hall: input file:/no/such/video.ts")),
        "{warnings:?}"
    );
}

#[test]
fn receiver_that_goes_and_forged_datagrams_harm_no_other_stream() {
    let mut world = three(Coupling::Measured);
    world.run(20);
    let gone = world.receivers.remove(0);
    world.delivered.remove(0);
    let forged = [0x81, 205, 0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
    for port in [5999, 6002, 6003] {
        let _ = world.endpoint.handle_datagram(world.now, address(port), &forged);
    }
    world.run(10);
    let rates = world.run(20);
    assert!(rates[0] > 2.0 && rates[1] > 1.0, "{rates:?}");
    assert_eq!(world.events("silent"), 1, "{:?}", world.reports);
    world.receivers.insert(0, gone);
    world.delivered.insert(0, 0);
    world.run(60);
    let rates = world.run(30);
    assert!(rates[0] > 1.0, "{rates:?}");
}

#[test]
fn stop_says_goodbye_to_all_receivers() {
    let mut world = three(Coupling::Measured);
    world.run(2);
    world.endpoint.finish(world.now);
    world.run(2);
    assert!(world.endpoint.is_over() && world.events("ended") == 3, "{:?}", world.reports);
}

/// RFC 5348 §4.4: without feedback the rate halves again and again. What the stream leaves is for the others.
#[test]
fn stream_without_feedback_for_ten_seconds_leaves_its_share_and_gets_it_back() {
    let mut world = three(Coupling::Measured);
    world.run(40);
    world.muted = Some(6001);
    world.run(2);
    let rates = world.run(8);
    assert!(rates[0] < 0.5 && rates[1] > 2.2 && rates[2] > 1.1, "{rates:?}");
    world.run(1);
    assert_eq!(world.events("silent"), 1, "{:?}", world.reports);
    world.muted = None;
    world.run(60);
    let rates = world.run(60);
    assert!(spread(&rates, &[6.0, 4.0, 2.0]) < 0.15, "{rates:?}");
}

/// A machine that was suspended: no code has run, and the clock goes on elsewhere.
#[test]
fn clock_that_jumps_by_ten_seconds_ends_no_stream() {
    let mut world = three(Coupling::Measured);
    world.run(40);
    world.now += Span::from_secs(10);
    world.run(30);
    let rates = world.run(60);
    assert!(spread(&rates, &[6.0, 4.0, 2.0]) < 0.15, "{rates:?}");
    assert_eq!((world.endpoint.streams.len(), world.events("ended")), (3, 0), "{:?}", world.reports);
}

/// Without THALWEG_TEST_ALL=1, five minutes in place of an hour.
#[test]
fn memory_is_flat_over_an_hour() {
    let minutes = if std::env::var_os("THALWEG_TEST_ALL").is_some() { 60 } else { 5 };
    let mut world = three(Coupling::Measured);
    world.run(180);
    let rest = allocation_counter::measure(|| drop(world.run((minutes - 3) * 60)));
    println!("{} bytes more after {minutes} minutes than after 3", rest.bytes_current);
    assert!(rest.bytes_current < 1 << 20, "{rest:?}");
}

/// On an idle link of 6 Mb/s the law leaves more than the stream can use.
#[test]
fn encoder_is_not_asked_for_more_than_its_stream_can_use() {
    let file = std::env::temp_dir().join(format!("thalweg-share-most-{}", std::process::id()));
    let command = format!("exec:while read line; do echo $line >>{}; done", file.display());
    let stream = Planned { input: MediaUrl::input(&command).expect("a command"), ..planned("phone", 6001, 1) };
    let mut world = World::new(plan(Coupling::Measured, &[stream]));
    world.run(20);
    let wanted = world.figure("phone", "wanted_rate_bps");
    assert!(wanted > 1.2e6, "{wanted}");
    let rates = std::fs::read_to_string(&file).expect("the encoder has run");
    let _ = std::fs::remove_file(&file);
    let asked: Vec<u64> = rates.lines().filter_map(|line| line.strip_prefix("rate ")?.parse().ok()).collect();
    assert!(!asked.is_empty() && asked.iter().all(|rate| *rate <= 1_000_000), "{asked:?}");
}
