//! Faults of paths, which connections do not notice: every byte that is read is compared with the byte that was
//! written. Whatever else is wrong with a path, both directions are rough, too.

use thalweg_core::law::rate::Choice;
use thalweg_core::law::schedule;
use thalweg_core::rng::Rng;
use thalweg_core::session::tunnel::{Config, Event};
use thalweg_core::time::Time;
use thalweg_core::units::Rate;
use thalweg_lab::node::loss::{Gilbert, Loss};
use thalweg_lab::path::Path;

use crate::tunnel::story::{CLIENT, SERVER, Story, config, ms, rough};

/// The number of bytes to carry. One story carries four times as many: a gibibyte in the long tier.
fn size() -> usize {
    if std::env::var_os("THALWEG_TEST_ALL").is_some() { 1 << 28 } else { 2 << 20 }
}

/// Carries `size()` bytes one way and a quarter of it the other, to the end of both, in the default window.
fn carries(forward: Path, reverse: Path, during: impl FnOnce(&mut Story)) -> Story {
    carries_with(fast(), size(), forward, reverse, during)
}

/// A tunnel at a fixed rate of 100 Mb/s.
fn fast() -> Config {
    Config { rate: Choice::Fixed(Rate::from_mbps(100)), ..Config::default() }
}

fn carries_with(config: Config, size: usize, forward: Path, reverse: Path, during: impl FnOnce(&mut Story)) -> Story {
    let mut story = Story::new(config, forward, reverse);
    story.answer = (size / 4, true);
    let id = story.open(size, true);
    during(&mut story);
    assert!(story.runs_to_its_end(3_600_000), "{:?}", story.app(SERVER, id).arrivals.last());
    assert_eq!([story.app(SERVER, id).read, story.app(CLIENT, id).read], [size, size / 4]);
    assert!(story.app(CLIENT, id).closed.is_some() && story.app(SERVER, id).closed.is_some());
    story
}

#[test]
fn loss_reordering_copies_and_damage() {
    carries_with(fast(), 4 * size(), rough(1), rough(2), |_| {});
}

#[test]
fn bursts_of_loss() {
    let gilbert = Gilbert { to_bad: 0.02, to_good: 0.2, loss_bad: 0.9, loss_good: 0.005 };
    let path = |seed| rough(seed).then("bursts", Loss::bursts(gilbert, Rng::new(seed).fork("bursts")));
    carries(path(3), path(4), |_| {});
}

/// Schedules that repair ahead of a loss do so in a tunnel, too.
#[test]
fn every_schedule_carries_all_bytes() {
    let repairs_ahead = ["adaptive", "cost-based", "opportunistic"];
    for law in schedule::Choice::all() {
        let schedule = schedule::Choice::named(law.name).expect("its name");
        let config = Config { schedule, ..config(50) };
        carries_with(config, 1 << 18, rough(21), rough(22), |story| {
            story.until_read(1 << 17);
            let sent = story.end(CLIENT).links().next().expect("a link").sent();
            assert!(sent.new > 0 && (sent.repair > 0) == repairs_ahead.contains(&law.name), "{law}: {sent:?}");
        });
    }
}

/// The return path loses 30 % of the acknowledgements that the rough path leaves.
#[test]
fn a_way_back_that_loses_a_third_more() {
    let back = rough(5).then("third", Loss::independent(0.3, Rng::new(5).fork("third")));
    carries(rough(12), back, |_| {});
}

/// An outage of five seconds ends no association: the stream goes on at most a timer of 0.8 s and a trip after the
/// outage.
#[test]
fn five_dark_seconds() {
    let mut light = Time::ZERO;
    let story = carries(rough(6), rough(7), |story| {
        let dark = story.until_read(size() / 2).now;
        story.dark = true;
        light = dark + ms(5000);
        story.until(light.as_nanos() / 1_000_000).dark = false;
    });
    assert_eq!(story.count(CLIENT, |event| matches!(event, Event::Interrupted { .. })), 0);
    let (_, app) = story.sides[SERVER].apps.first_key_value().expect("one");
    let (again, _) = *app.arrivals.iter().find(|(when, _)| *when > light).expect("it goes on");
    assert!(again < light + ms(1500), "{again:?}, {light:?}");
}

#[test]
fn an_address_that_changes_midway() {
    let mut story = carries(rough(8), rough(9), |story| {
        story.until_read(size() / 3).client_at = "192.0.2.1:6000".parse().expect("an address");
        story.until_read(size() / 3 * 2).client_at = "192.0.2.1:6001".parse().expect("an address");
    });
    // The last third may take less than a round trip, and a lost proof is requested again by the next heartbeat.
    story.until(story.now.as_nanos() / 1_000_000 + 10_000);
    let moved = |port| move |event: &Event| matches!(event, Event::Moved { to, .. } if to.port() == port);
    assert_eq!([6000, 6001].map(|port| story.count(SERVER, moved(port))), [1, 1]);
    assert_eq!(story.count(CLIENT, |event| matches!(event, Event::Interrupted { .. })), 0);
}

/// The configuration of a user: the default law, the default window.
#[test]
fn all_of_it_with_what_is_the_default() {
    carries_with(Config::default(), 1 << 20, rough(10), rough(11), |story| {
        story.until(1000).dark = true;
        story.until(3000).dark = false;
        story.client_at = "192.0.2.1:6000".parse().expect("an address");
    });
}
