//! Endpoints whose process is suspended for a while, as on a machine that is paused, and then goes on.

use thalweg_core::session::tunnel::{Config, Event};
use thalweg_core::time::Time;
use thalweg_core::units::Rate;

use crate::tunnel::story::{CLIENT, SERVER, Story, at, config, ms, rough, wire};

/// The one-way delay in milliseconds.
const WAY: u64 = 50;

/// The time at which a side reported that its link was resumed.
fn resumed(story: &Story, side: usize) -> Option<Time> {
    story.sides[side].events.iter().find(|(_, event)| matches!(event, Event::Resumed { .. })).map(|(when, _)| *when)
}

/// Data without an end in both directions, and `side` frozen from 2 s on, for `pause` milliseconds. The criterion is
/// the issue's, and the ten packets of a first window at the rate. The next data at an end is what its peer had sent in
/// vain before: all other data waits behind it.
fn data_flows_after(config: &Config, side: usize, pause: u64) {
    let mut story = Story::new(config.clone(), wire(WAY), wire(WAY));
    story.answer = (1 << 30, true);
    let id = story.open(1 << 30, true);
    story.until(2_000).freeze(side, true).until(2_000 + pause).freeze(side, false);
    story.until(2_000 + pause + 5_000);
    for end in [CLIENT, SERVER] {
        let since = resumed(&story, end).expect("it went on");
        let arrivals = &story.app(end, id).arrivals;
        let after: Vec<Time> = arrivals.iter().map(|(when, _)| *when).filter(|when| *when > since).collect();
        let context = format!("{:?}, {side} frozen for {pause} ms, {end} resumed at {since:?}", config.rate);
        assert!(
            after.first().is_some_and(|next| next.since(since) <= ms(4 * WAY + 10)),
            "{context}: {:?}",
            after.first()
        );
        // There is no later stall either.
        let last = after.iter().fold((since, ms(0)), |(before, most), now| (*now, most.max(now.since(before))));
        assert!(last.1 < ms(1_000) && last.0 + ms(1_000) > story.now, "{context}: {last:?}");
    }
}

#[test]
fn data_flows_within_two_round_trips_of_resumed() {
    let paced = |law: &str| Config {
        rate: law.parse().expect("a law"),
        max_rate: Some(Rate::from_mbps(10)),
        ..Config::default()
    };
    for config in [config(10), paced("copa"), paced("cubic")] {
        for (side, pause) in [(CLIENT, 20_000), (SERVER, 20_000), (CLIENT, 40_000), (SERVER, 16_000)] {
            data_flows_after(&config, side, pause);
        }
    }
}

/// The other endpoint does not notice the pause: the packets that the path and the socket have kept arrive, and nothing
/// stalls after that.
#[test]
fn a_pause_that_ends_before_anybody_is_missed_is_forgotten_at_once() {
    let mut story = Story::new(config(20), rough(1), rough(2));
    let id = story.open(1 << 30, true);
    story.until(2_000).freeze(SERVER, true).until(16_000).freeze(SERVER, false);
    story.until(26_000);
    assert_eq!(story.count(CLIENT, |event| matches!(event, Event::Interrupted { .. })), 0);
    let arrivals = &story.app(SERVER, id).arrivals;
    let after = arrivals.iter().map(|(when, _)| *when).filter(|when| *when > at(16_000));
    let (_, most) = after.fold((at(16_000), ms(0)), |(before, most), now| (now, most.max(now.since(before))));
    assert!(most < ms(3_100), "{most}");
}
