//! The latency that both ends keep: a number, or what the path needs.

use thalweg_core::rng::Rng;
use thalweg_core::session::live::receiver::{self, Event as Heard};
use thalweg_core::session::live::sender::{self, Event as Said};
use thalweg_core::session::live::{Latency, Playout};
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::jitter::{Distribution, Jitter};
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;

use crate::live::auto::auto;
use crate::live::props::{address, at, ms, receiver_config, sender_config, wire};
use crate::live::story::Story;
use crate::live::variant::{Variant, stories};

const MEDIA: Rate = Rate::from_mbps(10);

/// A number in milliseconds, or none.
type Given = Option<u64>;

fn latency(given: Given) -> Latency {
    given.map_or(Latency::Auto, |millis| ms(millis).into())
}

/// The sender's and the receiver's latency.
fn configs(sender: Given, receiver: Given) -> (sender::Config, receiver::Config) {
    let said = sender::Config { repair: auto(), latency: latency(sender), ..sender_config() };
    (said, receiver::Config { latency: latency(receiver), ..receiver_config() })
}

/// A stream of some seconds, from one second on.
fn story_with(variant: Variant, (sender, receiver): (sender::Config, receiver::Config), path: [Path; 2]) -> Story {
    let [forward, reverse] = path;
    let mut story = variant.story(sender, receiver, forward, reverse);
    story.until(1000).play(MEDIA).until(4000);
    story
}

/// Both directions of a path without loss.
fn path(round_trip: u64) -> [Path; 2] {
    [wire(ms(round_trip) / 2), wire(ms(round_trip) / 2)]
}

/// A stream whose ends both leave the latency to the path.
fn story(variant: Variant, round_trip: u64) -> Story {
    story_with(variant, configs(None, None), path(round_trip))
}

/// The latency with which both ends say that the stream has begun, and the round trip that it follows from.
fn begun(story: &Story) -> (Span, Option<Span>) {
    let said = story.sender_events.iter().find_map(|(_, event)| match *event {
        Said::Connected { latency, round_trip, .. } => Some((latency, round_trip)),
        _ => None,
    });
    let heard = story.receiver_events.iter().find_map(|(_, event)| match *event {
        Heard::Started { latency, round_trip, .. } => Some((latency, round_trip)),
        _ => None,
    });
    assert_eq!(said, heard);
    said.expect("a stream")
}

/// The latency that both ends keep now.
fn kept(story: &mut Story) -> f64 {
    let [said, heard] = [story.sender_metrics(), story.receiver_metrics()].map(|all| all["latency_bound_seconds"]);
    assert_eq!(said.to_bits(), heard.to_bits(), "{said} {heard}");
    said
}

/// The raises of which both ends have said the same, with the time at the receiver.
fn raises(story: &Story) -> Vec<(u64, Span, Span)> {
    let said: Vec<_> = story
        .sender_events
        .iter()
        .filter_map(|(_, event)| match *event {
            Said::LatencyRaised { from, to, round_trip } => Some((from, to, round_trip)),
            _ => None,
        })
        .collect();
    let heard: Vec<_> = story
        .receiver_events
        .iter()
        .filter_map(|(when, event)| match *event {
            Heard::LatencyRaised { from, to, round_trip } => Some((*when, (from, to, round_trip))),
            _ => None,
        })
        .collect();
    assert_eq!(said, heard.iter().map(|(_, raise)| *raise).collect::<Vec<_>>());
    heard.iter().map(|(when, (from, to, _))| (when.as_nanos() / 1_000_000, *from, *to)).collect()
}

stories! {
    [auto, auto_keyed]:
    latency_follows_from_the_round_trip,
    a_receiver_that_calls_gets_the_latency_of_its_path,
    a_longer_path_raises_the_latency,
}

/// RTT / 2 + max(40 ms, 1.25 RTT).
fn latency_follows_from_the_round_trip(variant: Variant) {
    for (round_trip, needed) in [(20, 50), (100, 175), (200, 350)] {
        let mut story = story(variant, round_trip);
        assert_eq!(begun(&story), (ms(needed), Some(ms(round_trip))));
        assert_eq!(kept(&mut story).to_bits(), ms(needed).as_secs_f64().to_bits());
        assert_eq!((story.lost(1000, 3500), raises(&story)), (0, vec![]));
    }
}

#[test]
fn a_number_wins_over_auto_and_the_longer_of_two_applies() {
    for (sender, receiver, needed) in
        [(Some(60), None, 60), (None, Some(400), 400), (None, Some(120), 120), (Some(90), Some(150), 150)]
    {
        let mut story = story_with(Variant::auto(), configs(sender, receiver), path(100));
        assert_eq!(begun(&story), (ms(needed), None), "{sender:?} {receiver:?}");
        assert_eq!(kept(&mut story).to_bits(), ms(needed).as_secs_f64().to_bits());
    }
}

fn a_receiver_that_calls_gets_the_latency_of_its_path(variant: Variant) {
    for lossy in [false, true] {
        let to = address("10.0.0.1:5000");
        let (sender, receiver) = configs(None, None);
        let sender = sender::Config { to, listens: true, ..sender };
        let receiver = receiver::Config { call: Some(to), ..receiver };
        let loss = |seed| wire(ms(50)).then("loss", Loss::independent(if lossy { 0.3 } else { 0.0 }, Rng::new(seed)));
        let story = story_with(variant, (sender, receiver), [loss(1), loss(2)]);
        assert_eq!(begun(&story), (ms(175), Some(ms(100))), "{lossy}");
    }
}

