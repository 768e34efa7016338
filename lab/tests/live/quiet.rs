//! A path with nothing but a delay, and one with a known loss rate.

use thalweg_core::law::redundancy::geneva::{Geneva, Parameters};
use thalweg_core::law::redundancy::{Law, fixed::Fixed, none};
use thalweg_core::session::live::Playout;
use thalweg_core::session::live::receiver::{self, Event as Heard};
use thalweg_core::session::live::sender::{self, Event as Said, SourceId};
use thalweg_core::session::live::{Ending, Media};
use thalweg_core::time::{Span, Time};
use thalweg_core::units::{Rate, Seconds};

use crate::live::props::{PAYLOAD, address, at, bursty, ms, payload, receiver_config, sender_config, wire};
use crate::live::story::Story;
use crate::live::variant::{Variant, stories};

stories! {
    [geneva, auto]:
    two_answers_and_a_proof_take_two_round_trips_and_a_half,
    bursts_of_loss_are_repaired_and_the_books_balance,
    constant_playout_holds_every_packet_to_the_same_delay,
    the_larger_latency_wins,
    the_same_seed_makes_the_same_bytes,
    goodbye_ends_the_stream_after_the_last_packet,
    goodbye_outlasts_a_tenth_of_a_second_of_darkness,
}

const RATE: Rate = Rate::from_mbps(30);

/// Ten seconds at 30 Mb/s after half a second of handshake.
fn ten_seconds(sender: sender::Config, receiver: receiver::Config, seed: Option<u64>) -> Story {
    let forward = seed.map_or_else(|| wire(ms(20)), |seed| bursty(ms(20), seed));
    let mut story = Story::new(sender, receiver, forward, wire(ms(20)));
    story.until(500).play(RATE).until(10_500).pause().until(11_000);
    story
}

fn two_answers_and_a_proof_take_two_round_trips_and_a_half(variant: Variant) {
    let story = ten_seconds(variant.sender(), receiver_config(), None);
    let (latency, round_trip) = (ms(90), None);
    let connected = Said::Connected { to: address("10.0.0.2:6000"), latency, round_trip };
    assert_eq!(story.sender_events, [(at(80), connected)]);
    let started = Heard::Started { from: address("10.0.0.1:5000"), media: Media::Mp2t, latency, round_trip };
    assert_eq!(story.receiver_events, [(at(100), started)]);
}

#[test]
fn everything_arrives_in_order_within_two_syn_on_a_clean_path() {
    let config = sender::Config { block: Some(ms(10)), ..sender_config() };
    let story = ten_seconds(config, receiver_config(), None);
    assert_eq!(story.lost(0, 11_000), 0);
    assert!(story.is_in_order());
    // The block's own SYN and the one over which it is sent, beyond the path delay.
    let added = story.latency(0.99).saturating_sub(ms(20));
    assert!(added <= ms(20), "{added}");
}

#[test]
fn without_repair_nothing_waits_at_all() {
    let story = ten_seconds(sender::Config { repair: none::None.into(), ..sender_config() }, receiver_config(), None);
    assert_eq!(story.lost(0, 11_000), 0);
    assert_eq!(story.latency(1.0), ms(20));
}

#[test]
fn a_clean_path_gets_eight_repair_packets_a_block() {
    let story = ten_seconds(sender_config(), receiver_config(), None);
    let metrics = story.sender_metrics();
    let blocks = 1000.0;
    assert!((metrics["repair_packets_total"] / blocks - 8.0).abs() < 0.1, "{metrics:?}");
    assert_eq!(metrics["repair_window_packets"], 8.0);
    assert_eq!(metrics["lost_packets_total"], 0.0);
    assert!((metrics["ertt_seconds"] - 0.040).abs() < 0.002, "{metrics:?}");
}

#[test]
fn packets_leave_evenly_over_each_syn() {
    let story = ten_seconds(sender_config(), receiver_config(), None);
    let gaps: Vec<Span> = story.departures.windows(2).map(|pair| pair[1].0.since(pair[0].0)).collect();
    // 28.5 source and 8 repair packets per SYN: 274 us; one packet more or less per block changes that by 8 us.
    let even = |gap: &&Span| (Span::from_micros(255)..=Span::from_micros(295)).contains(*gap);
    let share = gaps.iter().filter(even).count() as f64 / gaps.len() as f64;
    assert!(share > 0.97, "{share}");
}

