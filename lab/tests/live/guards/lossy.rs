//! Paths that lose packets at random, however little is sent: their loss is repaired, and ends no session. And paths
//! without enough capacity, which must not be taken for lossy ones.

use std::collections::BTreeMap;

use thalweg_core::rng::Rng;
use thalweg_core::session::live::sender::{self, Breaker, Event};
use thalweg_core::session::live::{Playout, receiver};
use thalweg_core::time::Span;
use thalweg_core::units::Rate;
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::loss::{Gilbert, Loss};
use thalweg_lab::node::queue::Limit;
use thalweg_lab::path::Path;

use crate::live::props::{at, ms, receiver_config, sender_config, wire};
use crate::live::story::{Policer, Story};
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    a_tenth_of_random_loss_is_repaired_for_as_long_as_it_lasts,
    repair_that_does_not_fit_a_lossy_path_is_cut_to_what_does,
    a_lossy_path_that_becomes_full_is_found_out,
    a_lossy_path_that_becomes_longer_keeps_its_stream_and_its_repair,
}

stories! { [auto]: media_that_grows_during_a_question_hides_no_lossy_path }

const MEDIA: Rate = Rate::from_mbps(10);

/// A path that loses the share `loss` at random.
fn lossy(round_trip: Span, loss: f64, seed: u64) -> Path {
    wire(round_trip / 2).then("loss", Loss::independent(loss, Rng::new(seed)))
}

/// Plays `secs` seconds of media from half a second on, then lets packets in flight arrive.
fn play(story: &mut Story, rate: Rate, secs: u64) {
    story.until(500).play(rate).until(500 + 1000 * secs).pause().until(1500 + 1000 * secs);
}

fn has_ended(story: &Story) -> bool {
    story.sender_events.iter().any(|(_, event)| matches!(event, Event::Ended(_)))
}

/// The source and the repair packets, resends among them, that were sent between two readings of the sender's metrics.
fn sent_between(before: &BTreeMap<&str, f64>, after: &BTreeMap<&str, f64>) -> [f64; 2] {
    let since = |name| after[name] - before[name];
    [since("source_packets_total"), since("repair_packets_total") + since("resent_packets_total")]
}

/// Repair packets per source packet.
fn share(story: &Story) -> f64 {
    let metrics = story.sender_metrics();
    metrics["repair_packets_total"] / metrics["source_packets_total"]
}

/// The defaults, over ten minutes of 10 % loss; one minute in the short run.
fn a_tenth_of_random_loss_is_repaired_for_as_long_as_it_lasts(variant: Variant) {
    let minutes = if std::env::var_os("THALWEG_TEST_ALL").is_some() { 10 } else { 1 };
    for round_trip in [20, 100] {
        let forward = lossy(ms(round_trip), 0.1, 1);
        let mut story = variant.over(forward, wire(ms(round_trip / 2)));
        play(&mut story, MEDIA, 60 * minutes);
        assert!(!has_ended(&story), "{round_trip} ms: {:?}", story.sender_events);
        assert_eq!(story.sender_metrics()["source_packets_total"], story.inputs.len() as f64, "{round_trip} ms");
        // The brake takes a second or two to judge the path, with minimum repair meanwhile. After that less than one
        // packet in a thousand is lost.
        let (begun, lost) =
            (story.inputs.iter().filter(|input| **input >= at(5000)).count(), story.lost(5000, 1 << 30));
        assert!(1000 * lost <= begun, "{round_trip} ms: {lost} of {begun}");
        assert!(story.lost(0, 5000) <= 50, "{round_trip} ms: {} at first", story.lost(0, 5000));
    }
}