/// Every packet of constant playout leaves at the latency, the first one as well.
#[test]
fn no_media_leaves_before_the_latency_is_known() {
    for seed in 0..5 {
        let (sender, receiver) = configs(None, None);
        let receiver = receiver::Config { playout: Playout::Constant, ..receiver };
        let lossy = |seed| wire(ms(100)).then("loss", Loss::independent(0.2, Rng::new(seed)));
        let mut story = Story::new(sender, receiver, lossy(seed), lossy(seed + 100));
        story.play(MEDIA).until(6000);
        let near = |latency: Span| latency.saturating_sub(ms(350)) + ms(350).saturating_sub(latency) < ms(2);
        assert!(
            story.outputs.iter().all(|output| near(output.latency)),
            "{} {}",
            story.latency(0.0),
            story.latency(1.0)
        );
        assert!(story.outputs.len() > 3000, "{}", story.outputs.len());
    }
}

/// A minimum of the round trip lasts for five to ten seconds.
fn a_longer_path_raises_the_latency(variant: Variant) {
    let mut story = story(variant, 20);
    [story.forward, story.reverse] = path(100);
    story.until(20_000);
    let raises = raises(&story);
    let [(when, from, to)] = raises[..] else { panic!("{raises:?}") };
    assert_eq!((from, to), (ms(50), ms(175)));
    assert!((9000..=14_500).contains(&when), "{when} ms");
    // What was on the path when it changed is lost.
    assert_eq!((story.lost(1000, 3985), story.lost(4000, 19_000)), (0, 0));
    assert!(story.is_in_order());
}

#[test]
fn repair_is_in_time_again_once_the_latency_is_raised() {
    let lossy = |round_trip: u64| {
        let loss = Loss::independent(0.02, Rng::new(round_trip));
        [Path::default().then("loss", loss).then("wire", Wire::new(ms(round_trip) / 2)), wire(ms(round_trip) / 2)]
    };
    let mut story = story_with(Variant::auto(), configs(None, None), lossy(20));
    [story.forward, story.reverse] = lossy(100);
    story.until(40_000);
    let raises = raises(&story);
    let [(when, ..)] = raises[..] else { panic!("{raises:?}") };
    let of = story.inputs.iter().filter(|input| **input >= at(when + 1000)).count();
    let lost = story.lost(when + 1000, 39_000);
    // The price at which `--repair auto` buys repair: fewer than one in a thousand is left.
    assert!(lost * 1000 <= of, "{lost} of {of}");
}

#[test]
fn constant_playout_stalls_once() {
    let (sender, receiver) = configs(None, None);
    let receiver = receiver::Config { playout: Playout::Constant, ..receiver };
    let mut story = story_with(Variant::auto(), (sender, receiver), path(20));
    [story.forward, story.reverse] = path(100);
    story.until(40_000);
    let raises = raises(&story);
    let [(when, ..)] = raises[..] else { panic!("{raises:?}") };
    let stalls: Vec<_> = story
        .outputs
        .windows(2)
        .filter(|pair| pair[0].at > at(4500) && pair[1].at.since(pair[0].at) > ms(10))
        .map(|pair| pair[1].at.since(pair[0].at))
        .collect();
    assert!(stalls.len() == 1 && stalls[0] <= ms(175), "{stalls:?}");
    let near = |latency: Span| latency.saturating_sub(ms(175)) + ms(175).saturating_sub(latency) < ms(2);
    let later = story.outputs.iter().filter(|output| output.at > at(when + 2000));
    assert!(later.clone().all(|output| near(output.latency)), "{:?}", later.map(|output| output.latency).max());
    assert_eq!(story.lost(4100, 39_000), 0);
}

#[test]
fn a_number_is_kept_on_a_longer_path() {
    for (sender, receiver) in [(Some(60), None), (None, Some(60))] {
        let mut story = story_with(Variant::auto(), configs(sender, receiver), path(20));
        [story.forward, story.reverse] = path(100);
        story.until(20_000);
        assert_eq!((raises(&story), kept(&mut story).to_bits()), (vec![], ms(60).as_secs_f64().to_bits()));
    }
}

#[test]
fn a_shorter_path_keeps_the_latency() {
    let mut story = story(Variant::auto(), 100);
    [story.forward, story.reverse] = path(20);
    story.until(30_000);
    assert_eq!((raises(&story), kept(&mut story).to_bits()), (vec![], ms(175).as_secs_f64().to_bits()));
    assert_eq!(story.lost(4100, 29_000), 0);
}

#[test]
fn jitter_does_not_raise_the_latency() {
    let jittered = |seed| wire(ms(20)).then("jitter", Jitter::new(Distribution::Uniform(ms(30)), true, Rng::new(seed)));
    let mut story = story_with(Variant::auto(), configs(None, None), [jittered(1), jittered(2)]);
    story.until(60_000);
    assert_eq!(raises(&story), []);
}

#[test]
fn a_full_queue_does_not_raise_the_latency() {
    for packets in [5, 60, 300] {
        let queue = DropTail::new(Rate::from_mbps(8), Limit::Packets(packets));
        let forward = Path::default().then("queue", queue).then("wire", Wire::new(ms(10)));
        let mut story = story_with(Variant::auto(), configs(None, None), [forward, wire(ms(10))]);
        story.until(60_000);
        let (latency, _) = begun(&story);
        assert!(latency.saturating_sub(ms(50)) < ms(1), "{latency}");
        assert_eq!(raises(&story), [], "{packets}");
    }
}