#[test]
fn dense_packets_leave_in_trains_no_longer_than_half_a_millisecond() {
    let config = sender::Config { block: Some(ms(10)), ..sender_config() };
    let mut story = Story::new(config, receiver_config(), wire(ms(20)), wire(ms(20)));
    story.until(500).play(Rate::from_mbps(100)).until(510).pause().until(600);
    // 95 source and 8 repair packets of one SYN, 97 us apart, while only timers wake the sender.
    let left: Vec<Time> = story.departures.iter().map(|(when, _)| *when).filter(|when| *when > at(500)).collect();
    let trains: Vec<usize> = left.chunk_by(|one, next| one == next).map(<[Time]>::len).collect();
    // Six are due from 250 us ago to 250 us from now; in the first train none is late.
    assert!(trains[1..17].iter().all(|train| (5..=6).contains(train)), "{trains:?}");
}

fn bursts_of_loss_are_repaired_and_the_books_balance(variant: Variant) {
    let story = ten_seconds(variant.sender(), receiver_config(), Some(5));
    assert!(story.is_in_order());
    let (said, heard) = (story.sender_metrics(), story.receiver_metrics());
    assert_eq!(said["source_packets_total"], story.inputs.len() as f64);
    assert_eq!(heard["media_packets_total"] + heard["residual_lost_packets_total"], story.inputs.len() as f64);
    assert_eq!(heard["lost_packets_total"], heard["recovered_packets_total"] + heard["residual_lost_packets_total"]);
    assert_eq!(story.lost(0, 11_000) as f64, heard["residual_lost_packets_total"]);
    assert!(heard["lost_packets_total"] > 100.0, "{heard:?}");
    assert!(heard["recovered_packets_total"] > 0.7 * heard["lost_packets_total"], "{heard:?}");
    // The law sees the losses of the path, repair packets included, except for the tail that no report covers.
    let dropped = (story.forward.accepted() - story.forward.delivered()) as f64;
    assert!((said["lost_packets_total"] - dropped).abs() <= 3.0, "{said:?} {dropped}");
}

#[test]
fn plain_source_packets_are_repaired_as_well() {
    let plain = sender::Config { source_id: SourceId::Plain, ..sender_config() };
    let story = ten_seconds(plain, receiver_config(), Some(5));
    let explicit = ten_seconds(sender_config(), receiver_config(), Some(5));
    assert_eq!(story.outputs, explicit.outputs);
}

fn constant_playout_holds_every_packet_to_the_same_delay(variant: Variant) {
    let constant = receiver::Config { playout: Playout::Constant, ..receiver_config() };
    let story = ten_seconds(variant.sender(), constant, Some(5));
    assert!(story.outputs.len() > 28_000);
    let near = |span: Span| span.saturating_sub(ms(90)) + ms(90).saturating_sub(span) < Span::from_micros(100);
    assert!(story.outputs.iter().all(|output| near(output.latency)), "{} {}", story.latency(0.0), story.latency(1.0));
}

fn the_larger_latency_wins(variant: Variant) {
    let longer = receiver::Config { latency: ms(150).into(), playout: Playout::Constant, ..receiver_config() };
    let story = ten_seconds(variant.sender(), longer, None);
    assert!(story.latency(0.5).saturating_sub(ms(150)) < Span::from_micros(100), "{}", story.latency(0.5));
    assert_eq!(story.sender_metrics()["latency_bound_seconds"], 0.150);
    assert_eq!(story.receiver_metrics()["latency_bound_seconds"], 0.150);
}

fn the_same_seed_makes_the_same_bytes(variant: Variant) {
    let tell = || {
        let mut story = variant.over(bursty(ms(20), 9), wire(ms(20)));
        story.written = Some([Vec::new(), Vec::new()]);
        story.until(500).play(RATE).until(5500).pause().until(6000);
        story
    };
    let (one, two) = (tell(), tell());
    let [sent, returned] = one.written.as_ref().expect("it was asked for");
    assert!(sent.len() > one.inputs.len() * PAYLOAD, "all media, and more: {} bytes", sent.len());
    // A report every 10 ms.
    assert!(returned.len() > 500 * 12, "{} bytes", returned.len());
    assert!(one.written == two.written, "not a bit differs");
    assert_eq!(one.outputs, two.outputs);
    assert_eq!(one.departures, two.departures);
    assert_eq!(format!("{:?}", one.sender_metrics()), format!("{:?}", two.sender_metrics()));
    assert_eq!(one.forward, two.forward, "down to the state of the path");
}