/// Video of 1.6 Mb/s that grows by a third as its loss is noticed, as at the start of a recording.
fn media_that_grows_during_a_question_hides_no_lossy_path(variant: Variant) {
    for seed in 1..=6 {
        let sender = sender::Config { latency: ms(90).into(), ..variant.sender() };
        let receiver = receiver::Config { latency: ms(90).into(), ..receiver_config() };
        let mut story = variant.story(sender, receiver, lossy(ms(100), 0.05, seed), wire(ms(50)));
        for picture in 0..500 {
            let (start, packets) = (500 + 40 * picture, if picture < 50 { 6 } else { 8 });
            story.play(Rate::from_mbps(8)).until(start + packets * 5 / 4).pause().until(start + 40);
            assert!(start < 6500 || story.sender_metrics()["loss_cause"] == 0.0, "seed {seed}, {start} ms");
        }
        assert!(!story.sender_events.iter().any(|(_, event)| matches!(event, Event::LowerRate(_))), "seed {seed}");
    }
}

/// A route that is longer by half, with the loss of the one before.
fn a_lossy_path_that_becomes_longer_keeps_its_stream_and_its_repair(variant: Variant) {
    let mut story = variant.over(lossy(ms(40), 0.1, 1), wire(ms(20)));
    story.until(500).play(MEDIA).until(20_500);
    (story.forward, story.reverse) = (lossy(ms(60), 0.1, 2), wire(ms(30)));
    story.until(24_500);
    let before = story.sender_metrics();
    story.until(80_500).pause().until(81_500);
    assert!(!has_ended(&story), "{:?}", story.sender_events);
    let [sources, repairs] = sent_between(&before, &story.sender_metrics());
    assert!(repairs > 0.1 * sources, "four seconds later: {repairs} for {sources}");
}

/// Half, all and twice that loss, fast and slow: repair is enough, and no multiple of what is needed.
#[test]
fn repair_on_a_lossy_path_is_what_its_loss_needs() {
    for (kbps, loss, round_trip) in [
        (10_000, 0.05, 20),
        (10_000, 0.05, 100),
        (10_000, 0.2, 20),
        (10_000, 0.2, 100),
        (30_000, 0.1, 40),
        (1000, 0.1, 40),
    ] {
        let case = format!("{kbps} kb/s, {loss}, {round_trip} ms");
        let latency = ms(200);
        let config = sender::Config { latency: latency.into(), ..sender_config() };
        let receiver =
            receiver::Config { latency: latency.into(), playout: Playout::Asap, ..receiver::Config::default() };
        let mut story = Story::new(config, receiver, lossy(ms(round_trip), loss, 2), wire(ms(round_trip / 2)));
        play(&mut story, Rate::from_bps(kbps * 1000), 30);
        assert!(!has_ended(&story), "{case}: {:?}", story.sender_events);
        let begun = story.inputs.iter().filter(|input| **input >= at(10_000)).count();
        assert!(1000 * story.lost(10_000, 1 << 30) <= begun, "{case}: {} of {begun}", story.lost(10_000, 1 << 30));
        // A block of 21, with a margin of five standard deviations of a binomial, and the law's repair before that: (n
        // q - 5 sqrt(p q n) = 21) has n = 42.6 at a fifth.
        assert!(share(&story) <= 1.1, "{case}: {}", share(&story));
    }
}

/// The video: 0.9 Mb/s for 30 s over bursts that lose a tenth.
fn video(breaker: Breaker, seed: u64) -> usize {
    let gilbert = Gilbert { to_bad: 0.05, to_good: 0.3, loss_bad: 0.7, loss_good: 0.0 };
    let forward = wire(ms(50)).then("loss", Loss::bursts(gilbert, Rng::new(seed)));
    let config = sender::Config { latency: ms(600).into(), block: Some(ms(250)), breaker, ..sender_config() };
    let receiver = receiver::Config { latency: ms(600).into(), playout: Playout::Asap, ..receiver::Config::default() };
    let mut story = Story::new(config, receiver, forward, wire(ms(50)));
    play(&mut story, Rate::from_bps(900_000), 30);
    story.lost(0, 1 << 30)
}

