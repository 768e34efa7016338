//! One fault per story: all bytes arrive, in order and once.

use thalweg_core::law::rate::{Choice, Config as RateConfig, Law};
use thalweg_core::law::schedule::arq::Arq;
use thalweg_core::rng::Rng;
use thalweg_core::session::stream::{Config, Event};
use thalweg_core::time::Time;
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::node::duplicate::Duplicate;
use thalweg_lab::node::loss::{Gilbert, Loss};
use thalweg_lab::node::reorder::Reorder;
use thalweg_lab::path::Path;

use crate::lossless::story::{Story, at, bytes, cost_based, fixed, hash, ms, wire};

const WINDOW: usize = 128;

fn config() -> Config {
    Config { window: WINDOW, ..Config::default() }
}

/// 20 % lost, 5 % late, 2 % duplicated.
fn rough(seed: u64) -> Path {
    let rng = Rng::new(seed);
    wire(ms(20))
        .then("loss", Loss::independent(0.2, rng.fork("loss")))
        .then("reorder", Reorder::new(0.05, ms(6), rng.fork("reorder")))
        .then("copy", Duplicate::new(0.02, rng.fork("copy")))
}

fn size() -> usize {
    if std::env::var_os("THALWEG_TEST_ALL").is_some() { 16 << 20 } else { 1 << 20 }
}

/// Carries `bytes` from one end to the other, which takes at most ten minutes.
fn carries(
    bytes: &[u8],
    forward: Path,
    reverse: Path,
) -> Story<thalweg_core::law::schedule::cost_based::CostBased, thalweg_core::law::rate::fixed::Fixed> {
    let mut story = Story::new(config(), || (cost_based(), fixed(20)), forward, reverse);
    story.say(bytes, true);
    assert!(story.runs_to_its_end(600_000), "{} of {} bytes at {:?}", story.read.len(), bytes.len(), story.now);
    assert_eq!((story.read.len(), hash(&story.read)), (bytes.len(), hash(bytes)));
    story
}

#[test]
fn loss_reordering_and_copies_change_nothing() {
    let script = bytes(size(), 1);
    let story = carries(&script, rough(1), rough(2));
    let counts = story.far.receiver().counts();
    let originals = script.len().div_ceil(config().longest()) as u64 + 1;
    assert_eq!(counts.innovative, originals, "each original takes one innovative packet: {counts:?}");
    assert!(counts.duplicate > 0 && story.near.sender().counts().repair > 0);
}

#[test]
fn bursts_of_loss_change_nothing() {
    let gilbert = Gilbert { to_bad: 0.02, to_good: 0.2, loss_bad: 0.9, loss_good: 0.005 };
    let path = |seed| wire(ms(30)).then("loss", Loss::bursts(gilbert, Rng::new(seed)));
    carries(&bytes(1 << 20, 2), path(3), path(4));
}

#[test]
fn a_way_back_that_loses_a_third_changes_little() {
    let back = || wire(ms(20)).then("loss", Loss::independent(0.3, Rng::new(5)));
    let story = carries(&bytes(1 << 20, 3), wire(ms(20)), back());
    let counts = story.near.sender().counts();
    // Acknowledgements repeat each other: hardly any packet is declared lost that was not.
    assert!(counts.lost * 50 < counts.new, "{counts:?}");
}

#[test]
fn five_dark_seconds_hold_the_stream_up_and_no_longer() {
    let script = bytes(1 << 20, 4);
    let mut story = Story::new(config(), || (cost_based(), fixed(20)), wire(ms(20)), wire(ms(20)));
    story.say(&script, true).until(200);
    let before = story.read.len();
    assert!(before > 0 && before < script.len() / 2);
    story.dark = true;
    story.until(5200);
    let held = story.read.len();
    story.dark = false;
    assert!(story.runs_to_its_end(20_000));
    assert_eq!(hash(&story.read), hash(&script));
    // Packets in flight still arrived; then nothing until the outage was over, and at most a timer and a trip longer.
    assert!(held - before < 20_000_000 / 8 / 10, "{held} - {before}");
    let (again, _) = *story.arrivals.iter().find(|(when, _)| *when > at(5200)).expect("it goes on");
    assert!(again < at(6100), "{again:?}");
}