fn goodbye_ends_the_stream_after_the_last_packet(variant: Variant) {
    let mut story = variant.over(wire(ms(20)), wire(ms(20)));
    story.until(500).play(RATE).until(1500).pause();
    story.sender.finish(story.now);
    story.until(3000);
    assert_eq!(story.lost(0, 3000), 0);
    assert!(matches!(story.sender_events.last(), Some((_, Said::Ended(Ending::Bye)))));
    assert!(matches!(story.receiver_events.last(), Some((_, Heard::Ended(Ending::Bye)))));
    let rejected = story.receiver_metrics()["rejected_datagrams_total"];
    assert_eq!(rejected, 0.0, "the goodbyes that follow are of a stream that is over");
}

fn goodbye_outlasts_a_tenth_of_a_second_of_darkness(variant: Variant) {
    let mut story = variant.over(wire(ms(20)), wire(ms(20)));
    story.until(500).play(RATE).until(1500).pause().until(1700);
    story.sender.finish(story.now);
    story.deaf = true;
    story.until(1820).deaf = false;
    story.until(3000);
    assert!(
        matches!(story.receiver_events.last(), Some((_, Heard::Ended(Ending::Bye)))),
        "{:?}",
        story.receiver_events
    );
}

#[test]
fn slow_streams_get_longer_blocks_and_at_most_forty_percent() {
    for (kbps, latency) in [(200, 90), (1_000, 90), (1_000, 500), (3_000, 90), (8_000, 200), (16_000, 90)] {
        let config = sender::Config { latency: ms(latency).into(), ..sender_config() };
        let mut story = Story::new(config, receiver_config(), wire(ms(20)), wire(ms(20)));
        // The rate of the source is known after a while.
        story.until(500).play(Rate::from_bps(kbps * 1000)).until(3000);
        let early = story.sender_metrics();
        story.until(30_500).pause().until(31_500);
        let late = story.sender_metrics();
        let since = |name| late[name] - early[name];
        let (sources, repairs) = (since("source_packets_total"), since("repair_packets_total"));
        // One block may lie on either side, and up to a packet is carried over.
        let block = 0.4 * late["block_packets"] + 1.0;
        assert!(repairs <= 0.4 * sources + block, "{kbps} kb/s at {latency} ms: {repairs} for {sources}");
        assert!(repairs >= 0.2 * sources, "{kbps} kb/s at {latency} ms: {repairs} for {sources}");
        assert_eq!(story.lost(1000, 31_000), 0);
        assert!(story.latency(0.99) <= ms(latency), "{kbps} kb/s: {}", story.latency(0.99));
    }
}

#[test]
fn the_shortest_syn_on_a_path_too_long_for_repair_carries_bursts() {
    let parameters = Parameters { syn: Seconds(1e-4), ..Parameters::default() };
    let repair = Law::Geneva(Geneva::new(parameters).expect("the least syn"));
    let config = sender::Config { repair, latency: ms(5).into(), ..sender_config() };
    let receiver = receiver::Config { latency: ms(5).into(), ..receiver_config() };
    let mut story = Story::new(config, receiver, wire(ms(40)), wire(ms(40)));
    story.until(500);
    for burst in 0..100 {
        for number in 0..60 {
            story.sender.handle_media(story.now, &payload(60 * burst + number));
        }
        story.until(500 + 20 * (burst + 1));
    }
    story.until(3000);
    assert_eq!(story.outputs.len(), 6000);
    assert_eq!(story.sender_metrics()["repair_packets_total"], 0.0, "it would come too late");
}

#[test]
fn fast_streams_are_split_into_several_codes() {
    let config = sender::Config { repair: Fixed::new(60).into(), ..sender_config() };
    let mut story = Story::new(config, receiver_config(), bursty(ms(20), 3), wire(ms(20)));
    story.until(500).play(Rate::from_mbps(400)).until(2500).pause().until(3000);
    let heard = story.receiver_metrics();
    assert!(heard["lost_packets_total"] > 500.0, "{heard:?}");
    assert!(heard["recovered_packets_total"] > 0.99 * heard["lost_packets_total"], "{heard:?}");
    assert!(story.is_in_order());
}