#[test]
fn bursts_are_repaired_by_default_as_well_as_where_only_rfc_8083_guards() {
    let sum = |breaker| (1..=12).map(|seed| video(breaker, seed)).sum::<usize>();
    let (default, letter) = (sum(Breaker::RepairFirst), sum(Breaker::Rfc8083));
    assert!(default <= letter, "{default} lost for good against {letter}");
}

/// Media of 10 Mb/s at its maximum window on a path with the capacity `room`, and no delay that reveals a queue.
fn narrow(room: Rate, is_policed: bool) -> Story {
    let forward = match is_policed {
        true => wire(ms(20)),
        // Shorter than the 5 ms of round trip that indicate a queue.
        false => wire(ms(20)).then("link", DropTail::new(room, Limit::Packets(3))),
    };
    let config = sender::Config { repair: super::at_its_greatest(), ..sender_config() };
    let mut story = Story::new(config, receiver_config(), forward, wire(ms(20)));
    story.policer = is_policed.then(|| Policer::new(room));
    story
}

/// A policer causes no delay, but its loss falls with the rate.
#[test]
fn a_policer_and_a_queue_too_short_to_be_seen_are_full() {
    for is_policed in [true, false] {
        let case = if is_policed { "policer" } else { "short queue" };
        let mut story = narrow(Rate::from_mbps(11), is_policed);
        story.until(500).play(MEDIA).until(4500);
        let before = story.sender_metrics();
        story.until(10_500);
        let after = story.sender_metrics();
        // The media is 10.35 Mb/s on the wire, so a twentieth of it may be repair. Repair that is tried again in vain
        // is less than twice that.
        let [sources, repairs] = sent_between(&before, &after);
        assert!(repairs <= 0.15 * sources, "{case}: {repairs} for {sources}");
        assert!(after["repair_limit_packets"] <= 8.0, "{case}: {after:?}");
        let asked = story.sender_events.iter().any(|(_, event)| matches!(event, Event::LowerRate(_)));
        assert!(asked, "{case}: {:?}", story.sender_events);
    }
}

/// A lossy path without the capacity for all the repair that it needs gets as much repair as fits: with headers a tenth less than
/// 10.35 Mb/s reach the link, which leaves 40 % of 13 Mb/s.
fn repair_that_does_not_fit_a_lossy_path_is_cut_to_what_does(variant: Variant) {
    for (room, most) in [(20, 0.6), (13, 0.39)] {
        let forward = lossy(ms(40), 0.1, 4).then("link", DropTail::new(Rate::from_mbps(room), Limit::Packets(60)));
        let mut story = variant.over(forward, wire(ms(20)));
        story.until(500).play(MEDIA).until(10_500);
        let before = story.sender_metrics();
        story.until(20_500);
        let after = story.sender_metrics();
        assert!(!has_ended(&story), "{room} Mb/s: {:?}", story.sender_events);
        let [sources, repairs] = sent_between(&before, &after);
        // Blocks get their least; repair by its worth at least a packet for every other loss.
        let least = if variant.has_blocks() { 0.1 } else { 0.05 };
        assert!(repairs > least * sources && repairs <= most * sources, "{room} Mb/s: {repairs} for {sources}");
    }
}

/// From 6.5 s on a policer loses as much again: then the loss is not the path's alone, and repair gives way.
fn a_lossy_path_that_becomes_full_is_found_out(variant: Variant) {
    let forward = lossy(ms(40), 0.05, 4);
    let mut story = variant.over(forward, wire(ms(20)));
    story.until(500).play(MEDIA).until(6500);
    assert!(story.sender_metrics()["repair_window_packets"] >= 7.0);
    story.policer = Some(Policer::new(Rate::from_mbps(11)));
    story.until(13_500);
    let before = story.sender_metrics();
    story.until(16_500);
    let after = story.sender_metrics();
    let [sources, repairs] = sent_between(&before, &after);
    assert!(repairs <= 0.15 * sources, "{repairs} for {sources}");
}