#[test]
fn a_reader_who_does_not_read_stops_the_writer_and_nothing_grows() {
    let script = bytes(1 << 20, 5);
    let mut story = Story::new(config(), || (cost_based(), fixed(20)), rough(6), rough(7));
    story.reads = false;
    story.say(&script, true).until(3000);
    let most = 2 * WINDOW * config().longest();
    assert!(story.written <= most, "{} bytes were taken", story.written);
    let (written, sent) = (story.written, story.sent);
    story.until(13_000);
    assert_eq!(story.written, written);
    assert!(story.sent - sent < 100, "ten seconds of waiting took {} packets", story.sent - sent);
    assert!(story.most_kept <= WINDOW, "{} originals", story.most_kept);
    story.reads = true;
    assert!(story.runs_to_its_end(600_000));
    assert_eq!(hash(&story.read), hash(&script));
    assert!(story.most_kept <= 2 * WINDOW, "{} originals", story.most_kept);
    assert!(story.near_events.iter().any(|(_, event)| *event == Event::Writable));
}

#[test]
fn end_is_reported_once_on_either_side() {
    for count in [0, 1, 5000] {
        let mut story = carries(&bytes(count, 6), rough(8), rough(9));
        let until = story.now.as_nanos() / 1_000_000 + 5000;
        story.until(until);
        let count = |events: &[(Time, Event)], wanted| events.iter().filter(|(_, event)| *event == wanted).count();
        assert_eq!(count(&story.near_events, Event::Delivered), 1);
        assert_eq!(count(&story.far_events, Event::Finished), 1);
        assert_eq!(story.near.write(story.now, b"more"), 0);
    }
}

#[test]
fn each_direction_ends_by_itself() {
    let script = bytes(3000, 7);
    let mut story = Story::new(config(), || (Arq, fixed(20)), rough(10), rough(11));
    story.say(&script, true).until(1000);
    assert!(story.far.receiver().is_finished());
    // The other direction is still open.
    let now = story.now;
    assert_eq!(story.far.write(now, &script), script.len());
    story.far.finish(now);
    story.until(3000);
    let (mut back, mut buf) = (Vec::new(), [0; 4096]);
    while let count @ 1.. = story.near.read(now, &mut buf) {
        back.extend_from_slice(&buf[..count]);
    }
    assert_eq!(hash(&back), hash(&script));
    assert!(story.near.receiver().is_finished() && story.far.sender().is_delivered());
}

/// Every rate law carries the stream through loss and an outage of five seconds.
#[test]
fn whatever_says_when_the_stream_arrives() {
    for choice in ["copa", "tfrc", "cubic", "fixed:20mbit"] {
        let choice: Choice = choice.parse().expect("a law");
        let rate = RateConfig { now: Time::ZERO, packet: Bytes(1228), most: Rate::from_mbps(20), slack: ms(1) };
        let law = || (cost_based(), Law::new(&choice, &rate).expect("in range"));
        let path = |seed| wire(ms(20)).then("loss", Loss::independent(0.02, Rng::new(seed)));
        let mut story = Story::new(config(), law, path(12), path(13));
        let script = bytes(1 << 18, 8);
        story.say(&script, true).until(150);
        story.dark = true;
        story.until(5150);
        story.dark = false;
        assert!(story.runs_to_its_end(120_000), "{choice}: {} bytes", story.read.len());
        assert_eq!(hash(&story.read), hash(&script), "{choice}");
    }
}

#[test]
fn small_writes_share_packets_while_the_rate_holds_them_back() {
    // 1 Mb/s, and 20 writes of 10 bytes in a millisecond: more than the rate allows.
    let mut story = Story::new(config(), || (Arq, fixed(1)), wire(ms(20)), wire(ms(20)));
    let script = bytes(50_000, 9);
    for (nth, part) in (0..).zip(script.chunks(10)) {
        story.say(part, false).until(nth / 20);
    }
    story.say(&[], true);
    assert!(story.runs_to_its_end(10_000));
    assert_eq!(hash(&story.read), hash(&script));
    let counts = story.near.sender().counts();
    let full = script.len().div_ceil(config().longest()) as u64;
    assert!(counts.new <= full * 5 / 4, "{counts:?}, {full} full ones");
}
