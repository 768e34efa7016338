//! Connections beside each other: none waits for a neighbor, and none takes a neighbor's share.

use thalweg_core::law::rate::Choice;
use thalweg_core::rng::Rng;
use thalweg_core::session::tunnel::Config;
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Bytes, Rate};
use thalweg_lab::node::drop_tail::DropTail;
use thalweg_lab::node::loss::Loss;
use thalweg_lab::node::queue::Limit;
use thalweg_lab::node::wire::Wire;
use thalweg_lab::path::Path;

use crate::tunnel::story::{CLIENT, SERVER, Story, config, ms, wire};

/// At 2 Mb/s a packet takes 4.9 ms. A key press waits at most for the packet that is being sent, the two that wait in
/// the stream and one that its neighbor has begun.
#[test]
fn a_key_pressed_beside_a_bulk_transfer_waits_for_a_few_packets() {
    let mut story = Story::new(config(2), wire(30), wire(30));
    let keys = story.open(0, false);
    let bulk = story.open(4 << 20, true);
    story.until(1000);
    let mut delays = Vec::new();
    for nth in 0..50 {
        story.until(1000 + nth * 97);
        let pressed = story.now;
        story.say(CLIENT, keys, 1);
        story.until(1000 + nth * 97 + 96);
        let (came, count) = *story.app(SERVER, keys).arrivals.last().expect("it has come");
        assert_eq!(count as u64, nth + 1, "within 96 ms");
        delays.push(came.since(pressed));
    }
    let packet = Rate::from_mbps(2).time_for(Bytes(1228));
    let longest = *delays.iter().max().expect("some");
    assert!(longest <= ms(30) + packet * 5, "{longest}");
    assert!(story.app(SERVER, bulk).read > 800_000, "the bulk transfer had the rest");
}

#[test]
fn connections_with_much_to_say_share_alike() {
    let mut story = Story::new(config(20), wire(20), wire(20));
    let ids: Vec<_> = (0..5).map(|_| story.open(8 << 20, true)).collect();
    story.until(3000);
    let counts: Vec<usize> = ids.iter().map(|id| story.sides[SERVER].apps[id].read).collect();
    let [least, most] = [counts.iter().min(), counts.iter().max()].map(|it| *it.expect("five"));
    assert!(least > 1 << 20 && most - least <= 16 * 1142, "{counts:?}");
}

/// A program that does not read stops its own writer, at the initial credit, and no other.
#[test]
fn a_reader_who_does_not_read_holds_up_no_neighbour_and_nothing_grows() {
    let mut story = Story::new(config(20), wire(20), wire(20));
    let slow = story.open(4 << 20, true);
    story.until(150);
    story.app(SERVER, slow).reads = false;
    let before = story.app(SERVER, slow).read;
    let neighbour = story.open(4 << 20, true);
    story.until(5000);
    assert_eq!(story.app(SERVER, neighbour).read, 4 << 20);
    let buffered = |story: &mut Story, side| story.end(side).links().next().expect("a link").buffered();
    let [_, unread] = buffered(&mut story, SERVER);
    assert!((200 << 10..=512 << 10).contains(&unread), "{unread}");
    let [unsent, _] = buffered(&mut story, CLIENT);
    assert!(unsent <= 256 << 10, "{unsent}");
    assert!(story.app(SERVER, slow).read - before < 100_000);
    story.until(15_000);
    assert_eq!(buffered(&mut story, SERVER)[1], unread);
    story.wake(SERVER, slow);
    assert!(story.runs_to_its_end(30_000));
    assert_eq!(story.app(SERVER, slow).read, 4 << 20);
}

/// 256 KiB per round trip of 200 ms would be 10 Mb/s.
#[test]
fn credit_grows_with_a_long_path() {
    let mut config = config(40);
    config.stream.window = 1500;
    let mut story = Story::new(config, wire(100), wire(100));
    let id = story.open(8 << 20, true);
    assert!(story.runs_to_its_end(10_000));
    let took = story.app(SERVER, id).finished.expect("it ended");
    // 1.7 s at 40 Mb/s, and the time to reach that rate.
    assert!(took.since(Time::ZERO) < ms(4500), "{took:?}");
}

/// 4095 originals of 1142 bytes in 200 ms are 187 Mb/s; 150 Mb/s in packets of 1222 bytes are 140.2 of payload.
#[test]
fn a_link_holds_as_many_originals_as_a_fast_and_long_path_needs() {
    let payload = 150e6 * 1142.0 / 1222.0;
    assert!(payload < 4095.0 * 1142.0 * 8.0 / 0.2);
    for loss in [0.0, 0.01] {
        let config = Config { rate: Choice::Fixed(Rate::from_mbps(150)), ..Config::default() };
        let path = |seed| wire(100).then("loss", Loss::independent(loss, Rng::new(seed)));
        let mut story = Story::new(config, path(1), path(2));
        let id = story.open(1 << 30, true);
        // Credit grows from 256 KiB; then three seconds are measured.
        story.until(4000);
        let before = story.app(SERVER, id).read;
        story.until(7000);
        let rate = (story.app(SERVER, id).read - before) as f64 * 8.0 / 3.0;
        assert!(rate > 0.95 * payload, "{rate} bit/s with {loss} lost");
    }
}

/// With the default law the tunnel keeps the queue before a link at a few packets.
#[test]
fn a_key_pressed_waits_little_with_the_default_law_too() {
    let mut config = config(20);
    config.rate = Choice::default();
    let link = || {
        let rate = Rate::from_mbps(5);
        Path::default().then("link", DropTail::new(rate, Limit::Packets(400))).then("wire", Wire::new(ms(20)))
    };
    let mut story = Story::new(config, link(), wire(20));
    let keys = story.open(0, false);
    story.open(8 << 20, true);
    story.until(3000);
    let mut delays = Vec::new();
    for nth in 0..50 {
        let start = 3000 + nth * 150;
        story.until(start);
        let pressed = story.now;
        story.say(CLIENT, keys, 1);
        story.until(start + 149);
        let came = story.app(SERVER, keys).arrivals.last().filter(|(_, count)| *count as u64 == nth + 1);
        delays.push(came.map_or(Span::MAX, |(came, _)| came.since(pressed)));
    }
    delays.sort();
    assert!(delays[45] < ms(120), "{delays:?}");
}
